/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What stores.c, share.c and skills.c would do, without doing it
 *
 * For --print-plan: the launch gets the paths that it would have, and what would be made for it is
 * listed.
 *	Mustn't: make anything, nor take a lock, not even for a moment: a launch that finds it taken
 *	goes without its overlay until it ends
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "err.h"
#include "io.h"
#include "launch.h"
#include "look.h"
#include "path.h"
#include "plan_ops.h"
#include "prepared.h"
#include "share.h"
#include "skills.h"
#include "store.h"

#define LOCKS "/proc/locks"
#define LOCKS_MAX_BYTES (4 * 1024 * 1024)

/*
 * The path that a folder will have: resolved as far as it is there.  Owned by the caller; how much
 * of it is there goes to @ret_there.
 */
static char *resolve(const char *path, char **ret_there, struct err *e)
{
	cleanup_free char *there = strdup(path), *real = NULL, *joined = NULL;
	size_t end;

	if (there == NULL)
		goto no_memory;
	for (end = strlen(there); (real = realpath(there, NULL)) == NULL && end > 0;) {
		while (end > 0 && there[--end] != '/')
			continue;
		there[end > 0 ? end : 1] = '\0';
	}
	if (real == NULL) {
		(void)err_set(e, errno, "%s", path);
		return NULL;
	}
	joined = path[end] == '\0' ? strdup(real) : path_join(real, path + end + 1, e);
	if (joined == NULL)
		goto no_memory;
	*ret_there = steal_ptr(&real);
	return steal_ptr(&joined);

no_memory:
	(void)err_set(e, ENOMEM, "allocate a path");
	return NULL;
}

