/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The folders of the home that an agent and the developer have in common
 *
 * By default that is .local/share, and what the agent changes there goes to its own store, in an
 * overlay: STATE/NAME/share/upper, with STATE/NAME/share/work for the kernel's use.  Two overlays
 * must not have one upper folder, so the second launch of an agent at a time has none.
 *
 * With share-write, it is that and two more, as they are.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "launch.h"
#include "path.h"
#include "plan_ops.h"
#include "root.h"
#include "share.h"
#include "store.h"

/* ---- share-write ---- */

/**
 * share_add() - Note a folder that agents have as it is, of share-write
 * @l:		The launch, its state resolved; gets shared
 * @real:	Where it is, resolved; copied
 * @named:	What it is called; copied
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int share_add(struct launch *l, const char *real, const char *named, struct err *e)
{
	if (path_is_at_or_below(l->state, real))
		return err_set(e, 0,
			       "share-write gives %s to each agent, and the state stores (%s) are "
			       "in it: name another folder as state-root in the policy",
			       named, l->state);
	return places_add(&l->shared, real, named, e);
}

static int share_one(struct launch *l, int root, const char *rel, struct err *e)
{
	cleanup_free char *named = path_join(l->home, rel, e);
	cleanup_free char *real = NULL;
	struct err ignored;
	int fd;

	if (named == NULL)
		return -1;
	fd = root_mkdirs(root, named, 0700, NULL, &ignored);
	close_p(&fd);
	real = realpath(named, NULL);
	if (real == NULL) /* a read-only home has none: the agent's own has to do */
		return 0;
	return share_add(l, real, named, e);
}

static int share_all(struct launch *l, int root, struct err *e)
{
	static const char *const folders[] = { SHARE_CACHE, SHARE_DATA, SHARE_SKILLS };

	for (size_t i = 0; i < N_ELEMENTS(folders); i++)
		if (share_one(l, root, folders[i], e) < 0)
			return -1;
	return 0;
}

/* ---- the agent's changes in its store ---- */

/* A folder of the store that is the developer's own. */
static int make(const struct launch *l, int root, const char *dir, const char *name, struct err *e)
{
	cleanup_free char *path = path_join(dir, name, e);
	cleanup_fd int fd = path == NULL ? -1 : root_mkdirs(root, path, 0700, NULL, e);
	struct stat st;

	if (fd < 0)
		return -1;
	return fstat(fd, &st) == 0 && st.st_uid == l->uid ? 0 : err_set(e, EPERM, "%s", path);
}

/* Overlays one at a time; where there is nothing of the developer's, each may have the store. */
static int lock(const char *dir, bool overlay)
{
	cleanup_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 || flock(fd, (overlay ? LOCK_EX : LOCK_SH) | LOCK_NB) < 0)
		return -1;
	return steal_fd(&fd);
}

/* No store: the developer's folder is read-only then, and that is no failure. */
static int find_data(struct launch *l, int root, int *ret_lock, struct err *e)
{
	cleanup_free char *data = path_join(l->home, SHARE_DATA, e), *dir = NULL;
	struct err why;

	if (data == NULL)
		return -1;
	l->share = realpath(data, NULL);
	if (asprintf(&dir, "%s/%s/" STORE_SHARE, l->state, l->profile.name) < 0) {
		dir = NULL;
		return err_set(e, ENOMEM, "allocate a path");
	}
	if (make(l, root, dir, STORE_UPPER, &why) < 0 || make(l, root, dir, STORE_WORK, &why) < 0)
		return 0;
	*ret_lock = lock(dir, l->share != NULL);
	if (*ret_lock >= 0)
		l->share_store = steal_ptr(&dir);
	return 0;
}

/**
 * share_prepare() - Find the folders that are shared, and make what is missing of them
 * @l:		The launch, with its stores prepared; gets shared, or share and share_store
 * @ret_lock:	Owned by the caller, -1 if there is none: while it is open, no other launch has the
 *		same overlay
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int share_prepare(struct launch *l, int *ret_lock, struct err *e)
{
	cleanup_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	*ret_lock = -1;
	if (root < 0)
		return err_set(e, errno, "open /");
	return l->policy.share_write ? share_all(l, root, e) : find_data(l, root, ret_lock, e);
}
