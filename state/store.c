/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The agents' state stores
 *
 * What an agent keeps between sessions: STATE/NAME/state and STATE/NAME/cache, and STATE/skills
 * for all of them.  Made at the first launch, as the developer.
 *
 * Each launch holds a shared lock on STATE/NAME/lock as long as it runs.  What changes a store as
 * a whole holds it alone: the first launch while it imports, `oci-sandbox state`.  A store that
 * lacks STATE/NAME/imported is a new one: that is written last.  The same goes for the skills, by
 * STATE/lock and STATE/imported.  None of these is in a folder that a sandbox has.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "import.h"
#include "path.h"
#include "profile.h"
#include "root.h"
#include "store.h"
#include "tree.h"

#define LOCK "lock"
#define REMOVED "removed"
#define ENTER_TRIES 8

/**
 * struct place - a folder of the stores that has a lock
 * @dir:	The folder
 * @lock:	Its lock's file
 */
struct place {
	int dir;
	int lock;
};

#define PLACE_NONE                    \
	{                             \
		.dir = -1, .lock = -1 \
	}

static void place_done(struct place *p)
{
	close_p(&p->lock);
	close_p(&p->dir);
}

#define cleanup_place CLEANUP(place_done)

/* As err_set(), with the reason inside of the text */
static int explain(struct err *e, int code, const char *path, const char *what_to_do)
{
	(void)err_set(e, 0, "state store %s: %s (%s)", path, strerror(code), what_to_do);
	e->code = code;
	return -1;
}

/* The folder is there, and another's. */
static int is_others(const char *path, const char *option, uid_t owner, uid_t uid, struct err *e)
{
	if (uid == 0)
		return err_set(e, 0,
			       "state store %s belongs to uid %u, not to root: be that user, or "
			       "`chown %s0 %s`",
			       path, owner, option, path);
	return err_set(e, 0,
		       "state store %s belongs to uid %u, not to you (uid %u): "
		       "`chown %s%u %s` as root mends it",
		       path, owner, uid, option, uid, path);
}

static int cannot(const char *path, struct err *e)
{
	if (e->code == EROFS)
		return explain(e, EROFS, path,
			       "the container's root is read-only: mount a volume there, or name "
			       "a writable folder as state-root");
	if (e->code == ENOSPC || e->code == EDQUOT)
		return explain(e, e->code, path,
			       "make room there, or name another folder as state-root; nothing "
			       "that was there is lost");
	if (e->code == ELOOP || e->code == ENOTDIR)
		return explain(e, e->code, path,
			       "a folder of yours belongs there, and no link: move it away");
	return err_wrap(e, "state store %s", path);
}

/* A folder below @dir that is the developer's.  No link is taken in its place: it could lead
 * anywhere. */
