/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What the shim has to be able to do
 *
 * The namespaces of a sandbox, as the shim makes them: in one call, with the maps written from
 * outside, and with no more power than the root of a container has.  A kernel or a security
 * module may allow the namespaces and then refuse what they are for, so mounts are made, too.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/capability.h>

#include "cleanup.h"
#include "err.h"
#include "mount.h"
#include "probe.h"
#include "tries.h"
#include "userns.h"

#define CAP_BIT(cap) (1U << (cap))

/*
 * Of what the root of a podman container has (containers.conf(5), default_capabilities), that
 * which user_namespaces(7) wants for a map with root in it.  By capset(2) itself: libcap would be
 * loaded at each start of each container, for this alone.
 */
static int drop_to_container(struct err *e)
{
	static const uint32_t keep =
		CAP_BIT(CAP_SETUID) | CAP_BIT(CAP_SETGID) | CAP_BIT(CAP_SETFCAP);
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, caps) < 0)
		return err_set(e, errno, "read the capabilities");
	caps[0].permitted &= keep;
	caps[0].effective = caps[0].permitted;
	caps[0].inheritable = 0;
	caps[1] = (struct __user_cap_data_struct){ 0 };
	if (syscall(SYS_capset, &header, caps) < 0)
		return err_set(e, errno, "drop capabilities");
	return 0;
}

/* As process 1 of the sandbox's process namespace. */
static int mount_in_sandbox(const void *arg, struct err *e)
{
	static const char *const options[] = { "ptmxmode", "0666", "mode", "0620", NULL };
	cleanup_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int tmpfs = -1, pts = -1;

	(void)arg;
	if (root < 0)
		return err_set(e, errno, "open /");
	if (getpid() != 1)
		return err_set(e, 0, "a process namespace starts with process %d", (int)getpid());
	tmpfs = mount_tmpfs(0755, "1m", e);
	if (tmpfs < 0 || mount_attach(tmpfs, root, e) < 0)
		return -1;
	pts = mount_fs("devpts", options, e);
	return pts < 0 ? -1 : mount_attach(pts, tmpfs, e);
}

/**
 * struct ends - connected sockets
 * @parent:	The end of who makes a sandbox
 * @init:	The end of who is in it
 *
 * Owned by whoever has them; a child has its own.
 */
struct ends {
	int parent;
	int init;
};

static void ends_done(struct ends *s)
{
	close_p(&s->parent);
	close_p(&s->init);
}

/* In the child: makes the namespaces, and goes on once the parent has written the maps. */
static int be_sandbox(const void *arg, struct err *e)
{
	const struct ends *s = arg;
	char byte = 0;

	(void)close(s->parent);
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
		    CLONE_NEWCGROUP) < 0)
		return err_set(e, errno, "new user, mount, pid, ipc, uts and cgroup namespaces");
	if (write(s->init, &byte, 1) != 1)
		return err_set(e, errno, "tell the parent");
	if (read(s->init, &byte, 1) != 1)
		return err_set(e, 0, "the parent gave up");
	return probe_run(mount_in_sandbox, NULL, e);
}

/* Returns 1 if the child has ended instead of making its namespaces. */
static int map_sandbox(const struct ends *s, pid_t pid, struct err *e)
{
	char process[16], byte;

	if (read(s->parent, &byte, 1) != 1)
		return 1;
	(void)snprintf(process, sizeof(process), "%d", (int)pid);
	if (userns_map_root(process, geteuid(), getegid(), e) < 0)
		return -1;
	if (write(s->parent, &byte, 1) != 1)
		return err_set(e, errno, "tell the child");
	return 0;
}

int try_sandbox(const struct hook_paths *paths, struct err *e)
{
	CLEANUP(ends_done) struct ends s = { -1, -1 };
	struct err late = { 0 };
	struct probe child;
	int sv[2], mapped, found;

	(void)paths;
	/* The shim of a rootless container is in the engine's user namespace already */
	if (userns_become_root(0, e) < 0 || drop_to_container(e) < 0)
		return -1;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0)
		return err_set(e, errno, "make a pair of sockets");
	s = (struct ends){ sv[0], sv[1] };
	if (probe_start(&child, be_sandbox, &s, e) < 0)
		return -1;
	(void)close(steal_fd(&s.init));
	mapped = map_sandbox(&s, child.pid, e);
	(void)close(steal_fd(&s.parent)); /* a child without maps gives up */
	found = probe_finish(&child, &late);
	if (mapped < 0)
		return -1;
	if (found != 0)
		*e = late;
	return found;
}
