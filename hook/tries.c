/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What the host's kernel has to be able to do
 *
 * Versions and configurations say little: a security module, a seccomp filter or a sysctl may
 * refuse what the kernel has.  So each thing is done, with the functions that a container's
 * start uses.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bind.h"
#include "cleanup.h"
#include "err.h"
#include "io.h"
#include "mount.h"
#include "namespaces.h"
#include "nft.h"
#include "root.h"
#include "ruleset.h"
#include "tries.h"

#define NOBODY 65534 /* the overflow uid: a user who has nothing */

/* ---- namespaces of our own ---- */

static int write_map(const char *path, const char *text, struct err *e)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set(e, errno, "open %s", path);
	return write_all(fd, text, strlen(text), e) < 0 ? err_wrap(e, "%s", path) : 0;
}

/* Appear as @inside in the new user namespace: the one id that anybody may map is his own. */
static int map_self(unsigned inside, unsigned uid, unsigned gid, struct err *e)
{
	char line[64];

	(void)snprintf(line, sizeof(line), "%u %u 1", inside, uid);
	if (write_map("/proc/self/setgroups", "deny", e) < 0 ||
	    write_map("/proc/self/uid_map", line, e) < 0)
		return -1;
	(void)snprintf(line, sizeof(line), "%u %u 1", inside, gid);
	return write_map("/proc/self/gid_map", line, e);
}

/* New namespaces in which this process is root. */
static int become_root(int flags, struct err *e)
{
	unsigned uid = geteuid(), gid = getegid();

	if (uid != 0)
		flags |= CLONE_NEWUSER;
	if (unshare(flags) < 0)
		return err_set(e, errno, "new namespaces");
	if (uid != 0 && map_self(0, uid, gid, e) < 0)
		return -1;
	if ((flags & CLONE_NEWNS) != 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_set(e, errno, "make mounts private");
	return 0;
}

/* ---- openat2 ---- */

int try_openat2(const struct hook_paths *paths, struct err *e)
{
	cleanup_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int fd = -1;

	(void)paths;
	if (root < 0)
		return err_set(e, errno, "open /");
	fd = root_open(root, "..", O_PATH | O_DIRECTORY, e);
	return fd < 0 ? -1 : 0;
}

/* ---- mounts ---- */

static int make_file(int dir, struct err *e)
{
	cleanup_fd int fd = openat(dir, "file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 || symlinkat("nowhere", dir, "link") < 0)
		return err_set(e, errno, "make a file and a symlink in a tmpfs");
	return 0;
}

/* The agents of npm are symlinks: the shim goes over the link itself. */
static int cover_link(int dir, struct err *e)
{
	cleanup_fd int file = openat(dir, "file", O_PATH | O_CLOEXEC);
	cleanup_fd int link = openat(dir, "link", O_PATH | O_NOFOLLOW | O_CLOEXEC);
	cleanup_fd int mnt = -1, met = -1;
	struct stat want, is;

	if (file < 0 || link < 0)
		return err_set(e, errno, "open a file and a symlink in a tmpfs");
	mnt = bind_clone(file, e);
	if (mnt < 0 || mount_attach(mnt, link, e) < 0)
		return -1;
	met = openat(dir, "link", O_RDONLY | O_CLOEXEC);
	if (met < 0 || fstat(met, &is) < 0 || fstat(file, &want) < 0)
		return err_set(e, errno, "open a symlink that is covered");
	if (is.st_ino != want.st_ino)
		return err_set(e, 0, "a mount on a symlink is not met");
	return 0;
}

int try_mounts(const struct hook_paths *paths, struct err *e)
{
	cleanup_fd int target = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int mnt = -1;

	(void)paths;
	if (target < 0)
		return err_set(e, errno, "open /proc");
	if (become_root(CLONE_NEWNS, e) < 0)
		return -1;
	mnt = mount_tmpfs(0755, "1m", e);
	if (mnt < 0 || make_file(mnt, e) < 0)
		return -1;
	/* opened again, in the new namespace */
	(void)close(steal_fd(&target));
	target = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (target < 0)
		return err_set(e, errno, "open /proc");
	if (mount_attach(mnt, target, e) < 0 || cover_link(mnt, e) < 0)
		return -1;
	return mount_set(mnt, BIND_ATTR, false, e);
}

/* ---- entering a container's namespaces ---- */

/* In the stand-in for a container: says through @ready that it has its namespaces, and stays. */
static _Noreturn void be_container(int ready)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshare(CLONE_NEWNS | CLONE_NEWNET) == 0 && write(ready, "", 1) == 1)
		for (;;)
			(void)pause();
	_exit(1);
}

static int enter(pid_t pid, int ready, struct err *e)
{
	cleanup_container_ids struct container_ids ids = { .pidfd = -1 };
	char byte;

	if (read(ready, &byte, 1) != 1)
		return err_set(e, 0, "new mount and network namespaces are refused");
	if (container_ids_read(pid, &ids, e) < 0 || container_enter(&ids, CLONE_NEWNS, e) < 0)
		return -1;
	return container_enter(&ids, CLONE_NEWNET, e);
}

int try_enter(const struct hook_paths *paths, struct err *e)
{
	cleanup_fd int ready = -1, child = -1;
	int fds[2], ret;
	pid_t pid;

	(void)paths;
	if (become_root(0, e) < 0)
		return -1;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(e, errno, "make a pipe");
	ready = fds[0];
	child = fds[1];
	pid = fork();
	if (pid < 0)
		return err_set(e, errno, "new process");
	if (pid == 0)
		be_container(child);
	(void)close(steal_fd(&child));
	ret = enter(pid, ready, e);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return ret;
}

/* ---- network rules ---- */

int try_nft(const struct hook_paths *paths, struct err *e)
{
	cleanup_ruleset struct ruleset rules = { 0 };
	const struct ruleset_input in = { 0 };

	(void)paths;
	if (become_root(CLONE_NEWNET, e) < 0 || ruleset_compile(&in, &rules, e) < 0 ||
	    egress_commit(&rules, e) < 0)
		return -1;
	return egress_verify(&rules, e);
}

/* ---- what the shim needs ---- */

/* Root of a user namespace may have no other id to become: then as he is. */
static void drop_root(void)
{
	if (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	    setresuid(NOBODY, NOBODY, NOBODY) < 0)
		return;
	/* Without it /proc/self belongs to root, and the maps can't be written */
	(void)prctl(PR_SET_DUMPABLE, 1);
}

int try_user_namespace(const struct hook_paths *paths, struct err *e)
{
	unsigned uid, gid;

	(void)paths;
	if (geteuid() == 0)
		drop_root();
	uid = geteuid();
	gid = getegid();
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
		    CLONE_NEWCGROUP) < 0)
		return err_set(e, errno, "new user, mount, pid, ipc, uts and cgroup namespaces");
	if (map_self(1000, uid, gid, e) < 0)
		return -1;
	/* Ubuntu's AppArmor allows all that, and then refuses what it is for */
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_set(e, errno, "change mounts in a user namespace");
	return 0;
}
