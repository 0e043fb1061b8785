/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: From the developer's own state into an agent's
 *
 * Each thing is copied into a folder for that, looked at there, and renamed to its place as a
 * whole.  So whatever ends this half way, the store has a thing or lacks it, and the next import
 * goes on.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "err.h"
#include "import.h"
#include "io.h"
#include "path.h"
#include "profile.h"
#include "settings.h"
#include "store.h"
#include "tree.h"

#define STAGING ".oci-sandbox-import"
#define COPY "copy"
#define SETTINGS_MAX_BYTES (16 * 1024 * 1024)
#define IMPORT_MAX_BYTES (64ULL * 1024 * 1024)
#define IMPORT_MAX_ENTRIES 10000
#define SKILLS ".agents/skills"

/**
 * struct item - one thing to import
 * @from:	Folder
 * @path:	What it is, relative to @from
 * @to:		Folder of the store
 * @target:	Where it goes, relative to @to
 * @shown:	What it is called when it is told
 */
struct item {
	int from;
	const char *path;
	int to;
	const char *target;
	const char *shown;
};

/* The folder that @path is in below @dir, made if it isn't there. */
static int open_parent(int dir, const char *path, struct err *e)
{
	cleanup_free char *part = strdup(path);
	cleanup_fd int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (part == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	for (char *p = part, *slash; fd >= 0 && (slash = strchr(p, '/')) != NULL; p = slash + 1) {
		cleanup_fd int above = steal_fd(&fd);

		*slash = '\0';
		if (mkdirat(above, p, 0700) < 0 && errno != EEXIST)
			return err_set(e, errno, "make folder %s", p);
		fd = openat(above, p, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	return fd < 0 ? err_set(e, errno, "open the folder of %s", path) : steal_fd(&fd);
}

static bool exists(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_settings(const char *path)
{
	const size_t n = strlen(path);

	return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

/* Of the copy: nobody changes it meanwhile. */
static enum tree_result check_settings(int staging, const struct item *i, struct err *e)
{
	cleanup_fd int fd = openat(staging, COPY, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_free char *text = NULL;
	const char *why;
	char word[64];
	struct stat st;

	if (!is_settings(i->target))
		return TREE_DONE;
	if (fd < 0 || fstat(fd, &st) < 0) {
		(void)err_set(e, errno, "open the copy of %s", i->target);
		return TREE_FAILED;
	}
	if (!S_ISREG(st.st_mode))
		return TREE_DONE;
	text = read_fd(fd, SETTINGS_MAX_BYTES, e);
	if (text == NULL)
		return TREE_LEFT_OUT;
	why = settings_refusal(text, word, sizeof(word));
	if (why == NULL)
		return TREE_DONE;
	if (word[0] != '\0')
		(void)err_set(e, 0, "it has `%s`", word);
	else
		(void)err_set(e, 0, "%s", why);
	return TREE_LEFT_OUT;
}

/* The copy comes to its place; what was there is beside it then. */
static int place(int staging, const struct item *i, struct err *e)
{
	cleanup_fd int parent = open_parent(i->to, i->target, e);
	const char *slash = strrchr(i->target, '/');
	const char *name = slash != NULL ? slash + 1 : i->target;
	cleanup_free char *bak = NULL;

	if (parent < 0)
		return -1;
	if (asprintf(&bak, "%s.bak", name) < 0) {
		bak = NULL;
		return err_set(e, ENOMEM, "allocate a path");
	}
	if (exists(parent, name)) {
		if (tree_remove(parent, bak, e) < 0)
			return -1;
		if (renameat(parent, name, parent, bak) < 0)
			return err_set(e, errno, "rename %s to %s", i->target, bak);
	}
	if (renameat(staging, COPY, parent, name) < 0)
		return err_set(e, errno, "put %s in its place", i->target);
	return 0;
}

/* What is told goes to a terminal, and the names of skills may come from anywhere. */
static int tell(struct strlist *l, const struct item *i, const char *why, struct err *e)
{
	struct err line;

	(void)(why == NULL ? err_set(&line, 0, "%s", i->shown)
			   : err_set(&line, 0, "%s (%s)", i->shown, why));
	err_make_printable(&line);
	return strlist_add(l, line.msg, e);
}

static int import_one(int staging, const struct item *i, struct tree_room *room,
		      struct store_news *ret, struct err *e)
{
	struct tree_room left = { .bytes = room->bytes, .entries = room->entries };
	struct err why, ignored;
	enum tree_result result = tree_copy(i->from, i->path, staging, COPY, &left, &why);

	if (result == TREE_DONE)
		result = check_settings(staging, i, &why);
	if (result == TREE_DONE && place(staging, i, &why) < 0)
		result = TREE_FAILED;
	if (result != TREE_DONE)
		(void)tree_remove(staging, COPY, &ignored);
	if (result == TREE_FAILED) {
		*e = why;
		return -1;
	}
	if (result == TREE_LEFT_OUT)
		return tell(&ret->left_out, i, why.msg, e);
	*room = left;
	if (left.links > 0 && tell(&ret->left_out, i, "the links in it", e) < 0)
		return -1;
	return tell(&ret->imported, i, NULL, e);
}

/* Not a word of what the developer doesn't have. */
static int import_item(int staging, const struct item *i, bool force, struct tree_room *room,
		       struct store_news *ret, struct err *e)
{
	struct err why;
	cleanup_fd int there = tree_open(i->from, i->path, O_PATH | O_NOFOLLOW, &why);

	if (there < 0 && (why.code == ENOENT || why.code == ENOTDIR))
		return 0;
	if (!force) {
		cleanup_fd int had = tree_open(i->to, i->target, O_PATH | O_NOFOLLOW, &why);

		if (had >= 0 || why.code != ENOENT)
			return tell(&ret->left_out, i, "the agent has its own", e);
	}
	return import_one(staging, i, room, ret, e);
}

/*
 * A folder with nothing but empty ones in it is nothing that the agent has: launches make such, for
 * the skills that come with us.  As no session uses the store, it stays what it was opened as.
 */
static void drop_empty(int state, const char *target)
{
	struct err ignored;
	cleanup_fd int fd = tree_open(state, target, O_RDONLY | O_DIRECTORY, &ignored);
	cleanup_dir DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *d;

	if (entries == NULL)
		return;
	(void)steal_fd(&fd);
	while ((d = readdir(entries)) != NULL)
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			(void)unlinkat(dirfd(entries), d->d_name, AT_REMOVEDIR);
	(void)unlinkat(state, target, AT_REMOVEDIR);
}

static int open_staging(int to, struct err *e)
{
	int fd;

	if (tree_remove(to, STAGING, e) < 0)
		return -1;
	if (mkdirat(to, STAGING, 0700) < 0)
		return err_set(e, errno, "make folder " STAGING);
	fd = openat(to, STAGING, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_set(e, errno, "open folder " STAGING) : fd;
}

static int close_staging(int to, int result, struct err *e)
{
	struct err ignored;

	if (tree_remove(to, STAGING, result < 0 ? &ignored : e) < 0)
		return -1;
	return result;
}

static int import_all(const struct store_of *of, int own, int home, int state, int staging,
		      bool force, struct store_news *ret, struct err *e)
{
	struct tree_room room = { .bytes = IMPORT_MAX_BYTES, .entries = IMPORT_MAX_ENTRIES };

	for (size_t k = 0; k < of->profile->import.n; k++) {
		const char *path = of->profile->import.v[k];
		const bool beside = strncmp(path, "~/", 2) == 0;
		const struct item i = { .from = beside ? home : own,
					.path = beside ? path + 2 : path,
					.to = state,
					.target = profile_import_target(path),
					.shown = path };

		if (i.from < 0)
			continue;
		drop_empty(state, i.target);
		if (import_item(staging, &i, force, &room, ret, e) < 0)
			return -1;
	}
	return 0;
}

/**
 * import_state() - Copy what a profile lists into a state folder
 * @of:		Whose
 * @state:	The store's state folder; no session uses it
 * @force:	What is there already is replaced, and kept beside the new one as NAME.bak
 * @ret:	What was copied and what was not is added here
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int import_state(const struct store_of *of, int state, bool force, struct store_news *ret,
		 struct err *e)
{
	cleanup_fd int home = open(of->home, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_free char *path = path_join(of->home, of->profile->state, e);
	cleanup_fd int own = path == NULL ? -1 : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int staging = -1;

	if (home < 0)
		return err_set(e, errno, "open %s", of->home);
	if (path == NULL)
		return -1;
	staging = open_staging(state, e);
	if (staging < 0)
		return -1;
	return close_staging(state, import_all(of, own, home, state, staging, force, ret, e), e);
}

static int import_each(int from, int skills, int staging, bool force, struct store_news *ret,
		       struct err *e)
{
	struct tree_room room = { .bytes = IMPORT_MAX_BYTES, .entries = IMPORT_MAX_ENTRIES };
	cleanup_dir DIR *entries = NULL;
	cleanup_fd int fd = openat(from, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	entries = fd < 0 ? NULL : fdopendir(fd);
	if (entries == NULL)
		return strlist_add(&ret->left_out, "~/" SKILLS " (it can't be read)", e);
	(void)steal_fd(&fd);
	for (struct dirent *d; (d = readdir(entries)) != NULL;) {
		cleanup_free char *shown = NULL;

		if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
			continue;
		if (asprintf(&shown, "~/" SKILLS "/%s", d->d_name) < 0) {
			shown = NULL;
			return err_set(e, ENOMEM, "allocate a path");
		}
		if (import_item(staging,
				&(struct item){ from, d->d_name, skills, d->d_name, shown }, force,
				&room, ret, e) < 0)
			return -1;
	}
	return 0;
}

/**
 * import_skills() - Copy the skills that are no one agent's
 * @of:		Whose home
 * @skills:	The folder that all confined agents share
 * @force:	As import_state()
 * @ret:	As import_state()
 * @e:		As import_state()
 *
 * Return: 0 on success, -1 on failure
 */
int import_skills(const struct store_of *of, int skills, bool force, struct store_news *ret,
		  struct err *e)
{
	cleanup_free char *path = path_join(of->home, SKILLS, e);
	cleanup_fd int from = path == NULL ? -1 : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int staging = -1;

	if (path == NULL)
		return -1;
	if (from < 0)
		return 0;
	staging = open_staging(skills, e);
	if (staging < 0)
		return -1;
	return close_staging(skills, import_each(from, skills, staging, force, ret, e), e);
}
