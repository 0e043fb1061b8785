/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Carrying a plan out: mounts
 *
 * Each mount is made detached, gets its attributes, and is attached at an fd.  When all are
 * there, each target is opened again by its path and compared with what was mounted: what
 * counts is what the container's own lookup will meet.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "apply.h"
#include "bind.h"
#include "directives.h"
#include "err.h"
#include "libexec.h"
#include "load.h"
#include "manifest.h"
#include "mount.h"
#include "plan.h"
#include "policy.h"
#include "root.h"

#define ATTR_ST (ST_RDONLY | ST_NOSUID | ST_NODEV) /* the same, as statvfs(3) has them */

/* Manifest, policy and profiles have limits of their own; this is for what forgot its limit. */
#define RUN_SIZE "16m"

/* ---- the tmpfs ---- */

static int own(int fd, const struct apply_input *in, struct err *e)
{
	if (fchownat(fd, "", in->owner->uid, in->owner->gid, AT_EMPTY_PATH) < 0)
		return err_set(e, errno, "set the owner");
	return 0;
}

/* A new file of the tmpfs, to be written with stdio. */
static FILE *create(int dir, const char *name, const struct apply_input *in, struct err *e)
{
	cleanup_fd int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	FILE *f;

	if (fd < 0) {
		(void)err_set(e, errno, "make %s", name);
		return NULL;
	}
	if (own(fd, in, e) < 0) {
		(void)err_wrap(e, "%s", name);
		return NULL;
	}
	f = fdopen(fd, "w");
	if (f == NULL)
		(void)err_set(e, errno, "open %s", name);
	else
		(void)steal_fd(&fd);
	return f;
}

/* Writes what is left of @f, which it closes, also on failure; @max is the readers' limit. */
static int finish(FILE *f, const char *name, long max, struct err *e)
{
	bool failed = fflush(f) != 0 || ferror(f) != 0;
	long size = ftell(f);

	if (fclose(f) != 0 || failed || size < 0)
		return err_set(e, errno, "write %s", name);
	if (size > max)
		return err_set(e, EFBIG, "%s would have %ld bytes, and %ld is the most", name, size,
			       max);
	return 0;
}

static int make_dir(int dir, const char *name, const struct apply_input *in, struct err *e)
{
	cleanup_fd int fd = -1;

	if (mkdirat(dir, name, 0755) < 0)
		return err_set(e, errno, "make %s", name);
	fd = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "open %s", name);
	if (own(fd, in, e) < 0)
		return err_wrap(e, "%s", name);
	return steal_fd(&fd);
}

static int fill_profiles(int run, const struct apply_input *in, struct err *e)
{
	cleanup_fd int dir = make_dir(run, "profiles", in, e);

	if (dir < 0)
		return -1;
	for (size_t i = 0; i < in->profiles->n; i++) {
		cleanup_free char *name = NULL;
		FILE *f;

		if (asprintf(&name, "%s.conf", in->profiles->v[i].profile.name) < 0) {
			name = NULL;
			return err_set(e, ENOMEM, "allocate a name");
		}
		f = create(dir, name, in, e);
		if (f == NULL)
			return -1;
		(void)fputs(in->profiles->v[i].text, f);
		if (finish(f, name, DIRECTIVES_MAX_BYTES, e) < 0)
			return -1;
	}
	return 0;
}

/* An empty file for each agent to be mounted on. */
static int fill_agents(int run, const struct apply_input *in, struct err *e)
{
	cleanup_fd int dir = make_dir(run, "agents", in, e);

	if (dir < 0)
		return -1;
	for (size_t i = 0; i < in->plan->n_ops; i++) {
		const struct hook_op *op = &in->plan->ops[i];
		FILE *f;

		if (op->kind != HOOK_OP_AGENT)
			continue;
		f = create(dir, op->command, in, e);
		if (f == NULL || finish(f, op->command, 0, e) < 0)
			return -1;
	}
	return 0;
}

/* Two empty files for each user, for his agents' namespaces to be mounted on. */
static int fill_namespaces(int run, const struct apply_input *in, struct err *e)
{
	const struct manifest *m = &in->plan->manifest;
	cleanup_fd int dir = make_dir(run, "ns", in, e);

	if (dir < 0)
		return -1;
	for (size_t i = 0; i < m->n_users; i++) {
		cleanup_fd int user = -1;
		char name[16];
		FILE *f;

		(void)snprintf(name, sizeof(name), "%u", m->users[i].uid);
		user = make_dir(dir, name, in, e);
		if (user < 0)
			return -1;
		f = create(user, "user", in, e);
		if (f == NULL || finish(f, "user", 0, e) < 0)
			return -1;
		f = create(user, "net", in, e);
		if (f == NULL || finish(f, "net", 0, e) < 0)
			return -1;
	}
	return 0;
}

static int fill_run(int run, const struct apply_input *in, struct err *e)
{
	cleanup_fd int session = -1;
	FILE *f;

	if (own(run, in, e) < 0)
		return -1;
	f = create(run, "policy.conf", in, e);
	if (f == NULL)
		return -1;
	(void)policy_print(f, in->policy); /* finish() sees the same error */
	if (finish(f, "policy.conf", DIRECTIVES_MAX_BYTES, e) < 0)
		return -1;
	f = create(run, "container", in, e);
	if (f == NULL)
		return -1;
	(void)manifest_print(f, &in->plan->manifest);
	if (finish(f, "container", MANIFEST_MAX_BYTES, e) < 0)
		return -1;
	if (fill_profiles(run, in, e) < 0 || fill_agents(run, in, e) < 0 ||
	    fill_namespaces(run, in, e) < 0)
		return -1;
	session = make_dir(run, "session", in, e);
	return session < 0 ? -1 : 0;
}

