/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The agent's network
 *
 * The hook has made a user and a network namespace for each user that may launch agents, and a
 * process of that user may enter his.  Without the hook, or on the host's network, a launch makes
 * its own.  Either way the sandbox's own user namespace is made below, and so has no power over
 * interfaces, routes and rules.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "launch.h"
#include "network.h"
#include "pasta.h"

/**
 * network_check() - Make sure that the user of a launch has a network for his agents
 * @l:		The launch
 * @e:		Set if he has none
 *
 * Return: 0 if he has, or if no agent has one; -1 if not
 */
int network_check(const struct launch *l, struct err *e)
{
	const struct manifest_user *u = manifest_user(&l->manifest, l->uid);

	if (l->manifest.network == MANIFEST_NETWORK_NONE)
		return 0;
	if (l->manifest.network == MANIFEST_NETWORK_PASTA)
		return pasta_check(e);
	if (u == NULL)
		return err_set(e, 0,
			       "uid %u has no network namespace for agents (name it in `agent-uid` "
			       "of the policy, and start the container again)",
			       l->uid);
	/* Only root's has other groups than one */
	if (l->uid != 0 && u->gid != l->gid)
		return err_set(e, 0,
			       "the network namespace for agents of uid %u is for gid %u, and this "
			       "is gid %u: launch agents with the user's own group",
			       l->uid, u->gid, l->gid);
	return 0;
}

static int enter(const struct launch *l, const char *type, int flag, struct err *e)
{
	char path[sizeof(RUN_NS "/4294967295/user")];
	cleanup_fd int fd = -1;
	struct statfs fs;

	(void)snprintf(path, sizeof(path), RUN_NS "/%u/%s", l->uid, type);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "open %s", path);
	if (fstatfs(fd, &fs) < 0 || fs.f_type != NSFS_MAGIC)
		return err_set(e, 0, "%s is no namespace: start the container again", path);
	if (setns(fd, flag) < 0)
		return err_set(e, errno,
			       "enter the agents' %s namespace (needs the system call setns, which "
			       "the container's seccomp profile may refuse)",
			       type);
	return 0;
}

/**
 * network_join() - Enter the namespaces of the user's agents, for good
 * @l:		The launch
 * @e:		Set on failure
 *
 * The user namespace first: it gives the right to the other one.
 *
 * Return: 0 on success, -1 on failure
 */
int network_join(const struct launch *l, struct err *e)
{
	if (enter(l, "user", CLONE_NEWUSER, e) < 0)
		return -1;
	return enter(l, "net", CLONE_NEWNET, e);
}

/**
 * network_set_loopback_up() - Switch "lo" on in a network namespace that has nothing else
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int network_set_loopback_up(struct err *e)
{
	cleanup_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &ifr) < 0)
		return err_set(e, errno, "switch the loopback interface on");
	return 0;
}
