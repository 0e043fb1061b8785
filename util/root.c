/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Paths below a root that is not ours
 *
 * What is below the root belongs to someone who may be hostile, and may change while we
 * look.  So each path is resolved once, by the kernel, with the root as its "/", and only
 * the fd is used from then on: openat2(2), RESOLVE_IN_ROOT and RESOLVE_NO_MAGICLINKS.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "id_map.h"
#include "root.h"

/* Races that RESOLVE_IN_ROOT can't rule out end in EAGAIN: openat2(2) says to try again. */
#define EAGAIN_TRIES 64

static int resolve_as(int root, const char *path, int flags, uint64_t how_else)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | how_else,
	};
	int fd = -1;

	for (int i = 0; i < EAGAIN_TRIES; i++) {
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
		if (fd >= 0 || errno != EAGAIN)
			break;
	}
	return fd;
}

static int resolve(int root, const char *path, int flags)
{
	return resolve_as(root, path, flags, 0);
}

/**
 * root_open() - Open what is at a path below a root
 * @root:	Directory fd that serves as "/"; absolute symlinks and ".." stay below it
 * @path:	Path, absolute or relative to @root
 * @flags:	As open(2); O_CLOEXEC is implied
 * @e:		Set on failure, with errno as its code
 *
 * Return: fd owned by the caller, -1 on failure
 */
int root_open(int root, const char *path, int flags, struct err *e)
{
	int fd = resolve(root, path, flags);

	if (fd < 0)
		(void)err_set(e, errno, "open %s", path);
	return fd;
}

/**
 * root_open_nofollow() - Like root_open(), but if the last component is a symlink, that itself
 * @root:	As root_open()
 * @path:	As root_open()
 * @flags:	As root_open(); O_PATH is needed where a symlink may be met
 * @e:		As root_open()
 *
 * Return: as root_open()
 */
int root_open_nofollow(int root, const char *path, int flags, struct err *e)
{
	return root_open(root, path, flags | O_NOFOLLOW, e);
}

/**
 * root_open_no_links() - Like root_open(), but no component may be a symlink
 * @root:	As root_open()
 * @path:	As root_open()
 * @flags:	As root_open()
 * @e:		As root_open(); its code is ELOOP if there is one
 *
 * Return: as root_open()
 */
int root_open_no_links(int root, const char *path, int flags, struct err *e)
{
	int fd = resolve_as(root, path, flags, RESOLVE_NO_SYMLINKS);

	if (fd < 0)
		(void)err_set(e, errno, "open %s", path);
	return fd;
}

static int own(int fd, const struct root_owner *owner, const char *path, struct err *e)
{
	if (owner != NULL && fchownat(fd, "", owner->uid, owner->gid, AT_EMPTY_PATH) < 0)
		return err_set(e, errno, "set the owner of %s", path);
	return 0;
}

static bool is_mapped(const char *map, uint32_t id)
{
	uint32_t inside;

	return map == NULL || id_map_inside(map, id, &inside);
}

/*
 * Could he make something in this folder?  As capable_wrt_inode_uidgid() in kernel/capability.c
 * has it for his namespace's root, who may also be anybody else.
 */
static int check_may_make(int dir, const struct root_owner *owner, const char *path, struct err *e)
{
	struct stat st;

	if (owner == NULL)
		return 0;
	if (fstat(dir, &st) < 0)
		return err_set(e, errno, "look at the folder of %s", path);
	if ((is_mapped(owner->uid_map, st.st_uid) && is_mapped(owner->gid_map, st.st_gid)) ||
	    (st.st_uid == owner->uid && (st.st_mode & S_IWUSR) != 0) || (st.st_mode & S_IWOTH) != 0)
		return 0;
	return err_set(e, EACCES,
		       "make %s, whose folder belongs to uid %u and gid %u, which the container "
		       "does not have",
		       path, (unsigned)st.st_uid, (unsigned)st.st_gid);
}

