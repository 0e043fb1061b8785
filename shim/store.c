/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The agents' state stores
 *
 * What an agent keeps between sessions: STATE/NAME/state and STATE/NAME/cache, and STATE/skills
 * for all of them.  Made at the first launch, as the developer.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "launch.h"
#include "path.h"
#include "plan_ops.h"
#include "root.h"
#include "store.h"

static int cannot(const char *path, struct err *e)
{
	if (e->code == EROFS)
		return err_wrap(e,
				"state store %s (the container's root is read-only: mount a "
				"volume there, or name a writable folder as state-root)",
				path);
	return err_wrap(e, "state store %s", path);
}

/* One folder of the store.  The sandbox takes no link in its place: it could lead anywhere. */
static int prepare(const struct launch *l, int root, const char *path, struct err *e)
{
	cleanup_fd int fd = root_mkdirs(root, path, 0700, NULL, e);
	struct stat st;

	if (fd < 0)
		return cannot(path, e);
	if (fstat(fd, &st) < 0)
		return err_set(e, errno, "state store %s", path);
	if (st.st_uid != l->uid)
		return err_set(e, 0,
			       "state store %s belongs to uid %u, not to you (uid %u): "
			       "`chown -R %u %s` as root mends it",
			       path, st.st_uid, l->uid, l->uid, path);
	return 0;
}

/* Makes STATE and resolves it: the sandbox binds what is in it without following links. */
static int prepare_root(struct launch *l, int root, struct err *e)
{
	cleanup_fd int made = root_mkdirs(root, l->state, 0700, NULL, e);
	char *real;

	if (made < 0)
		return cannot(l->state, e);
	real = realpath(l->state, NULL);
	if (real == NULL)
		return err_set(e, errno, "state store %s", l->state);
	free(l->state);
	l->state = real;
	return launch_check_state(l, e);
}

/**
 * store_prepare() - Make what is missing of the stores that a launch uses
 * @l:		The launch; its state becomes a resolved path
 * @e:		Set on failure, with what to do
 *
 * Return: 0 on success, -1 on failure
 */
int store_prepare(struct launch *l, struct err *e)
{
	static const char *const folders[] = { STORE_STATE, STORE_CACHE };
	cleanup_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *own = NULL, *skills = NULL;

	if (root < 0)
		return err_set(e, errno, "open /");
	if (prepare_root(l, root, e) < 0)
		return -1;
	own = path_join(l->state, l->profile.name, e);
	skills = path_join(l->state, STORE_SKILLS, e);
	if (own == NULL || skills == NULL)
		return -1;
	for (size_t i = 0; i < N_ELEMENTS(folders); i++) {
		cleanup_free char *path = path_join(own, folders[i], e);

		if (path == NULL || prepare(l, root, path, e) < 0)
			return -1;
	}
	return prepare(l, root, skills, e);
}
