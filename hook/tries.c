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
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bind.h"
#include "cleanup.h"
#include "err.h"
#include "mount.h"
#include "namespaces.h"
#include "nft.h"
#include "root.h"
#include "rtnl.h"
#include "ruleset.h"
#include "tries.h"
#include "userns.h"

/* ---- openat2 ---- */

/* The folder of a process has names that it takes to tell, and needs no privilege. */
int try_openat2(const struct hook_paths *paths, struct err *e)
{
	cleanup_fd int root = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int inside = -1, outside = -1, magic = -1;

	(void)paths;
	if (root < 0)
		return err_set(e, errno, "open /proc/self");
	inside = root_open(root, "/../../fd", O_PATH | O_DIRECTORY, e);
	if (inside < 0)
		return -1;
	outside = root_open(root, "/proc", O_PATH | O_DIRECTORY, e);
	if (outside >= 0 || e->code != ENOENT)
		return err_set(e, 0, "a path leads out of its root");
	magic = root_open(root, "root", O_PATH | O_DIRECTORY, e);
	if (magic >= 0 || e->code != ELOOP)
		return err_set(e, 0, "a magic link leads out of its root");
	return 0;
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
	if (mnt < 0 || mount_set(mnt, BIND_ATTR, false, e) < 0 || mount_attach(mnt, link, e) < 0)
		return -1;
	met = openat(dir, "link", O_RDONLY | O_CLOEXEC);
	if (met < 0 || fstat(met, &is) < 0 || fstat(file, &want) < 0)
		return err_set(e, errno, "open a symlink that is covered");
	if (is.st_ino != want.st_ino)
		return err_set(e, 0, "a mount on a symlink is not met");
	if (faccessat(dir, "link", W_OK, 0) == 0 || errno != EROFS)
		return err_set(e, 0, "a read-only mount can be written");
	return 0;
}

int try_mounts(const struct hook_paths *paths, struct err *e)
{
	cleanup_fd int target = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int mnt = -1;

	(void)paths;
	if (target < 0)
		return err_set(e, errno, "open /proc");
	if (userns_become_root(CLONE_NEWNS, e) < 0)
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
	if (userns_become_root(0, e) < 0)
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
	/* One for each set that a policy and a container fill: RFC 5737, RFC 3849 */
	static const char *const allow[] = { "192.0.2.0/24 tcp/80-443", "2001:db8::/32" };
	static const char *const resolvers[] = { "192.0.2.53", "2001:db8::53" };
	static const char *const networks[] = { "198.51.100.0/24", "2001:db8:1::/48" };
	cleanup_ruleset struct ruleset rules = { 0 };
	struct ip_destination d[N_ELEMENTS(allow)];
	struct ip_prefix r[N_ELEMENTS(resolvers)], agents[N_ELEMENTS(networks)];
	const struct ruleset_input in = {
		.allow = d,
		.n_allow = N_ELEMENTS(d),
		.resolvers = r,
		.n_resolvers = N_ELEMENTS(r),
		.agents = agents,
		.n_agents = N_ELEMENTS(agents),
	};

	(void)paths;
	for (size_t i = 0; i < N_ELEMENTS(allow); i++)
		if (ip_destination_parse(allow[i], &d[i], e) < 0 ||
		    ip_prefix_parse(resolvers[i], &r[i], e) < 0 ||
		    ip_prefix_parse(networks[i], &agents[i], e) < 0)
			return -1;
	if (userns_become_root(CLONE_NEWNET, e) < 0 || ruleset_compile(&in, &rules, e) < 0 ||
	    egress_commit(&rules, e) < 0)
		return -1;
	return egress_verify(&rules, e);
}

/* ---- agents' links ---- */

int try_veth(const struct hook_paths *paths, struct err *e)
{
	const struct ip_prefix p = { .family = AF_INET, .len = 31, .addr = { 192, 0, 2 } };
	cleanup_fd int other = -1;

	(void)paths;
	if (userns_become_root(CLONE_NEWNET, e) < 0)
		return -1;
	other = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (other < 0 || unshare(CLONE_NEWNET) < 0)
		return err_set(e, errno, "new network namespaces");
	if (rtnl_add_pair(RULESET_AGENT_LINK, "eth0", other, e) < 0 ||
	    rtnl_add_address(RULESET_AGENT_LINK, &p, e) < 0)
		return -1;
	return rtnl_set_up(RULESET_AGENT_LINK, e);
}
