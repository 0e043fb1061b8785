/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What the sandbox's processes give up for good
 *
 * capabilities(7): without the bounding set, and with the securebits locked, no execve(2)
 * brings any back.  A user namespace below starts afresh, so nested sandboxes work; what they
 * gain there counts only there.
 */
#include "config.h"

#include <errno.h>
#include <sys/capability.h>
#include <sys/prctl.h>

#include "cleanup.h"
#include "confinement.h"
#include "err.h"
#include "privileges.h"

static void cap_p(cap_t *c)
{
	if (*c != NULL)
		(void)cap_free(*c);
}

/**
 * privileges_drop() - Give up all capabilities, now and for every program that is run later
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure (some may be gone already)
 */
int privileges_drop(struct err *e)
{
	CLEANUP(cap_p) cap_t none = cap_init();

	if (none == NULL)
		return err_set(e, errno, "allocate the empty capability set");
	/* cap_max_bits() asks the kernel, which may know more than the headers did */
	for (cap_value_t c = 0; c < cap_max_bits(); c++)
		if (cap_drop_bound(c) < 0)
			return err_set(e, errno, "drop capability %d from the bounding set", c);
	if (cap_reset_ambient() < 0)
		return err_set(e, errno, "clear the ambient capabilities");
	if (cap_set_secbits((unsigned)confinement_bits(&confinement_securebits)) < 0)
		return err_set(e, errno, "lock the securebits");
	if (cap_set_proc(none) < 0)
		return err_set(e, errno, "drop the capabilities");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_set(e, errno, "set no_new_privs");
	return 0;
}