/* The folder that @path is in; @name is set to its last component. */
static int open_parent(int root, const char *path, const char **name, struct err *e)
{
	cleanup_free char *dir = strdup(path);
	char *slash;

	if (dir == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	slash = strrchr(dir, '/');
	*name = slash == NULL ? path : path + (slash - dir) + 1;
	if (slash == NULL || slash == dir)
		return root_open(root, "/", O_PATH | O_DIRECTORY, e);
	*slash = '\0';
	return root_open(root, dir, O_PATH | O_DIRECTORY, e);
}

/* The folder @path, which is made if it isn't there; its parent is. */
static int mkdir_one(int root, const char *path, mode_t mode, const struct root_owner *owner,
		     struct err *e)
{
	cleanup_fd int fd = resolve(root, path, O_PATH | O_DIRECTORY);
	cleanup_fd int parent = -1;
	const char *name;

	if (fd >= 0)
		return steal_fd(&fd);
	if (errno != ENOENT)
		return err_set(e, errno, "open folder %s", path);

	parent = open_parent(root, path, &name, e);
	if (parent < 0 || check_may_make(parent, owner, path, e) < 0)
		return -1;
	if (mkdirat(parent, name, mode) < 0) {
		/* Another process that wants it has just made it: then it is as it was found above
		 */
		fd = errno == EEXIST ? resolve(root, path, O_PATH | O_DIRECTORY) : -1;
		return fd >= 0 ? steal_fd(&fd) : err_set(e, errno, "make folder %s", path);
	}
	fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "open folder %s", path);
	if (own(fd, owner, path, e) < 0)
		return -1;
	return steal_fd(&fd);
}

/**
 * root_mkdirs() - Open a folder below a root, and make what is missing of it
 * @root:	As root_open()
 * @path:	Clean absolute path
 * @mode:	For the folders that are made, less the umask
 * @owner:	Of the folders that are made; NULL: as they are
 * @e:		Set on failure
 *
 * Return: O_PATH fd owned by the caller, -1 on failure
 */
int root_mkdirs(int root, const char *path, mode_t mode, const struct root_owner *owner,
		struct err *e)
{
	cleanup_free char *part = strdup(path);
	cleanup_fd int fd = root_open(root, "/", O_PATH | O_DIRECTORY, e);

	if (fd < 0)
		return -1;
	if (part == NULL)
		return err_set(e, ENOMEM, "allocate a path");

	for (char *p = part; *p != '\0';) {
		char kept;

		p += strspn(p, "/");
		p += strcspn(p, "/");
		kept = *p;
		*p = '\0';
		(void)close(fd);
		fd = mkdir_one(root, part, mode, owner, e);
		if (fd < 0)
			return -1;
		*p = kept;
	}
	return steal_fd(&fd);
}

/**
 * root_mkfile() - Open a file below a root, or make an empty one
 * @root:	As root_open()
 * @path:	Clean absolute path, its folder there already; a symlink at its end is followed,
 *		but not if it dangles
 * @mode:	For a file that is made, less the umask
 * @owner:	Of a file that is made; NULL: as it is
 * @e:		Set on failure
 *
 * Return: O_PATH fd owned by the caller, -1 on failure
 */
int root_mkfile(int root, const char *path, mode_t mode, const struct root_owner *owner,
		struct err *e)
{
	cleanup_fd int fd = resolve(root, path, O_PATH);
	cleanup_fd int parent = -1, made = -1;
	const char *name;

	if (fd >= 0)
		return steal_fd(&fd);
	if (errno != ENOENT)
		return err_set(e, errno, "open %s", path);

	parent = open_parent(root, path, &name, e);
	if (parent < 0 || check_may_make(parent, owner, path, e) < 0)
		return -1;
	/* O_EXCL follows no symlink: what we make is in the folder that we looked at */
	made = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (made < 0)
		return err_set(e, errno, "make %s", path);
	if (own(made, owner, path, e) < 0)
		return -1;
	fd = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "open %s", path);
	return steal_fd(&fd);
}
