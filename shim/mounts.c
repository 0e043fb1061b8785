/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Carrying out a plan: the sandbox's file systems
 *
 * Runs as the sandbox's first process, with all capabilities in the sandbox's user namespace
 * and a mount namespace of its own.  Three stages:
 *
 *   sources	every bind mount that the plan takes from the container is made, detached
 *		Mustn't: change anything yet, so that no source is seen through an earlier step
 *   steps	in order, each at an fd below the new root
 *		Should: stop at the first failure; half a plan is no sandbox
 *   pivot	the new root becomes "/", the container's goes
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "err.h"
#include "io.h"
#include "mount.h"
#include "mounts.h"
#include "path.h"
#include "plan.h"
#include "plan_ops.h"
#include "root.h"
#include "store.h"

#define EMPTY_FILE "/empty"

/**
 * struct build - a plan being carried out
 * @root:	Mount fd of the new root
 * @empty:	Mount fd of a tmpfs with one file that nobody can read
 * @sources:	A detached mount for each step, -1 where it has none or it isn't there
 * @n:		How many
 */
struct build {
	int root;
	int empty;
	int *sources;
	size_t n;
};

static void build_done(struct build *b)
{
	for (size_t i = 0; i < b->n; i++)
		close_p(&b->sources[i]);
	free(b->sources);
	close_p(&b->root);
	close_p(&b->empty);
}

/* ---- sources ---- */

/* The container's path as an fd: what was resolved once mustn't lead elsewhere now. */
static int open_resolved(const char *path, struct err *e)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	if (fd < 0)
		return err_set(e, errno, "open %s", path);
	return fd;
}

static int clone_resolved(const char *path, struct err *e)
{
	cleanup_fd int fd = open_resolved(path, e);

	return fd < 0 ? -1 : mount_clone(fd, "", true, e);
}

/* A mount of what the step takes from the container; -1 and no error: it takes nothing. */
static int open_source(const struct op *op, struct err *e)
{
	int fd = -1;

	e->code = 0;
	if (op->kind == OP_BIND_RW || op->kind == OP_OVERLAY)
		fd = clone_resolved(op->source, e);
	else if (op->kind == OP_ROOT || op->kind == OP_PROC || op->kind == OP_DEVICE ||
		 (op->kind == OP_BIND && (op->flags & OP_FROM_NEW) == 0))
		fd = mount_clone(AT_FDCWD, op->source, true, e);

	if (fd < 0 && (op->flags & OP_OPTIONAL) != 0 && (e->code == ENOENT || e->code == ENOTDIR))
		e->code = 0;
	return fd;
}

static int open_sources(struct build *b, const struct plan *p, struct err *e)
{
	b->sources = calloc(p->n, sizeof(*b->sources));
	if (b->sources == NULL)
		return err_set(e, ENOMEM, "allocate the plan's mounts");
	for (b->n = 0; b->n < p->n; b->n++) {
		const struct op *op = &p->v[b->n];

		b->sources[b->n] = open_source(op, e);
		if (b->sources[b->n] < 0 && e->code != 0)
			return err_wrap(e, "%s %s", op_name(op->kind), op->target);
	}
	return 0;
}

/* ---- steps ---- */

/* From what the kernel knows already: a file system whose server is gone would never answer. */
static bool is_dir(int fd)
{
	struct statx st;

	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &st) == 0 &&
	       S_ISDIR(st.stx_mode);
}

