/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What the policy's allow-write names, as it is in this container
 *
 * The policy is the administrator's, but what its paths lead to is not: an agent that was here
 * before may have put a symlink in the way.  So a symlink counts only where no workspace can be,
 * and what agents write already.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "launch.h"
#include "path.h"
#include "places.h"
#include "workspace.h"
#include "writable.h"

#define MAX_SYMLINKS 40 /* as the kernel, path_resolution(7) */

/* ---- symlinks ---- */

/* In the system or directly in the home: there no agent has ever written. */
static bool is_trusted(const struct launch *l, const char *dir)
{
	struct err ignored;

	if (launch_agent_writes(l, dir))
		return false;
	for (size_t i = 0; i < l->policy.allow_write.n; i++)
		if (path_is_clean(l->policy.allow_write.v[i]) &&
		    path_is_at_or_below(dir, l->policy.allow_write.v[i]))
			return false;
	return workspace_check(dir, l->home, 1, &ignored) < 0;
}

/* A path that is being resolved: @done is, @rest is to come. */
struct walk {
	char *done;
	char *rest;
	unsigned links;
};

static void walk_done(struct walk *w)
{
	free(w->done);
	free(w->rest);
}

static int replace(char **member, char *with, struct err *e)
{
	if (with == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	free(*member);
	*member = with;
	return 0;
}

/* The symlink @path in w->done leads to @to. */
static int follow(const struct launch *l, struct walk *w, const char *path, const char *to,
		  struct err *e)
{
	char *rest;

	if (!is_trusted(l, w->done))
		return err_set(e, 0,
			       "%s is a symlink in a folder that agents may have written: name "
			       "what it leads to, %s",
			       path, to);
	if (++w->links > MAX_SYMLINKS)
		return err_set(e, ELOOP, "%s", path);
	if (asprintf(&rest, "%s/%s", to, w->rest) < 0)
		rest = NULL;
	if (replace(&w->rest, rest, e) < 0)
		return -1;
	return to[0] == '/' ? replace(&w->done, strdup("/"), e) : 0;
}

static int step_up(struct walk *w)
{
	char *slash = strrchr(w->done, '/');

	slash[slash == w->done] = '\0';
	return 0;
}

/* One component further. */
static int step(const struct launch *l, struct walk *w, struct err *e)
{
	size_t n = strcspn(w->rest, "/");
	cleanup_free char *name = strndup(w->rest, n), *path = NULL;
	char to[PATH_MAX];
	ssize_t len;

	if (name == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	memmove(w->rest, w->rest + n, strlen(w->rest + n) + 1);
	memmove(w->rest, w->rest + strspn(w->rest, "/"),
		strlen(w->rest + strspn(w->rest, "/")) + 1);
	if (n == 0 || strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0)
		return step_up(w);
	path = path_join(w->done, name, e);
	if (path == NULL)
		return -1;
	len = readlink(path, to, sizeof(to) - 1);
	if (len >= 0) {
		to[len] = '\0';
		return follow(l, w, path, to, e);
	}
	if (errno != EINVAL) /* EINVAL: no symlink, readlink(2) */
		return err_set(e, errno, "%s", path);
	return replace(&w->done, steal_ptr(&path), e);
}

/* Owned by the caller; NULL on failure: e->code is ENOENT and the like if it isn't there. */
static char *resolve(const struct launch *l, const char *path, struct err *e)
{
	CLEANUP(walk_done)
	struct walk w = { .done = strdup("/"), .rest = strdup(path + 1) };

	if (w.done == NULL || w.rest == NULL) {
		(void)err_set(e, ENOMEM, "allocate a path");
		return NULL;
	}
	while (w.rest[0] != '\0')
		if (step(l, &w, e) < 0)
			return NULL;
	return steal_ptr(&w.done);
}

/* ---- what may never be named ---- */

static bool overlaps(const char *a, const char *b)
{
	return path_is_at_or_below(a, b) || path_is_at_or_below(b, a);
}

/* What the hook brought, and what the launch goes by. */
static bool is_ours(const struct launch *l, const char *real)
{
	if (overlaps(real, RUN_DIR) || overlaps(real, LIBEXEC_DIR) ||
	    overlaps(real, CONTAINER_CONFIG_DIR))
		return true;
	for (size_t i = 0; i < l->manifest.n_agents; i++)
		if (strcmp(real, l->manifest.agents[i].path) == 0 ||
		    (l->manifest.agents[i].origin != NULL &&
		     strcmp(real, l->manifest.agents[i].origin) == 0))
			return true;
	return false;
}

/* At, in or above a protected path of the workspace, wherever that leads. */
static int check_protected(const struct launch *l, const char *real, struct err *e)
{
	for (size_t i = 0; i < l->policy.protect.n; i++) {
		cleanup_free char *path = path_join(l->workspace, l->policy.protect.v[i], e);
		cleanup_free char *leads = path == NULL ? NULL : realpath(path, NULL);

		if (path == NULL)
			return -1;
		if (path_is_at_or_below(real, path) ||
		    (path_is_below(path, real) && path_is_at_or_below(real, l->workspace)) ||
		    (leads != NULL && path_is_at_or_below(real, leads)))
			return err_set(e, 0, "%s has to do with %s, which is protected", real,
				       path);
	}
	for (size_t i = 0; i < l->git_dirs.n; i++)
		if (path_is_at_or_below(real, l->git_dirs.v[i]) ||
		    (path_is_below(l->git_dirs.v[i], real) &&
		     path_is_at_or_below(real, l->workspace)))
			return err_set(e, 0, "%s has to do with the repository's %s", real,
				       l->git_dirs.v[i]);
	if (l->git_common != NULL && path_is_at_or_below(real, l->git_common))
		return err_set(e, 0, "%s is in the workspace's repository %s", real, l->git_common);
	return 0;
}

static int check(const struct launch *l, const char *real, struct err *e)
{
	static const char *const kernels[] = { "/proc", "/sys", "/dev" };
	struct stat st;

	for (size_t i = 0; i < N_ELEMENTS(kernels); i++)
		if (overlaps(real, kernels[i]))
			return err_set(e, 0,
				       "%s is no place for files (a device is named by "
				       "allow-device)",
				       real);
	if (is_ours(l, real))
		return err_set(e, 0, "%s is, or holds, a part of oci-sandbox", real);
	if (overlaps(real, l->state))
		return err_set(e, 0, "%s has to do with the agents' state stores (%s)", real,
			       l->state);
	if (path_is_at_or_below(l->home, real))
		return err_set(e, 0, "the home is at or below %s: name what is meant in it", real);
	if (stat(real, &st) < 0)
		return err_set(e, errno, "%s", real);
	if (S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode))
		return err_set(e, 0, "%s is a device", real);
	return check_protected(l, real, e);
}

/* ---- all ---- */

/* Not there, or not to be reached by this user: the launch goes on without it, and says so. */
static bool is_absent(const struct err *e)
{
	return e->code == ENOENT || e->code == ENOTDIR || e->code == EACCES;
}

static int read_one(struct launch *l, const char *value, struct err *e)
{
	cleanup_free char *named =
		strncmp(value, "~/", 2) == 0 ? path_join(l->home, value + 2, e) : strdup(value);
	cleanup_free char *real = NULL;
	struct err why = { 0 };

	if (named == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	real = resolve(l, named, &why);
	if (real != NULL && check(l, real, &why) == 0)
		return places_add(&l->writable, real, named, e);
	if (is_absent(&why))
		return strlist_add_fmt(&l->left_out, e, "allow-write: %s (left out)", why.msg);
	*e = why;
	return -1;
}

/**
 * writable_read() - Find what allow-write names
 * @l:		The launch, its home, workspace, state and repository known; gets writable, and
 *		what is missing in left_out
 * @e:		Set on failure: a path leads where nothing may be written
 *
 * Return: 0 on success, -1 on failure
 */
int writable_read(struct launch *l, struct err *e)
{
	for (size_t i = 0; i < l->policy.allow_write.n; i++)
		if (read_one(l, l->policy.allow_write.v[i], e) < 0)
			return err_wrap(e, "allow-write = %s", l->policy.allow_write.v[i]);
	return 0;
}