static int open_folder(const struct store_of *of, int dir, const char *name, struct err *e)
{
	cleanup_fd int fd = -1;
	struct stat st;

	if (mkdirat(dir, name, 0700) < 0 && errno != EEXIST)
		return err_set(e, errno, "make folder %s", name);
	/* for whose it is; what can't be read is somebody else's, or will fail below */
	fd = tree_open(dir, name, O_PATH | O_DIRECTORY, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_set(e, errno, "look at %s", name);
	if (st.st_uid != of->uid)
		return err_set(e, 0, "it belongs to uid %u", st.st_uid);
	return tree_open(fd, ".", O_RDONLY | O_DIRECTORY, e);
}

/* Names the folder when something is wrong with it. */
static int open_named(const struct store_of *of, const char *above, int dir, const char *name,
		      struct err *e)
{
	cleanup_free char *path = path_join(above, name, e);
	int fd = path == NULL ? -1 : open_folder(of, dir, name, e);
	struct stat st;

	if (fd >= 0 || path == NULL)
		return fd;
	if (e->code == 0 && fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return is_others(path, "-R ", st.st_uid, of->uid, e);
	if (e->code == EACCES && fstat(dir, &st) == 0 && st.st_uid != of->uid)
		return is_others(above, "", st.st_uid, of->uid, e);
	return cannot(path, e);
}

static int open_lock(int dir, struct err *e)
{
	return tree_open(dir, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, e);
}

static int lock(const struct place *p, int how, struct err *e)
{
	while (flock(p->lock, how) < 0)
		if (errno != EINTR)
			return err_set(e, errno, "lock it");
	return 0;
}

static bool is_imported(const struct place *p)
{
	struct stat st;

	return fstatat(p->dir, STORE_IMPORTED, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int mark_imported(const struct place *p, struct err *e)
{
	cleanup_fd int fd = tree_open(p->dir, STORE_IMPORTED, O_WRONLY | O_CREAT | O_NOFOLLOW, e);

	return fd < 0 ? -1 : 0;
}

/* ---- paths ---- */

/**
 * store_root_path() - Say where the stores are
 * @named:	The policy's state-root; NULL: below the home
 * @home:	The developer's
 * @e:		Set on failure
 *
 * Return: path owned by the caller, resolved if it is there already; NULL on failure
 */
char *store_root_path(const char *named, const char *home, struct err *e)
{
	cleanup_free char *below = path_join(home, ".local/state/oci-sandbox", e);
	const char *path = named != NULL ? named : below;
	char *real;

	if (below == NULL)
		return NULL;
	real = realpath(path, NULL);
	if (real == NULL)
		real = strdup(path);
	if (real == NULL)
		(void)err_set(e, ENOMEM, "allocate a path");
	return real;
}

/**
 * store_root_open() - Open STATE, made if it isn't there
 * @path:	It
 * @e:		Set on failure, with what to do
 *
 * Return: fd owned by the caller, -1 on failure
 */
int store_root_open(const char *path, struct err *e)
{
	cleanup_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int fd = -1;

	if (root < 0)
		return err_set(e, errno, "open /");
	fd = root_mkdirs(root, path, 0700, NULL, e);
	if (fd < 0 && e->code == EACCES)
		return explain(e, EACCES, path,
			       "a folder above it is another's: as root, make it and chown it to "
			       "you, or name another folder as state-root");
	return fd < 0 ? cannot(path, e) : steal_fd(&fd);
}

static int open_place(const struct store_of *of, int root, struct place *ret, struct err *e)
{
	cleanup_place struct place p = PLACE_NONE;
	cleanup_free char *path = path_join(of->root, of->profile->name, e);

	if (path == NULL)
		return -1;
	p.dir = open_named(of, of->root, root, of->profile->name, e);
	if (p.dir < 0)
		return -1;
	p.lock = open_lock(p.dir, e);
	if (p.lock < 0)
		return cannot(path, e);
	*ret = p;
	p = (struct place)PLACE_NONE;
	return 0;
}

/* ---- entering ---- */

/* The places of what each launch has an empty one of: the sandbox would follow a link there. */
static int make_masked(const struct store_of *of, const char *above, int state, struct err *e)
{
	const struct strlist *mask = &of->profile->mask;

	for (size_t i = 0; i < mask->n; i++) {
		cleanup_fd int fd = openat(state, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		cleanup_free char *part = strdup(mask->v[i]);

		if (part == NULL || fd < 0)
			return err_set(e, errno, "state store %s", above);
		for (char *p = part, *next; p != NULL; p = next) {
			cleanup_fd int parent = steal_fd(&fd);

			next = strchr(p, '/');
			if (next != NULL)
				*next++ = '\0';
			fd = open_named(of, above, parent, p, e);
			if (fd < 0)
				return -1;
		}
	}
	return 0;
}

static int make_folders(const struct store_of *of, const struct place *p, struct err *e)
{
	cleanup_free char *own = path_join(of->root, of->profile->name, e);
	cleanup_free char *above = own == NULL ? NULL : path_join(own, STORE_STATE, e);
	cleanup_fd int state = above == NULL ? -1 : open_named(of, own, p->dir, STORE_STATE, e);
	cleanup_fd int cache = state < 0 ? -1 : open_named(of, own, p->dir, STORE_CACHE, e);

	return cache < 0 ? -1 : make_masked(of, above, state, e);
}

/* As the only one who uses it. */
static int fill(const struct store_of *of, const struct place *p, bool force,
		struct store_news *ret, struct err *e)
{
	cleanup_free char *own = path_join(of->root, of->profile->name, e);
	cleanup_fd int state = own == NULL ? -1 : open_named(of, own, p->dir, STORE_STATE, e);

	if (state < 0)
		return -1;
	if (import_state(of, state, force, ret, e) < 0 || mark_imported(p, e) < 0)
		return cannot(own, e);
	return 0;
}

/* The same for the skills, if nobody has done it; where their folder is in may be another's. */
static int fill_skills(const struct store_of *of, int dir, bool again, bool force,
		       struct store_news *ret, struct err *e)
{
	cleanup_fd int skills = open_named(of, of->root, dir, STORE_SKILLS, e);
	cleanup_place struct place p = PLACE_NONE;
	struct err why;

	if (skills < 0)
		return -1;
	p.dir = tree_open(dir, ".", O_RDONLY | O_DIRECTORY, e);
	if (p.dir < 0)
		return -1;
	if (is_imported(&p) && !again)
		return 0;
	p.lock = open_lock(p.dir, &why);
	if (p.lock < 0 && why.code == EACCES && !again)
		return 0;
	if (p.lock < 0) {
		*e = why;
		return cannot(of->root, e);
	}
	if (lock(&p, LOCK_EX, e) < 0)
		return cannot(of->root, e);
	if (is_imported(&p) && !again)
		return 0;
	if (import_skills(of, skills, force, ret, e) < 0 || mark_imported(&p, e) < 0)
		return cannot(of->root, e);
	return 0;
}

/* Whoever is first imports, the others wait for him.  If he is killed, the next one is first. */
static int enter(const struct store_of *of, const struct place *p, struct store_news *ret,
		 struct err *e)
{
	for (unsigned i = 0; i < ENTER_TRIES; i++) {
		if (!is_imported(p) && flock(p->lock, LOCK_EX | LOCK_NB) == 0 && !is_imported(p) &&
		    fill(of, p, false, ret, e) < 0)
			return -1;
		if (lock(p, LOCK_SH, e) < 0)
			return cannot(of->root, e);
		if (is_imported(p))
			break;
	}
	return 0;
}

/**
 * store_enter() - Make what is missing of the stores that a launch uses, and keep them
 * @of:		Which
 * @ret:	What was imported, if a store is new
 * @e:		Set on failure, with what to do
 *
 * Return: fd owned by the caller, who has a share in the store as long as it is open; -1 on
 *	   failure
 */
int store_enter(const struct store_of *of, struct store_news *ret, struct err *e)
{
	cleanup_fd int dir = store_root_open(of->root, e);
	cleanup_place struct place own = PLACE_NONE;

	if (dir < 0 || open_place(of, dir, &own, e) < 0 || enter(of, &own, ret, e) < 0 ||
	    make_folders(of, &own, e) < 0 || fill_skills(of, dir, false, false, ret, e) < 0)
		return -1;
	return steal_fd(&own.lock);
}

/* ---- by the developer's word ---- */

static int lock_alone(const struct store_of *of, const struct place *p, struct err *e)
{
	if (flock(p->lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return err_set(e, errno, "lock the state store of %s", of->profile->name);
	(void)err_set(e, 0, "%s is running, and uses its state: end it first", of->profile->name);
	e->code = EBUSY;
	return -1;
}

/**
 * store_import_again() - Import what a profile lists, as the first launch did
 * @of:		Which store; made if it isn't there
 * @force:	What the agent has already is replaced, and kept beside the new one as NAME.bak
 * @ret:	What was copied and what was not is added here
 * @e:		Set on failure; its code is EBUSY while a session uses the store
 *
 * Return: 0 on success, -1 on failure
 */
int store_import_again(const struct store_of *of, bool force, struct store_news *ret, struct err *e)
{
	cleanup_fd int dir = store_root_open(of->root, e);
	cleanup_place struct place own = PLACE_NONE;

	if (dir < 0 || open_place(of, dir, &own, e) < 0 || lock_alone(of, &own, e) < 0 ||
	    fill(of, &own, force, ret, e) < 0)
		return -1;
	return fill_skills(of, dir, true, force, ret, e);
}

/* First out of the way as a whole: what a kill leaves behind is no store any more. */
static int remove_folder(const struct place *p, const char *name, struct err *e)
{
	if (tree_remove(p->dir, REMOVED, e) < 0)
		return -1;
	if (renameat(p->dir, name, p->dir, REMOVED) == 0)
		return tree_remove(p->dir, REMOVED, e);
	if (errno == ENOENT)
		return 0;
	if (errno != EBUSY) /* a volume */
		return err_set(e, errno, "rename %s", name);
	return tree_remove(p->dir, name, e);
}

/**
 * store_reset() - Remove what an agent keeps
 * @of:		Which store
 * @e:		Set on failure; its code is EBUSY while a session uses the store, ENOENT if there
 *		is none
 *
 * The next launch is a first one.  The skills of all agents stay.
 *
 * Return: 0 on success, -1 on failure
 */
int store_reset(const struct store_of *of, struct err *e)
{
	cleanup_fd int dir = open(of->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_place struct place own = PLACE_NONE;
	struct stat st;

	if (dir < 0)
		return err_set(e, errno, "state store %s", of->root);
	if (fstatat(dir, of->profile->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_set(e, errno, "state store %s/%s", of->root, of->profile->name);
	if (open_place(of, dir, &own, e) < 0 || lock_alone(of, &own, e) < 0)
		return -1;
	if (tree_remove(own.dir, STORE_IMPORTED, e) < 0 ||
	    remove_folder(&own, STORE_STATE, e) < 0 || remove_folder(&own, STORE_CACHE, e) < 0 ||
	    remove_folder(&own, STORE_SHARE, e) < 0)
		return err_wrap(e, "state store %s/%s", of->root, of->profile->name);
	return 0;
}

/**
 * store_news_done() - Release what an import told; it is empty afterwards
 * @n:		News
 */
void store_news_done(struct store_news *n)
{
	strlist_clear(&n->imported);
	strlist_clear(&n->left_out);
}