/* Opens where a mount goes, and makes it where it can: in a tmpfs of the sandbox. */
static int open_target(const struct build *b, const char *path, bool dir, struct err *e)
{
	cleanup_free char *parent = NULL;
	cleanup_fd int fd = -1;

	if (dir)
		return root_mkdirs(b->root, path, 0755, NULL, e);

	fd = root_open(b->root, path, O_PATH, e);
	if (fd >= 0 || e->code != ENOENT)
		return steal_fd(&fd);
	parent = strndup(path, (size_t)(strrchr(path, '/') - path));
	if (parent == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	fd = root_mkdirs(b->root, parent[0] != '\0' ? parent : "/", 0755, NULL, e);
	if (fd < 0)
		return -1;
	close_p(&fd);
	fd = -1;
	return root_mkfile(b->root, path, 0444, NULL, e);
}

static int attach(const struct build *b, int mnt, const char *path, struct err *e)
{
	cleanup_fd int target = open_target(b, path, is_dir(mnt), e);

	return target < 0 ? -1 : mount_attach(mnt, target, e);
}

/* Any folder that each container has would do: it goes with the container's root. */
static int do_root(struct build *b, int *source, struct err *e)
{
	cleanup_fd int place = open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (place < 0)
		return err_set(e, errno, "open /dev");
	if (mount_set(*source, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID, true, e) < 0 ||
	    mount_attach(*source, place, e) < 0)
		return -1;
	b->root = steal_fd(source);
	return 0;
}

/* A place that the container doesn't have needs no hiding, and can't be made. */
static int do_tmpfs(const struct build *b, const struct op *op, struct err *e)
{
	cleanup_fd int target = open_target(b, op->target, true, e);
	cleanup_fd int mnt = -1;

	if (target < 0)
		return e->code == EROFS ? 0 : -1;
	mnt = mount_tmpfs(op->mode, "50%", e);
	if (mnt < 0 || mount_set(mnt, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, false, e) < 0)
		return -1;
	return mount_attach(mnt, target, e);
}

/* Where agents write, a symlink on the way would choose another place. */
static int attach_no_links(const struct build *b, int mnt, const char *path, struct err *e)
{
	cleanup_fd int target = root_open_no_links(b->root, path, O_PATH, e);

	return target < 0 ? -1 : mount_attach(mnt, target, e);
}

static int do_bind(const struct build *b, const struct op *op, int source, struct err *e)
{
	uint64_t attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

	if (source < 0)
		return 0;
	if (op->kind == OP_BIND)
		attr |= MOUNT_ATTR_RDONLY;
	if (op->kind == OP_DEVICE)
		attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC;
	if (mount_set(source, attr, true, e) < 0)
		return -1;
	if ((op->flags & OP_NO_LINKS) != 0)
		return attach_no_links(b, source, op->target, e);
	return attach(b, source, op->target, e);
}

static int do_bind_from_new(const struct build *b, const struct op *op, struct err *e)
{
	cleanup_fd int fd = root_open(b->root, op->source, O_PATH, e);
	cleanup_fd int mnt = fd < 0 ? -1 : mount_clone(fd, "", false, e);

	return mnt < 0 ? -1 : do_bind(b, op, mnt, e);
}

/* ---- overlay ---- */

/* What may not be run where it is may not be run through an overlay of it. */
static bool is_noexec(int fd)
{
	struct statvfs s;

	return fstatvfs(fd, &s) < 0 || (s.f_flag & ST_NOEXEC) != 0;
}

/*
 * The folders by their descriptors: in an option's path some characters mean something.  They are
 * in this mount namespace, as the kernel wants it, and not in the detached source.
 */
static int make_overlay(const struct op *op, struct err *e)
{
	cleanup_free char *upper_path = path_join(op->store, STORE_UPPER, e);
	cleanup_free char *work_path = path_join(op->store, STORE_WORK, e);
	char lowerdir[32], upperdir[32], workdir[32];
	const char *const options[] = { "lowerdir", lowerdir,    "upperdir", upperdir, "workdir",
					workdir,    "userxattr", NULL,       NULL };
	cleanup_fd int lower = -1, upper = -1, work = -1, mnt = -1;
	uint64_t attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;

	if (upper_path == NULL || work_path == NULL || (lower = open_resolved(op->source, e)) < 0 ||
	    (upper = open_resolved(upper_path, e)) < 0 || (work = open_resolved(work_path, e)) < 0)
		return -1;
	(void)snprintf(lowerdir, sizeof(lowerdir), "/proc/self/fd/%d", lower);
	(void)snprintf(upperdir, sizeof(upperdir), "/proc/self/fd/%d", upper);
	(void)snprintf(workdir, sizeof(workdir), "/proc/self/fd/%d", work);
	if (is_noexec(lower) || is_noexec(upper))
		attr |= MOUNT_ATTR_NOEXEC;
	mnt = mount_fs("overlay", options, e);
	if (mnt < 0 || mount_set(mnt, attr, false, e) < 0)
		return -1;
	return steal_fd(&mnt);
}

/* Not each kernel and not each file system can have one; and none has mounts below it. */
static int do_overlay(const struct build *b, const struct op *op, int source, struct err *e)
{
	struct err why;
	cleanup_fd int mnt = make_overlay(op, &why);

	if (mnt >= 0)
		return attach(b, mnt, op->target, e);
	if (mount_set(source, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, true, e) <
	    0)
		return -1;
	return attach(b, source, op->target, e);
}

/* ---- more steps ---- */

static int do_devpts(const struct build *b, const struct op *op, struct err *e)
{
	static const char *const options[] = { "newinstance", NULL,   "ptmxmode", "0666",
					       "mode",        "0620", NULL };
	cleanup_fd int mnt = mount_fs("devpts", options, e);

	if (mnt < 0 || mount_set(mnt, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, false, e) < 0)
		return -1;
	return attach(b, mnt, op->target, e);
}

/*
 * The kernel refuses a new proc while the container's own is partly covered.  The container's
 * shows its processes' names, but by ptrace(2)'s rules nothing of theirs that matters.  It
 * stays writable: nested sandboxes write their id maps there.
 */
static int do_proc(const struct build *b, const struct op *op, int source, struct err *e)
{
	static const char *const options[] = { NULL };
	const uint64_t attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
	cleanup_fd int mnt = mount_fs("proc", options, e);

	if (mnt >= 0)
		return mount_set(mnt, attr, false, e) < 0 ? -1 : attach(b, mnt, op->target, e);
	if (e->code != EPERM && e->code != EACCES)
		return -1;
	if (mount_set(source, attr, true, e) < 0)
		return -1;
	return attach(b, source, op->target, e);
}

/* Hides what is at an fd: a folder behind an empty one, anything else behind an empty file. */
static int mask_fd(const struct build *b, int target, struct err *e)
{
	const uint64_t attr =
		MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
	cleanup_fd int mnt = -1, file = -1;

	if (is_dir(target)) {
		mnt = mount_tmpfs(0755, "4k", e);
	} else {
		file = root_open(b->empty, EMPTY_FILE, O_PATH, e);
		mnt = file < 0 ? -1 : mount_clone(file, "", false, e);
	}
	if (mnt < 0 || mount_set(mnt, attr, false, e) < 0)
		return -1;
	return mount_attach(mnt, target, e);
}

static bool is_missing(const struct err *e)
{
	return e->code == ENOENT || e->code == ENOTDIR;
}

static int do_mask(const struct build *b, const struct op *op, struct err *e)
{
	cleanup_fd int target = root_open(b->root, op->target, O_PATH, e);

	if (target < 0)
		return is_missing(e) ? 0 : -1;
	return mask_fd(b, target, e);
}

/* What is at @fd, as a mount on @place; a file that shall stay in place is read-only too. */
static int remount_at(int fd, int place, enum op_kind kind, struct err *e)
{
	cleanup_fd int mnt = mount_clone(fd, "", true, e);

	if (mnt < 0)
		return -1;
	if ((kind == OP_READONLY || !is_dir(fd)) && mount_set(mnt, MOUNT_ATTR_RDONLY, true, e) < 0)
		return -1;
	return mount_attach(mnt, place, e);
}

/*
 * What a symlink leads to is made read-only, and the symlink itself is covered, so that nothing
 * else can be put in its place.  A folder can't be mounted on a symlink: what covers it is an
 * empty file then, and inside the sandbox there are no hooks, say.  A symlink that leads nowhere
 * is covered as well: what it names could be made later.
 */
static int do_symlink_in_place(const struct build *b, const struct op *op, int place, struct err *e)
{
	cleanup_fd int fd = root_open(b->root, op->target, O_PATH, e);

	if (fd < 0)
		return mask_fd(b, place, e);
	if (op->kind == OP_PIN && is_dir(fd))
		return err_set(
			e, 0,
			"a symlink to a folder can't be kept in its place: take what is below "
			"it out of `protect` in the policy, or make it a folder");
	if (remount_at(fd, fd, op->kind, e) < 0)
		return -1;
	return is_dir(fd) ? mask_fd(b, place, e) : remount_at(fd, place, op->kind, e);
}

static int do_in_place(const struct build *b, const struct op *op, struct err *e)
{
	cleanup_fd int place = root_open_nofollow(b->root, op->target, O_PATH, e);
	struct stat st;

	if (place < 0)
		return is_missing(e) ? 0 : -1;
	if (fstat(place, &st) < 0)
		return err_set(e, errno, "stat %s", op->target);
	if (S_ISLNK(st.st_mode))
		return do_symlink_in_place(b, op, place, e);
	return remount_at(place, place, op->kind, e);
}

static int do_file(const struct build *b, const struct op *op, struct err *e)
{
	cleanup_fd int fd =
		root_open(b->root, op->target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, e);

	if (fd < 0 || write_all(fd, op->source, strlen(op->source), e) < 0)
		return -1;
	if (fchmod(fd, op->mode) < 0)
		return err_set(e, errno, "set permissions");
	return 0;
}

static int do_symlink(const struct build *b, const struct op *op, struct err *e)
{
	const char *name = strrchr(op->target, '/') + 1;
	cleanup_free char *dir = strndup(op->target, (size_t)(name - op->target));
	cleanup_fd int fd = -1;

	if (dir == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	fd = root_open(b->root, dir, O_PATH | O_DIRECTORY, e);
	if (fd < 0)
		return -1;
	if (symlinkat(op->source, fd, name) < 0)
		return err_set(e, errno, "make the symlink");
	return 0;
}

static int do_seal(const struct build *b, const struct op *op, struct err *e)
{
	cleanup_fd int fd = root_open(b->root, op->target, O_PATH, e);

	if (fd < 0)
		return (op->flags & OP_OPTIONAL) != 0 && is_missing(e) ? 0 : -1;
	return mount_set(fd, MOUNT_ATTR_RDONLY, false, e);
}

static int do_dir(const struct build *b, const struct op *op, struct err *e)
{
	cleanup_fd int fd = root_mkdirs(b->root, op->target, op->mode, NULL, e);

	return fd < 0 ? -1 : 0;
}

static int do_step(struct build *b, const struct op *op, int *source, struct err *e)
{
	switch (op->kind) {
	case OP_ROOT:
		return do_root(b, source, e);
	case OP_TMPFS:
		return do_tmpfs(b, op, e);
	case OP_BIND:
		if ((op->flags & OP_FROM_NEW) != 0)
			return do_bind_from_new(b, op, e);
		return do_bind(b, op, *source, e);
	case OP_OVERLAY:
		return do_overlay(b, op, *source, e);
	case OP_BIND_RW:
	case OP_DEVICE:
		return do_bind(b, op, *source, e);
	case OP_DEVPTS:
		return do_devpts(b, op, e);
	case OP_PROC:
		return do_proc(b, op, *source, e);
	case OP_READONLY:
	case OP_PIN:
		return do_in_place(b, op, e);
	case OP_MASK:
		return do_mask(b, op, e);
	case OP_DIR:
		return do_dir(b, op, e);
	case OP_FILE:
		return do_file(b, op, e);
	case OP_SYMLINK:
		return do_symlink(b, op, e);
	case OP_SEAL:
		return do_seal(b, op, e);
	}
	return err_set(e, EINVAL, "unknown step");
}

/* ---- the whole ---- */

static int make_empty(struct build *b, struct err *e)
{
	cleanup_fd int file = -1;

	b->empty = mount_tmpfs(0755, "4k", e);
	if (b->empty < 0)
		return -1;
	file = root_mkfile(b->empty, EMPTY_FILE, 0, NULL, e);
	return file < 0 ? -1 : 0;
}

/* pivot_root(2), "NOTES": with both on the new root, the old one is stacked on top of it. */
static int pivot(const struct build *b, struct err *e)
{
	if (fchdir(b->root) < 0)
		return err_set(e, errno, "enter the new root");
	if (syscall(SYS_pivot_root, ".", ".") < 0)
		return err_set(e, errno, "pivot_root");
	if (umount2(".", MNT_DETACH) < 0)
		return err_set(e, errno, "leave the container's root");
	if (chdir("/") < 0)
		return err_set(e, errno, "enter the new root");
	return 0;
}

/**
 * mounts_apply() - Carry out a plan in the current mount namespace, and make it the root
 * @p:		Plan; its first step is OP_ROOT
 * @e:		Set on failure
 *
 * The caller is the only process in the namespace, which is worth nothing after a failure.
 *
 * Return: 0 on success, -1 on failure
 */
int mounts_apply(const struct plan *p, struct err *e)
{
	CLEANUP(build_done) struct build b = { .root = -1, .empty = -1 };

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_set(e, errno, "cut the mounts off from the container's");
	if (open_sources(&b, p, e) < 0 || make_empty(&b, e) < 0)
		return -1;
	for (size_t i = 0; i < p->n; i++)
		if (do_step(&b, &p->v[i], &b.sources[i], e) < 0)
			return err_wrap(e, "%s %s", op_name(p->v[i].kind), p->v[i].target);
	return pivot(&b, e);
}