/* ---- operations: each returns the mount that it attached ---- */

/* Opens a folder of ours, which is made if it isn't there.  A symlink in its place is not ours. */
static int open_own_dir(const char *path, const struct apply_input *in, struct err *e)
{
	cleanup_free char *parent = strdup(path);
	cleanup_fd int up = -1;
	char *name;
	int fd;

	if (parent == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	name = strrchr(parent, '/');
	*name++ = '\0';
	up = root_mkdirs(in->root, parent, 0755, in->owner, e);
	if (up < 0)
		return -1;
	fd = root_open_nofollow(up, name, O_PATH | O_DIRECTORY, e);
	if (fd < 0 && e->code == ENOENT)
		fd = root_mkdirs(up, path + (name - parent) - 1, 0755, in->owner, e);
	return fd;
}

static int mount_libexec(const struct hook_op *op, const struct apply_input *in, struct err *e)
{
	cleanup_fd int target = open_own_dir(op->target, in, e);
	int mnt;

	if (target < 0 || bind_attach(in->libexec, target, in->mountinfo, e) < 0)
		return -1;
	mnt = fcntl(in->libexec, F_DUPFD_CLOEXEC, 0);
	return mnt < 0 ? err_set(e, errno, "duplicate a mount") : mnt;
}

static int mount_run(const struct hook_op *op, const struct apply_input *in, struct err *e)
{
	cleanup_fd int mnt = mount_tmpfs(0755, RUN_SIZE, e);
	cleanup_fd int target = -1;

	if (mnt < 0 || fill_run(mnt, in, e) < 0 || mount_set(mnt, BIND_ATTR, false, e) < 0)
		return -1;
	target = open_own_dir(op->target, in, e);
	if (target < 0 || bind_attach(mnt, target, in->mountinfo, e) < 0)
		return -1;
	return steal_fd(&mnt);
}

static int mount_agent(const struct hook_op *op, const struct apply_input *in, struct err *e)
{
	cleanup_fd int mnt = bind_clone(op->fd, e);
	cleanup_fd int target = -1;

	if (mnt < 0)
		return -1;
	target = root_open(in->root, op->target, O_PATH, e);
	if (target < 0 || bind_attach(mnt, target, in->mountinfo, e) < 0)
		return -1;
	return steal_fd(&mnt);
}

/* Of the folder that is attached by now: a mount of another namespace can't be cloned. */
static int clone_program(const struct apply_input *in, const char *name, struct err *e)
{
	cleanup_fd int fd = openat(in->libexec, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return err_set(e, errno, "open the program %s", name);
	return bind_clone(fd, e);
}

static int mount_cover(const struct hook_op *op, const struct apply_input *in, struct err *e)
{
	cleanup_fd int mnt = clone_program(in, op->program, e);

	if (mnt < 0 || bind_attach(mnt, op->fd, in->mountinfo, e) < 0)
		return -1;
	return steal_fd(&mnt);
}

static int mount_name(const struct hook_op *op, const struct apply_input *in, struct err *e)
{
	cleanup_fd int mnt = clone_program(in, op->program, e);
	cleanup_fd int target = -1;

	if (mnt < 0)
		return -1;
	/* The survey saw nothing there; what has come since is not what was planned */
	target = root_mkfile(op->fd, op->command, 0644, in->owner, e);
	if (target < 0 || bind_attach(mnt, target, in->mountinfo, e) < 0)
		return -1;
	return steal_fd(&mnt);
}

static int (*const mounters[])(const struct hook_op *, const struct apply_input *, struct err *) = {
	[HOOK_OP_LIBEXEC] = mount_libexec, [HOOK_OP_RUN] = mount_run,
	[HOOK_OP_AGENT] = mount_agent,     [HOOK_OP_COVER] = mount_cover,
	[HOOK_OP_NAME] = mount_name,
};

/* ---- reading back ---- */

static int verify(const struct hook_op *op, const struct survey_id *want,
		  const struct apply_input *in, struct err *e)
{
	cleanup_fd int fd = root_open(in->root, op->target, O_PATH, e);
	struct survey_id is;
	struct statvfs st;

	if (fd < 0 || survey_identify(fd, &is, e) < 0)
		return -1;
	if (!survey_same(&is, want))
		return err_set(e, 0, "its path does not lead to what was mounted");
	if (fstatvfs(fd, &st) < 0)
		return err_set(e, errno, "look at the mount");
	if ((st.f_flag & ATTR_ST) != ATTR_ST)
		return err_set(e, 0, "the mount is not read-only, nosuid and nodev");
	return 0;
}

/**
 * apply_mounts() - Carry out the mounts of a plan, and read them back
 * @in:		Plan, and what it needs
 * @e:		Set on failure
 *
 * To be called in the container's mount namespace.  What is attached already stays when a later
 * mount fails: it goes with the container, which must not start then.
 *
 * Return: 0 on success, -1 on failure
 */
int apply_mounts(const struct apply_input *in, struct err *e)
{
	cleanup_free struct survey_id *done = calloc(in->plan->n_ops, sizeof(*done));

	if (done == NULL)
		return err_set(e, ENOMEM, "allocate the mounts");
	for (size_t i = 0; i < in->plan->n_ops; i++) {
		const struct hook_op *op = &in->plan->ops[i];
		cleanup_fd int mnt = mounters[op->kind](op, in, e);

		if (mnt < 0 || survey_identify(mnt, &done[i], e) < 0)
			return err_wrap(e, "mount on %s in the container", op->target);
	}
	for (size_t i = 0; i < in->plan->n_ops; i++)
		if (verify(&in->plan->ops[i], &done[i], in, e) < 0)
			return err_wrap(e, "read back %s in the container",
					in->plan->ops[i].target);
	return 0;
}
