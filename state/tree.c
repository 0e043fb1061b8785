/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Copying and removing folders without following a link
 *
 * What is copied is the developer's, what is removed an agent's: either may hold links that lead
 * anywhere, and folders as deep as the kernel lets them be.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "io.h"
#include "tree.h"

#define COPY_DEPTH_MAX 32
#define REMOVE_DEPTH_MAX 32
#define BLOCK_BYTES (64 * 1024)

/**
 * tree_open() - Open what is at a path below a folder, if no symlink is on the way to it
 * @dir:	Folder
 * @path:	Relative, without ".."
 * @flags:	As open(2); O_CLOEXEC is implied
 * @e:		Set on failure, with errno as its code
 *
 * Return: fd owned by the caller, -1 on failure
 */
int tree_open(int dir, const char *path, int flags, struct err *e)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
		.mode = (flags & O_CREAT) != 0 ? 0600 : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));

	if (fd < 0)
		return err_set(e, errno, "open %s", path);
	return fd;
}

static bool is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static DIR *open_entries(int dir, struct err *e)
{
	cleanup_fd int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (d == NULL) {
		(void)err_set(e, errno, "read a folder");
		return NULL;
	}
	(void)steal_fd(&fd);
	return d;
}

/* ---- copying ---- */

static enum tree_result copy_tree(int from, const char *path, int to, const char *name,
				  unsigned depth, struct tree_room *room, struct err *e);

static enum tree_result leave_out(struct err *e, int code, const char *why)
{
	(void)err_set(e, 0, "%s", why);
	e->code = code;
	return TREE_LEFT_OUT;
}

static enum tree_result copy_bytes(int from, int to, struct tree_room *room, struct err *e)
{
	char block[BLOCK_BYTES];
	ssize_t n;

	while ((n = read(from, block, sizeof(block))) > 0) {
		if ((uint64_t)n > room->bytes)
			return leave_out(e, E2BIG, "it is too large");
		room->bytes -= (uint64_t)n;
		if (write_all(to, block, (size_t)n, e) < 0)
			return TREE_FAILED;
	}
	return n < 0 ? leave_out(e, errno, "it can't be read") : TREE_DONE;
}

/* Nothing that is copied can be run, whatever it was. */
static enum tree_result copy_file(int from, mode_t mode, int to, const char *name,
				  struct tree_room *room, struct err *e)
{
	cleanup_fd int fd =
		openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	enum tree_result result;

	if (fd < 0) {
		(void)err_set(e, errno, "make %s", name);
		return TREE_FAILED;
	}
	result = copy_bytes(from, fd, room, e);
	if (result == TREE_DONE && fchmod(fd, mode & 0666) < 0) {
		(void)err_set(e, errno, "set the permissions of %s", name);
		return TREE_FAILED;
	}
	return result;
}

static enum tree_result copy_entries(int from, int to, unsigned depth, struct tree_room *room,
				     struct err *e)
{
	cleanup_dir DIR *entries = open_entries(from, e);
	enum tree_result result = TREE_DONE;

	if (entries == NULL)
		return TREE_LEFT_OUT;
	for (struct dirent *d; result == TREE_DONE && (d = readdir(entries)) != NULL;)
		if (!is_dot(d->d_name))
			result = copy_tree(from, d->d_name, to, d->d_name, depth + 1, room, e);
	return result;
}

static enum tree_result copy_folder(int from, mode_t mode, int to, const char *name, unsigned depth,
				    struct tree_room *room, struct err *e)
{
	cleanup_fd int fd = -1;
	enum tree_result result;

