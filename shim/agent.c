/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Where the real agent is
 *
 * What the hook covered first, then the profile's candidates, then the rest of PATH.  Never the
 * shim itself, and never what an agent could have written: the program that is found gets the
 * agent's login.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent.h"
#include "cleanup.h"
#include "err.h"
#include "launch.h"
#include "path.h"
#include "strlist.h"

#define PATH_DEFAULT "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool is_shim(const char *path)
{
	struct stat self, st;

	return stat("/proc/self/exe", &self) == 0 && stat(path, &st) == 0 &&
	       self.st_dev == st.st_dev && self.st_ino == st.st_ino;
}

/*
 * The resolved path of an agent, NULL if there is none or none that will do.  A nested launch
 * knows of nothing that agents write: what it runs is confined already.
 */
static char *try(const struct launch *l, const char *path)
{
	cleanup_free char *real = realpath(path, NULL);
	struct stat st;

	if (real == NULL || stat(real, &st) < 0 || !S_ISREG(st.st_mode) || access(real, X_OK) < 0 ||
	    is_shim(real) || launch_agent_writes(l, real))
		return NULL;
	return steal_ptr(&real);
}

static char *try_candidates(const struct launch *l, struct strlist *looked, struct err *e)
{
	for (size_t i = 0; i < l->profile.candidates.n; i++) {
		const char *c = l->profile.candidates.v[i];
		cleanup_free char *path =
			strncmp(c, "~/", 2) == 0 ? path_join(l->home, c + 2, e) : strdup(c);
		char *real;

		if (path == NULL || strlist_add(looked, path, e) < 0)
			return NULL;
		real = try(l, path);
		if (real != NULL)
			return real;
	}
	return NULL;
}

static char *try_path(const struct launch *l, const char *dirs, struct strlist *looked,
		      struct err *e)
{
	for (const char *p = dirs; *p != '\0';) {
		size_t n = strcspn(p, ":");
		cleanup_free char *dir = strndup(p, n);
		cleanup_free char *path = dir == NULL ? NULL : path_join(dir, l->command, e);
		char *real;

		if (path == NULL)
			return NULL;
		p += n;
		p += *p == ':';
		if (path[0] != '/' || strlist_has(looked, path))
			continue;
		if (strlist_add(looked, path, e) < 0)
			return NULL;
		real = try(l, path);
		if (real != NULL)
			return real;
	}
	return NULL;
}

/**
 * agent_find() - Find the real agent
 * @l:		The launch, all but its agent
 * @path:	The developer's PATH; NULL: none
 * @e:		Set on failure, with the places that were looked at; code is ENOENT
 *
 * Return: path with all symlinks resolved, owned by the caller; NULL on failure
 */
char *agent_find(const struct launch *l, const char *path, struct err *e)
{
	cleanup_strlist struct strlist looked = { 0 };
	const struct manifest_agent *covered = manifest_agent(&l->manifest, l->command);
	char *real = covered != NULL ? try(l, covered->path) : NULL;
	size_t len;

	if (real == NULL)
		real = try_candidates(l, &looked, e);
	if (real == NULL)
		real = try_path(l, path != NULL ? path : PATH_DEFAULT, &looked, e);
	if (real != NULL)
		return real;

	(void)err_set(e, 0,
		      "no %s in this container: install it, in the image or as root, and try "
		      "again; looked at",
		      l->command);
	e->code = ENOENT;
	for (size_t i = 0; i < looked.n; i++) {
		len = strlen(e->msg);
		(void)snprintf(e->msg + len, sizeof(e->msg) - len, " %s", looked.v[i]);
	}
	return NULL;
}

/**
 * agent_place() - Say where the sandbox has the real agent
 * @l:		The launch, with its agent
 * @e:		Set on failure: memory
 *
 * An agent that was covered goes where it was, since scripts look for what is theirs beside
 * themselves (pnpm's do).  Inside a sandbox it is there already; that of another agent is not, and
 * has the shim in its place.
 *
 * Return: path with all symlinks resolved, owned by the caller; NULL on failure
 */
char *agent_place(const struct launch *l, struct err *e)
{
	const struct manifest_agent *covered = manifest_agent(&l->manifest, l->command);
	cleanup_free char *real = NULL;
	char *ret;

	if (covered != NULL && covered->origin != NULL && strcmp(l->agent, covered->path) == 0) {
		real = l->workspace != NULL ? realpath(covered->origin, NULL)
					    : try(l, covered->origin);
		if (real != NULL && !launch_agent_writes(l, real))
			return steal_ptr(&real);
	}
	ret = strdup(l->agent);
	if (ret == NULL)
		(void)err_set(e, ENOMEM, "allocate a path");
	return ret;
}
