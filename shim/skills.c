/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The skills that come with oci-sandbox
 *
 * Each is a folder beside the shim, and a sandbox has it, read-only, where its agent looks for
 * skills.  That is in the agent's store, where earlier sessions could have put anything under the
 * name of a skill.  A symlink is taken away, as it would be the agent's idea of what the skill is.
 * Anything else that is no folder is no skill to anyone: it stays, the launch does without the
 * skill, and says so.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "launch.h"
#include "path.h"
#include "skills.h"
#include "store.h"

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/**
 * skills_list() - Find those that come with us
 * @ret:	Gets their names, sorted; a host that has none is no error
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int skills_list(struct strlist *ret, struct err *e)
{
	cleanup_dir DIR *dir = opendir(SKILLS_DIR);
	const struct dirent *entry;

	if (dir == NULL)
		return errno == ENOENT ? 0 : err_set(e, errno, "open " SKILLS_DIR);
	while ((entry = readdir(dir)) != NULL) {
		struct err ignored;
		struct stat st;

		if (profile_name_check(entry->d_name, &ignored) < 0 ||
		    fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISDIR(st.st_mode))
			continue;
		if (strlist_add(ret, entry->d_name, e) < 0)
			return -1;
	}
	if (ret->n > 0)
		qsort(ret->v, ret->n, sizeof(*ret->v), compare);
	return 0;
}

static int drop_symlink(struct launch *l, int parent, const char *name, struct err *e)
{
	struct stat st;

	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISLNK(st.st_mode))
		return 0;
	if (unlinkat(parent, name, 0) < 0)
		return err_set(e, errno, "remove the symlink %s", name);
	return strlist_add_fmt(&l->left_out, e,
			       "%s's folder of skills had a symlink %s in the place of a folder: "
			       "removed",
			       l->profile.name, name);
}

/* The folder @name in @parent, which is made if it isn't there. */
static int open_place(struct launch *l, int parent, const char *name, struct err *e)
{
	int fd;

	if (drop_symlink(l, parent, name, e) < 0)
		return -1;
	if (mkdirat(parent, name, 0700) < 0 && errno != EEXIST)
		return err_set(e, errno, "make folder %s", name);
	fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 ? fd : err_set(e, errno, "open folder %s", name);
}

/* The agent's own folder of skills, each component of it. */
static int open_places(struct launch *l, struct err *e)
{
	cleanup_free char *part = strdup(l->profile.skills), *store = NULL;
	cleanup_fd int fd = -1;

	if (part == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	if (asprintf(&store, "%s/%s/" STORE_STATE, l->state, l->profile.name) < 0) {
		store = NULL;
		return err_set(e, ENOMEM, "allocate a path");
	}
	fd = open(store, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "open %s", store);
	for (char *name = part, *next; name != NULL; name = next) {
		cleanup_fd int parent = steal_fd(&fd);

		next = strchr(name, '/');
		if (next != NULL)
			*next++ = '\0';
		fd = open_place(l, parent, name, e);
		if (fd < 0)
			return -1;
	}
	return steal_fd(&fd);
}

static int leave_out(struct launch *l, const char *what, const struct err *why, struct err *e)
{
	return strlist_add_fmt(&l->left_out, e,
			       "%s, in %s/%s/" STORE_STATE "/%s: %s (left out; move away what is "
			       "there)",
			       what, l->state, l->profile.name, l->profile.skills, why->msg);
}

/**
 * skills_prepare() - Find the skills that a sandbox gets, and make their places
 * @l:		The launch, its stores prepared; gets skills, and what has no place in left_out
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int skills_prepare(struct launch *l, struct err *e)
{
	cleanup_strlist struct strlist all = { 0 };
	cleanup_fd int places = -1;
	struct err why;

	if (l->profile.skills == NULL || skills_list(&all, e) < 0)
		return l->profile.skills == NULL ? 0 : -1;
	if (all.n == 0)
		return 0;
	places = open_places(l, &why);
	if (places < 0)
		return leave_out(l, "the sandbox's own skills", &why, e);
	for (size_t i = 0; i < all.n; i++) {
		cleanup_fd int place = open_place(l, places, all.v[i], &why);

		if (place < 0 ? leave_out(l, "a skill of the sandbox's", &why, e) < 0
			      : strlist_add(&l->skills, all.v[i], e) < 0)
			return -1;
	}
	return 0;
}
