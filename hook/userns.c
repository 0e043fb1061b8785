/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: User namespaces for what is tried
 *
 * A user has no power over namespaces but in a user namespace of his own.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "io.h"
#include "userns.h"

static int write_file(const char *process, const char *name, const char *text, struct err *e)
{
	cleanup_fd int fd = -1;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%s/%s", process, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "open %s", path);
	return write_all(fd, text, strlen(text), e) < 0 ? err_wrap(e, "%s", path) : 0;
}

static int write_map(const char *process, const char *map, unsigned outside, struct err *e)
{
	char line[32];

	(void)snprintf(line, sizeof(line), "0 %u 1", outside);
	return write_file(process, map, line, e);
}

/**
 * userns_map_root() - Make a user the root, and the only id, of a new user namespace
 * @process:	A process in it: a number, or "self"
 * @uid:	Its user, in the namespace of who writes, or outside of the new one for "self"
 * @gid:	Its group, likewise
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int userns_map_root(const char *process, uid_t uid, gid_t gid, struct err *e)
{
	/* user_namespaces(7): else the gid_map needs CAP_SETGID outside */
	if (write_file(process, "setgroups", "deny", e) < 0 ||
	    write_map(process, "uid_map", uid, e) < 0)
		return -1;
	return write_map(process, "gid_map", gid, e);
}

/**
 * userns_become_root() - Enter new namespaces, as root
 * @flags:	CLONE_NEW* besides CLONE_NEWUSER, which is made if it is needed
 * @e:		Set on failure
 *
 * Mounts of a new mount namespace are private.
 *
 * Return: 0 on success, -1 on failure
 */
int userns_become_root(int flags, struct err *e)
{
	const uid_t uid = geteuid();
	const gid_t gid = getegid();

	if (uid != 0)
		flags |= CLONE_NEWUSER;
	if (unshare(flags) < 0)
		return err_set(e, errno, "new namespaces");
	if (uid != 0 && userns_map_root("self", uid, gid, e) < 0)
		return -1;
	if ((flags & CLONE_NEWNS) != 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_set(e, errno, "make mounts private");
	return 0;
}
