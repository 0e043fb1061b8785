/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Which folder may be a workspace
 *
 * Usually it is wherever the developer happens to stand, and the agent may write all of it.
 */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "cleanup.h"
#include "err.h"
#include "path.h"
#include "workspace.h"

/* What the system, or another program's secrets, are in: never below these... */
static const char *const never_below[] = {
	"/bin",  "/boot", "/dev",  "/etc", "/lib", "/lib32",   "/lib64",
	"/proc", "/run",  "/sbin", "/sys", "/usr", "/var/run", "/var/lib",
};
/* ...but for where sources and sites are by custom, */
static const char *const sources[] = { "/usr/src", "/usr/local/src" };
/* and never these themselves. */
static const char *const never[] = { "/",    "/home", "/root",  "/var", "/opt",
				     "/srv", "/mnt",  "/media", "/tmp", "/var/tmp" };

static bool is_system(const char *path)
{
	for (size_t i = 0; i < N_ELEMENTS(never); i++)
		if (strcmp(path, never[i]) == 0)
			return true;
	for (size_t i = 0; i < N_ELEMENTS(sources); i++)
		if (path_is_below(path, sources[i]))
			return false;
	for (size_t i = 0; i < N_ELEMENTS(never_below); i++)
		if (path_is_at_or_below(path, never_below[i]))
			return true;
	return false;
}

/**
 * workspace_check() - Say whether a folder may be a workspace
 * @path:	Folder, clean and resolved
 * @home:	Home, clean and resolved
 * @named:	The policy names it (workspace-root): then a hidden folder of the home is meant
 * @e:		Set on failure
 *
 * Return: 0 if it may, -1 if not
 */
int workspace_check(const char *path, const char *home, int named, struct err *e)
{
	static const char hint[] = "go to your project's folder first, or name it in the policy "
				   "as workspace-root";

	if (path_is_at_or_below(home, path))
		return err_set(e, 0,
			       "`%s` can't be the workspace, your home (%s) is in it: %s, or set "
			       "HOME to another folder",
			       path, home, hint);
	if (is_system(path))
		return err_set(e, 0, "`%s` can't be the workspace, it is part of the system: %s",
			       path, hint);
	if (!named && path_is_below(path, home) && path[strlen(home) + 1] == '.')
		return err_set(e, 0,
			       "`%s` can't be the workspace, it is in a hidden folder of "
			       "your home: %s",
			       path, hint);
	return 0;
}
