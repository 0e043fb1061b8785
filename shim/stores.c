/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The state stores of a launch
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "cleanup.h"
#include "err.h"
#include "launch.h"
#include "path.h"
#include "root.h"
#include "store.h"
#include "stores.h"

/* Makes STATE and resolves it: the sandbox binds what is in it without following links. */
static int resolve_root(struct launch *l, struct err *e)
{
	cleanup_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int made = -1;
	char *real;

	if (root < 0)
		return err_set(e, errno, "open /");
	made = root_mkdirs(root, l->state, 0700, NULL, e);
	if (made < 0 && e->code == EROFS)
		return err_wrap(e,
				"state store %s (the container's root is read-only: mount a "
				"volume there, or name a writable folder as state-root)",
				l->state);
	if (made < 0)
		return err_wrap(e, "state store %s", l->state);
	real = realpath(l->state, NULL);
	if (real == NULL)
		return err_set(e, errno, "state store %s", l->state);
	free(l->state);
	l->state = real;
	if (path_is_at_or_below(l->state, l->workspace))
		return err_set(
			e, 0,
			"state store %s is in the workspace, where any agent could change it: "
			"name another folder as state-root in the policy",
			l->state);
	return 0;
}

/**
 * stores_enter() - Make what is missing of the stores that a launch uses, and keep them
 * @l:		The launch; its state becomes a resolved path
 * @ret:	As store_enter()
 * @e:		As store_enter()
 *
 * Return: as store_enter()
 */
int stores_enter(struct launch *l, struct store_news *ret, struct err *e)
{
	if (resolve_root(l, e) < 0)
		return -1;
	return store_enter(
		&(struct store_of){
			.root = l->state, .home = l->home, .profile = &l->profile, .uid = l->uid },
		ret, e);
}
