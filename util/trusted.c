/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Files that programs of ours may obey
 *
 * Whoever can write the policy, a profile or the shim decides what runs in every container.
 * So each is used only if it, and each folder and symlink on the way to it, belongs to someone
 * who could do as he likes anyway, and nobody else can write it.  The way is gone step by step
 * from one open folder to the next: what was checked is what is used.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "trusted.h"

#define OVERFLOW_UID 65534 /* Linux's default, which nobody changes: kernel/sys.c */
#define MAX_LINKS 40       /* path_resolution(7) */

/**
 * struct way - how far a path has been gone
 * @path:	The whole of it, for errors; borrowed
 * @at:		Folder, trusted; owned
 * @rest:	What is left of the path
 * @links:	Symlinks that were followed
 */
struct way {
	const char *path;
	int at;
	char rest[PATH_MAX];
	unsigned links;
};

static void way_done(struct way *w)
{
	close_p(&w->at);
}

/* A symlink that dangles is something: only without one is it "there is nothing". */
static int fail(const struct way *w, int code, struct err *e)
{
	(void)err_set(e, code, "open %s%s", w->path, w->links > 0 ? ", through a symlink" : "");
	if (w->links > 0)
		e->code = 0;
	return -1;
}

/*
 * In a sticky folder nobody can replace what others own, and what he puts there himself belongs
 * to him.  In a user namespace that does not help: all who are not mapped look like the owner
 * of "/".
 */
static bool is_sticky(const struct stat *st, const struct stat *root)
{
	return S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX) != 0 && root->st_uid != OVERFLOW_UID;
}

/* What is wrong with an open file, by the name that it has now. */
static int refuse(const struct way *w, int fd, const struct stat *st, bool owner, struct err *e)
{
	char link[64], name[PATH_MAX] = "";

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (readlink(link, name, sizeof(name) - 1) <= 0)
		(void)snprintf(name, sizeof(name), "%s", w->path);
	if (owner)
		(void)err_set(e, 0, "%s belongs to uid %u (chown it to root)", name,
			      (unsigned)st->st_uid);
	else
		(void)err_set(e, 0, "%s can be written by others (chmod go-w %s)", name, name);
	return strcmp(name, w->path) == 0 ? -1 : err_wrap(e, "%s", w->path);
}

/*
 * The hook's own user, and the owner of "/": for the hook of a rootless engine, which runs in
 * a user namespace, the host's root is the overflow uid.  The mode of a symlink means nothing.
 */
static int check(const struct way *w, int fd, const struct stat *st, struct err *e)
{
	struct stat root;

	if (stat("/", &root) < 0)
		return err_set(e, errno, "look at /");
	if (st->st_uid != geteuid() && st->st_uid != root.st_uid)
		return refuse(w, fd, st, true, e);
	if (!S_ISLNK(st->st_mode) && (st->st_mode & (S_IWGRP | S_IWOTH)) != 0 &&
	    !is_sticky(st, &root))
		return refuse(w, fd, st, false, e);
	return 0;
}

static int start(struct way *w, const char *rest, struct err *e)
{
	cleanup_fd int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (top < 0 || fstat(top, &st) < 0)
		return err_set(e, errno, "open /");
	if (check(w, top, &st, e) < 0)
		return -1;
	if (strlen(rest) >= sizeof(w->rest))
		return fail(w, ENAMETOOLONG, e);
	memcpy(w->rest, rest, strlen(rest) + 1);
	close_p(&w->at);
	w->at = steal_fd(&top);
	return 0;
}

/* Cuts the next component off the rest: "." where there is none. */
static void next_name(struct way *w, char name[PATH_MAX], bool *ret_last)
{
	const char *p = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(p, "/");

	memcpy(name, n == 0 ? "." : p, n == 0 ? 1 : n);
	name[n == 0 ? 1 : n] = '\0';
	p += n;
	p += strspn(p, "/");
	*ret_last = *p == '\0';
	memmove(w->rest, p, strlen(p) + 1);
}

static int follow(struct way *w, int link, struct err *e)
{
	char path[2 * PATH_MAX];
	ssize_t n = readlinkat(link, "", path, PATH_MAX);

	if (n < 0)
		return fail(w, errno, e);
	w->links++;
	(void)snprintf(path + n, sizeof(path) - (size_t)n, "/%s", w->rest);
	if (w->links > MAX_LINKS || strlen(path) >= sizeof(w->rest))
		return fail(w, w->links > MAX_LINKS ? ELOOP : ENAMETOOLONG, e);
	if (path[0] == '/')
		return start(w, path, e);
	memcpy(w->rest, path, strlen(path) + 1);
	return 0;
}

/* The file at the end, which is in a trusted folder, opened as the caller wants it. */
static int open_last(const struct way *w, const char *name, int flags, mode_t type, struct err *e)
{
	cleanup_fd int fd =
		openat(w->at, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return fail(w, errno, e);
	if ((st.st_mode & S_IFMT) != type)
		return err_set(e, 0, "%s is not a %s", w->path,
			       type == S_IFDIR ? "folder" : "regular file");
	if (check(w, fd, &st, e) < 0)
		return -1;
	return steal_fd(&fd);
}

/* One component: @ret_fd is what the caller wanted once that is reached, -1 until then. */
static int step(struct way *w, int flags, mode_t type, int *ret_fd, struct err *e)
{
	cleanup_fd int fd = -1;
	char name[PATH_MAX];
	struct stat st;
	bool last;

	next_name(w, name, &last);
	fd = openat(w->at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return fail(w, errno, e);
	if (S_ISLNK(st.st_mode) && !(last && (flags & O_NOFOLLOW) != 0))
		return check(w, fd, &st, e) < 0 ? -1 : follow(w, fd, e);
	if (last) {
		*ret_fd = open_last(w, name, flags, type, e);
		return *ret_fd < 0 ? -1 : 0;
	}
	if (check(w, fd, &st, e) < 0)
		return -1;
	close_p(&w->at);
	w->at = steal_fd(&fd);
	return 0;
}

/**
 * trusted_open() - Open a file or folder of the host that the hook may obey
 * @path:	Absolute path; symlinks are followed
 * @flags:	As open(2); O_CLOEXEC and what keeps open(2) from waiting are implied.  With
 *		O_NOFOLLOW a symlink at the end is refused.
 * @type:	S_IFREG or S_IFDIR: anything else is refused
 * @e:		Set on failure, with errno ENOENT as its code if there is nothing: a symlink that
 *		dangles is something
 *
 * Return: fd owned by the caller, -1 on failure
 */
int trusted_open(const char *path, int flags, mode_t type, struct err *e)
{
	CLEANUP(way_done) struct way w = { .path = path, .at = -1 };
	int fd = -1;

	if (start(&w, path, e) < 0)
		return -1;
	while (fd < 0)
		if (step(&w, flags, type, &fd, e) < 0)
			return -1;
	return fd;
}
