/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Protected paths that were not there
 *
 * What isn't there can't be made read-only, and a stub would stay in the project.  So an agent
 * can make it, and what it made is named when the launch ends.
 */
#include "config.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "launch.h"
#include "path.h"
#include "protected.h"

static int exists(const struct launch *l, const char *rel, struct err *e)
{
	cleanup_free char *path = path_join(l->workspace, rel, e);
	struct stat st;

	if (path == NULL)
		return -1;
	return fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static int filter(const struct launch *l, const struct strlist *from, int wanted,
		  struct strlist *ret, struct err *e)
{
	for (size_t i = 0; i < from->n; i++) {
		int there = exists(l, from->v[i], e);

		if (there < 0 || (there == wanted && strlist_add(ret, from->v[i], e) < 0))
			return -1;
	}
	return 0;
}

/**
 * protected_missing() - Note which protected paths the workspace lacks before a launch
 * @l:		The launch
 * @ret:	They are added here, relative to the workspace
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int protected_missing(const struct launch *l, struct strlist *ret, struct err *e)
{
	return filter(l, &l->policy.protect, 0, ret, e);
}

/**
 * protected_made() - Say which of them are there after it
 * @l:		The launch
 * @missing:	From protected_missing()
 * @ret:	They are added here
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int protected_made(const struct launch *l, const struct strlist *missing, struct strlist *ret,
		   struct err *e)
{
	return filter(l, missing, 1, ret, e);
}