/* Why the folders below @there can't be made; 0: they can */
static int why_not(const char *there)
{
	return faccessat(AT_FDCWD, there, W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* A folder that a launch would open, not through a link, or make. */
static int look_at_folder(const struct launch *l, const char *path, struct prepared *p,
			  struct err *e)
{
	cleanup_fd int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_free char *there = NULL, *real = NULL;
	struct stat st;
	int code;

	if (fd < 0 && errno != ENOENT)
		return strlist_add_fmt(&p->obstacles, e, "state store %s: %s", path,
				       strerror(errno));
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_uid != l->uid)
		return strlist_add_fmt(&p->obstacles, e,
				       "state store %s belongs to uid %u, not to you (uid %u)",
				       path, st.st_uid, l->uid);
	if (fd >= 0)
		return 0;
	real = resolve(path, &there, e);
	if (real == NULL)
		return -1;
	code = why_not(there);
	if (code != 0 && strlist_add_fmt(&p->obstacles, e, "state store %s can't be made: %s", path,
					 strerror(code)) < 0)
		return -1;
	return strlist_add(&p->to_make, path, e);
}

/* Folders of the store that each launch has empty ones of. */
static int look_at_masked(const struct launch *l, const char *state, struct prepared *p,
			  struct err *e)
{
	for (size_t i = 0; i < l->profile.mask.n; i++) {
		cleanup_free char *path = path_join(state, l->profile.mask.v[i], e);

		if (path == NULL || look_at_folder(l, path, p, e) < 0)
			return -1;
	}
	return 0;
}

/* What the developer has of that which a new store gets. */
static int look_at_import(const struct launch *l, const char *own, struct prepared *p,
			  struct err *e)
{
	cleanup_free char *imported = path_join(own, STORE_IMPORTED, e);
	cleanup_free char *state = path_join(l->home, l->profile.state, e);
	struct stat st;

	if (imported == NULL || state == NULL)
		return -1;
	for (size_t i = 0; i < l->profile.import.n && lstat(imported, &st) < 0; i++) {
		const char *what = l->profile.import.v[i];
		const bool at_home = strncmp(what, "~/", 2) == 0;
		cleanup_free char *path =
			path_join(at_home ? l->home : state, at_home ? what + 2 : what, e);

		if (path == NULL ||
		    (lstat(path, &st) == 0 && strlist_add(&p->to_import, path, e) < 0))
			return -1;
	}
	return 0;
}

/* The same for the skills of all agents. */
static int look_at_skills(const struct launch *l, struct prepared *p, struct err *e)
{
	cleanup_free char *imported = path_join(l->state, STORE_IMPORTED, e);
	cleanup_free char *skills = path_join(l->home, SHARE_SKILLS, e);
	struct stat st;

	if (imported == NULL || skills == NULL)
		return -1;
	if (lstat(imported, &st) == 0 || lstat(skills, &st) < 0)
		return 0;
	return strlist_add(&p->to_import, skills, e);
}

static int look_at_state(struct launch *l, struct prepared *p, struct err *e)
{
	cleanup_free char *there = NULL, *own = NULL, *state = NULL, *cache = NULL, *skills = NULL;
	char *real = resolve(l->state, &there, e);

	if (real == NULL)
		return err_wrap(e, "state store");
	free(l->state);
	l->state = real;
	if (launch_check_state(l, e) < 0 ||
	    (own = path_join(l->state, l->profile.name, e)) == NULL ||
	    (state = path_join(own, STORE_STATE, e)) == NULL ||
	    (cache = path_join(own, STORE_CACHE, e)) == NULL ||
	    (skills = path_join(l->state, STORE_SKILLS, e)) == NULL)
		return -1;
	if (look_at_folder(l, state, p, e) < 0 || look_at_folder(l, cache, p, e) < 0 ||
	    look_at_masked(l, state, p, e) < 0 || look_at_folder(l, skills, p, e) < 0 ||
	    look_at_import(l, own, p, e) < 0)
		return -1;
	return look_at_skills(l, p, e);
}

/* ---- share-write ---- */

/* What can't be made is left out, share.c. */
static int look_at_shared(struct launch *l, const char *rel, struct prepared *p, struct err *e)
{
	cleanup_free char *named = path_join(l->home, rel, e), *there = NULL;
	cleanup_free char *real = named == NULL ? NULL : resolve(named, &there, e);

	if (real == NULL)
		return -1;
	if (strcmp(real, there) != 0) {
		if (why_not(there) != 0)
			return 0;
		if (strlist_add(&p->to_make, real, e) < 0)
			return -1;
	}
	return share_add(l, real, named, e);
}

/* ---- the agent's changes in its store ---- */

/* Another session's lock on a folder, proc_locks(5); one on what is not there is nobody's. */
static bool is_locked(const char *dir, bool overlay)
{
	struct err ignored;
	cleanup_free char *locks = read_path(LOCKS, LOCKS_MAX_BYTES, &ignored);
	struct stat st;

	if (locks == NULL || stat(dir, &st) < 0)
		return false;
	for (char *line = strtok(locks, "\n"); line != NULL; line = strtok(NULL, "\n")) {
		unsigned major, minor;
		char mode[8];
		uint64_t inode;

		if (sscanf(line, "%*u: FLOCK %*s %7s %*d %x:%x:%" SCNu64, mode, &major, &minor,
			   &inode) == 4 &&
		    makedev(major, minor) == st.st_dev && inode == st.st_ino &&
		    (overlay || strcmp(mode, "WRITE") == 0))
			return true;
	}
	return false;
}

/* Returns whether a launch would have this folder of the store. */
static bool would_have(const struct launch *l, const char *path, bool *ret_make)
{
	cleanup_fd int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_free char *there = NULL, *real = NULL;
	struct err ignored;
	struct stat st;

	*ret_make = fd < 0;
	if (fd >= 0)
		return fstat(fd, &st) == 0 && st.st_uid == l->uid;
	if (errno != ENOENT)
		return false;
	real = resolve(path, &there, &ignored);
	return real != NULL && why_not(there) == 0;
}

static int look_at_data(struct launch *l, struct prepared *p, struct err *e)
{
	static const char *const names[] = { STORE_UPPER, STORE_WORK };
	cleanup_free char *data = path_join(l->home, SHARE_DATA, e);
	cleanup_free char *own = data == NULL ? NULL : path_join(l->state, l->profile.name, e);
	cleanup_free char *dir = own == NULL ? NULL : path_join(own, STORE_SHARE, e);

	if (dir == NULL)
		return -1;
	l->share = realpath(data, NULL);
	for (size_t i = 0; i < N_ELEMENTS(names); i++) {
		cleanup_free char *path = path_join(dir, names[i], e);
		bool make;

		if (path == NULL)
			return -1;
		if (!would_have(l, path, &make))
			return 0;
		if (make && strlist_add(&p->to_make, path, e) < 0)
			return -1;
	}
	if (!is_locked(dir, l->share != NULL))
		l->share_store = steal_ptr(&dir);
	return 0;
}

/* The skills that come with us: a symlink in the place of one would be removed, skills.c. */
static int look_at_own_skills(struct launch *l, struct prepared *p, struct err *e)
{
	cleanup_strlist struct strlist all = { 0 };

	if (l->profile.skills == NULL)
		return 0;
	if (skills_list(&all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.n; i++) {
		cleanup_free char *path = NULL;
		struct stat st;
		bool make = true;

		if (asprintf(&path, "%s/%s/" STORE_STATE "/%s/%s", l->state, l->profile.name,
			     l->profile.skills, all.v[i]) < 0) {
			path = NULL;
			return err_set(e, ENOMEM, "allocate a path");
		}
		if ((lstat(path, &st) < 0 || !S_ISLNK(st.st_mode)) && !would_have(l, path, &make)) {
			if (strlist_add_fmt(&l->left_out, e,
					    "%s: no place for a skill of the sandbox's (left out)",
					    path) < 0)
				return -1;
			continue;
		}
		if ((make && strlist_add(&p->to_make, path, e) < 0) ||
		    strlist_add(&l->skills, all.v[i], e) < 0)
			return -1;
	}
	return 0;
}

/**
 * look_at_stores() - Find the folders that a launch would have, and what it would make for that
 * @l:		The launch; gets what stores_enter(), share_prepare() and
 *		skills_prepare() give it
 * @p:		Gets to_make, and obstacles
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int look_at_stores(struct launch *l, struct prepared *p, struct err *e)
{
	static const char *const shared[] = { SHARE_CACHE, SHARE_DATA, SHARE_SKILLS };

	if (look_at_state(l, p, e) < 0 || look_at_own_skills(l, p, e) < 0)
		return -1;
	for (size_t i = 0; i < N_ELEMENTS(shared) && l->policy.share_write; i++)
		if (look_at_shared(l, shared[i], p, e) < 0)
			return -1;
	return l->policy.share_write ? 0 : look_at_data(l, p, e);
}
