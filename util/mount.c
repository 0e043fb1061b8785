/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Mounts as file descriptors
 *
 * The mount API of Linux 5.2 and 5.12, a line a call: a mount is made detached, gets its
 * attributes while nobody can see it, and is attached at an fd.  No path is resolved twice.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "mount.h"

/**
 * mount_clone() - Make a detached bind mount of what is at a path
 * @dirfd:	Where a relative path starts; with an empty @path, the thing itself
 * @path:	Path, the last symlink followed
 * @recursive:	With the mounts below it
 * @e:		Set on failure
 *
 * Return: mount fd owned by the caller, -1 on failure
 */
int mount_clone(int dirfd, const char *path, bool recursive, struct err *e)
{
	unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC;
	int fd;

	if (recursive)
		flags |= AT_RECURSIVE;
	if (path[0] == '\0')
		flags |= AT_EMPTY_PATH;
	fd = open_tree(dirfd, path, flags);
	if (fd < 0)
		(void)err_set(e, errno, "bind mount of %s",
			      path[0] != '\0' ? path : "an open file");
	return fd;
}

/**
 * mount_fs() - Make a detached mount of a new file system
 * @type:	As in filesystems(5)
 * @options:	Key, value, key, value, ..., NULL; a NULL value makes the key a flag
 * @e:		Set on failure
 *
 * Return: mount fd owned by the caller, -1 on failure
 */
int mount_fs(const char *type, const char *const options[], struct err *e)
{
	cleanup_fd int fs = fsopen(type, FSOPEN_CLOEXEC);
	int mnt;

	if (fs < 0)
		return err_set(e, errno, "new %s", type);
	for (size_t i = 0; options[i] != NULL; i += 2) {
		unsigned cmd = options[i + 1] != NULL ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;

		if (fsconfig(fs, cmd, options[i], options[i + 1], 0) < 0)
			return err_set(e, errno, "new %s: option %s", type, options[i]);
	}
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return err_set(e, errno, "new %s", type);
	mnt = fsmount(fs, FSMOUNT_CLOEXEC, 0);
	if (mnt < 0)
		return err_set(e, errno, "new %s", type);
	return mnt;
}

/**
 * mount_tmpfs() - Make a detached tmpfs
 * @mode:	Permissions of its root
 * @size:	As tmpfs(5) takes it, e.g. "50%"
 * @e:		Set on failure
 *
 * Return: mount fd owned by the caller, -1 on failure
 */
int mount_tmpfs(mode_t mode, const char *size, struct err *e)
{
	char octal[] = { (char)('0' + (mode >> 9 & 7)), (char)('0' + (mode >> 6 & 7)),
			 (char)('0' + (mode >> 3 & 7)), (char)('0' + (mode & 7)), '\0' };
	const char *const options[] = { "mode", octal, "size", size, NULL };

	return mount_fs("tmpfs", options, e);
}

/**
 * mount_set() - Add attributes to a mount
 * @mnt:	Mount fd, borrowed
 * @attr:	MOUNT_ATTR_* to set; none is cleared
 * @recursive:	On the mounts below it too
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int mount_set(int mnt, uint64_t attr, bool recursive, struct err *e)
{
	struct mount_attr a = { .attr_set = attr };
	unsigned flags = AT_EMPTY_PATH | (recursive ? AT_RECURSIVE : 0);

	if (mount_setattr(mnt, "", flags, &a, sizeof(a)) < 0)
		return err_set(e, errno, "set mount attributes");
	return 0;
}

/**
 * mount_private() - Take a mount out of its peer group
 * @mnt:	Mount fd, borrowed
 * @e:		Set on failure
 *
 * A clone of a shared mount is its peer: what is mounted on the one appears on the other, in
 * whatever namespace that is (mount_namespaces(7)).
 *
 * Return: 0 on success, -1 on failure
 */
int mount_private(int mnt, struct err *e)
{
	struct mount_attr a = { .propagation = MS_PRIVATE };

	if (mount_setattr(mnt, "", AT_EMPTY_PATH, &a, sizeof(a)) < 0)
		return err_set(e, errno, "make a mount private");
	return 0;
}

/**
 * mount_attach() - Attach a detached mount
 * @mnt:	Mount fd, borrowed
 * @target:	O_PATH fd of what it covers, in the current mount namespace.  A symlink that was
 *		opened with O_NOFOLLOW is covered itself.
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int mount_attach(int mnt, int target, struct err *e)
{
	if (move_mount(mnt, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return err_set(e, errno, "attach mount");
	return 0;
}