	if (depth == COPY_DEPTH_MAX)
		return leave_out(e, E2BIG, "it is too deep");
	if (mkdirat(to, name, 0700) < 0 ||
	    (fd = openat(to, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0) {
		(void)err_set(e, errno, "make folder %s", name);
		return TREE_FAILED;
	}
	result = copy_entries(from, fd, depth, room, e);
	if (result == TREE_DONE && fchmod(fd, (mode & 0777) | 0700) < 0) {
		(void)err_set(e, errno, "set the permissions of %s", name);
		return TREE_FAILED;
	}
	return result;
}

/* Inside a folder a link is left out alone; sockets and the like are nobody's to keep. */
static enum tree_result copy_tree(int from, const char *path, int to, const char *name,
				  unsigned depth, struct tree_room *room, struct err *e)
{
	cleanup_fd int fd = tree_open(from, path, O_PATH | O_NOFOLLOW, e);
	struct stat st;

	if (fd < 0)
		return leave_out(e, e->code, e->code == ELOOP ? "a link" : "it can't be read");
	if (fstat(fd, &st) < 0)
		return leave_out(e, errno, "it can't be read");
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		room->links += depth > 0 && S_ISLNK(st.st_mode);
		return depth > 0 ? TREE_DONE
				 : leave_out(e, ELOOP, "it is neither a file nor a folder");
	}
	if (room->entries == 0)
		return leave_out(e, E2BIG, "it has too many files");
	room->entries--;
	close_p(&fd);
	fd = tree_open(from, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW, e);
	if (fd < 0 || fstat(fd, &st) < 0)
		return leave_out(e, EACCES, "it can't be read");
	return S_ISDIR(st.st_mode) ? copy_folder(fd, st.st_mode, to, name, depth, room, e)
				   : copy_file(fd, st.st_mode, to, name, room, e);
}

/**
 * tree_copy() - Copy a file, or a folder with what is in it
 * @from:	Folder
 * @path:	What to copy, relative to @from
 * @to:		Folder
 * @name:	Of the copy; it is not there yet
 * @room:	How much it may be; less afterwards
 * @e:		Set unless all went well, with errno as its code; E2BIG: @room is not enough
 *
 * Keeps permissions, but for those to execute and set-id.  What there is of the copy is the
 * caller's to remove.
 *
 * Return: TREE_DONE on success
 */
enum tree_result tree_copy(int from, const char *path, int to, const char *name,
			   struct tree_room *room, struct err *e)
{
	return copy_tree(from, path, to, name, 0, room, e);
}

/* ---- removing ---- */

/**
 * struct removal - a folder that is being emptied
 * @top:	What is too deep is moved here
 * @moved:	How often that was done
 */
struct removal {
	int top;
	unsigned moved;
};

static int remove_entry(struct removal *r, int dir, const char *name, unsigned depth,
			struct err *e);

static int remove_entries(struct removal *r, int dir, unsigned depth, struct err *e)
{
	cleanup_dir DIR *entries = open_entries(dir, e);

	if (entries == NULL)
		return -1;
	for (struct dirent *d; (d = readdir(entries)) != NULL;)
		if (!is_dot(d->d_name) && remove_entry(r, dir, d->d_name, depth, e) < 0)
			return -1;
	return 0;
}

/* Later, from the top: each level that is open costs a descriptor. */
static int move_up(struct removal *r, int dir, const char *name, struct err *e)
{
	char moved[32];

	/* an agent may have made one of that name */
	do {
		(void)snprintf(moved, sizeof(moved), ".removed-%u", r->moved++);
		if (renameat(dir, name, r->top, moved) == 0)
			return 0;
	} while (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR);
	return err_set(e, errno, "move %s", name);
}

static int remove_entry(struct removal *r, int dir, const char *name, unsigned depth, struct err *e)
{
	cleanup_fd int fd = -1;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return err_set(e, errno, "remove %s", name);
	if (depth == REMOVE_DEPTH_MAX)
		return move_up(r, dir, name, e);
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == EACCES && fchmodat(dir, name, 0700, 0) == 0)
		fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "open %s", name);
	(void)fchmod(fd, 0700);
	if (remove_entries(r, fd, depth + 1, e) < 0)
		return -1;
	if (unlinkat(dir, name, AT_REMOVEDIR) < 0)
		return err_set(e, errno, "remove %s", name);
	return 0;
}

static bool is_empty(int dir)
{
	struct err ignored;
	cleanup_dir DIR *entries = open_entries(dir, &ignored);
	struct dirent *d = NULL;

	while (entries != NULL && (d = readdir(entries)) != NULL && is_dot(d->d_name))
		continue;
	return d == NULL;
}

/**
 * tree_remove() - Remove a file, or a folder with what is in it
 * @dir:	Folder
 * @name:	Entry of @dir; if it isn't there, nothing is done
 * @e:		Set on failure, with errno as its code
 *
 * No other process may change what is removed.  A folder that is a mount point is emptied.
 *
 * Return: 0 on success, -1 on failure
 */
int tree_remove(int dir, const char *name, struct err *e)
{
	cleanup_fd int top = -1;
	struct removal r = { 0 };
	struct stat st;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return err_set(e, errno, "remove %s", name);
	/* an agent may have taken the permission to look into it */
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    (S_ISDIR(st.st_mode) && fchmodat(dir, name, 0700, 0) < 0))
		return err_set(e, errno, "look at %s", name);
	top = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (top < 0)
		return err_set(e, errno, "open %s", name);
	r.top = top;
	do
		if (remove_entries(&r, top, 0, e) < 0)
			return -1;
	while (!is_empty(top));
	if (unlinkat(dir, name, AT_REMOVEDIR) < 0 && errno != EBUSY)
		return err_set(e, errno, "remove %s", name);
	return 0;
}
