/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The developer's session keyring stays outside
 *
 * A process keeps its session keyring, session-keyring(7), whatever namespaces it enters, and some
 * file systems look for their keys there without asking anyone.  A new one has no link to the old.
 * The keyrings of a user, user-keyring(7), belong to a user namespace: the sandbox has its own.
 */
#include "config.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "err.h"
#include "privileges.h"

/**
 * keyring_leave() - Give this process, and all that it starts, an empty session keyring
 * @e:		Set on failure
 *
 * To be called before seccomp_install(), which refuses it.
 *
 * Return: 0 on success, -1 on failure
 */
int keyring_leave(struct err *e)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0)
		return 0;
	/*
	 * A kernel without keyrings, or a container whose engine refuses keyctl(2), as podman's and
	 * docker's filters do: then nobody in the container can have put a key there, and the agent
	 * may not ask for one either.
	 */
	if (errno == ENOSYS || errno == EPERM)
		return 0;
	return err_set(e, errno, "leave the session keyring");
}
