/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Agents' namespaces
 *
 * An unprivileged process may enter a user namespace whose owner is its own uid in the parent
 * namespace, and has all capabilities there, user_namespaces(7).  So for each user a process is
 * started that enters the container's user namespace, becomes the user, and makes a user and a
 * network namespace.  The hook has their id maps written, connects the networks, pins both
 * namespaces in the container, and configures the network.  Then the process ends, and the mounts
 * keep the namespaces.
 *
 * Root's namespace maps every id of the container, another user's nothing but himself: what it
 * maps is what its owner has power over.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent_nets.h"
#include "agent_ns.h"
#include "bind.h"
#include "cleanup.h"
#include "err.h"
#include "forwarding.h"
#include "id_map.h"
#include "io.h"
#include "manifest.h"
#include "mount.h"
#include "namespaces.h"
#include "probe.h"
#include "root.h"
#include "rtnl.h"
#include "survey.h"

#define AGENT_LINK "eth0"
#define WAIT_SECONDS 5
#define INIT_USER_NS 0xEFFFFFFDU /* PROC_USER_INIT_INO, include/linux/proc_ns.h */

/**
 * struct maker - the process that makes the namespaces of a user
 * @net:	Whose, borrowed
 * @ids:	The container, borrowed
 * @hook:	The hook's end of a socket between the two, owned; -1: there is no process
 * @own:	The process's end, and its own to close
 * @process:	The process
 *
 * It waits until the hook tells it to end.  Later processes have a copy of the hook's end, so it
 * sees that the hook is gone when the last of them does.
 */
struct maker {
	const struct agent_net *net;
	const struct container_ids *ids;
	int hook;
	int own;
	struct probe process;
};

/* ---- the processes ---- */

static int enter_user_ns(const struct container_ids *ids, struct err *e)
{
	if (!ids->own_user_ns)
		return 0;
	if (setns(ids->pidfd, CLONE_NEWUSER) < 0)
		return err_set(e, errno, "enter the container's user namespace");
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return err_set(e, errno, "become the container's root");
	return 0;
}

static int become_user(const struct agent_net *n, struct err *e)
{
	/* Where the container's user namespace refuses it, there are no groups to lose */
	if (setgroups(0, NULL) < 0 && errno != EPERM)
		return err_set(e, errno, "drop the supplementary groups");
	if (setresgid(n->gid, n->gid, n->gid) < 0 || setresuid(n->uid, n->uid, n->uid) < 0)
		return err_set(e, errno, "become uid %u, gid %u of the container", n->uid, n->gid);
	return 0;
}

/*
 * In a user namespace whoever writes the maps is not the host's root, to whom the files of a
 * process belong in /proc that changed its uid.
 */
static int show_maps_to_writer(struct err *e)
{
	struct stat st;

	if (stat("/proc/self/ns/user", &st) < 0)
		return err_set(e, errno, "look at the user namespace");
	if (st.st_ino != INIT_USER_NS && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return err_set(e, errno, "open this process to who writes its id maps");
	return 0;
}

/* Has @fd's other end said that it goes on? */
static bool is_told(int fd)
{
	char byte;
	ssize_t n;

	do
		n = recv(fd, &byte, sizeof(byte), 0);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

static int tell(int fd, struct err *e)
{
	return send(fd, "", 1, MSG_NOSIGNAL) == 1 ? 0 : err_set(e, errno, "tell the other end");
}

static int make_namespaces(const void *arg, struct err *e)
{
	const struct maker *m = arg;

	(void)close(m->hook); /* the end of file is the hook's */
	if (enter_user_ns(m->ids, e) < 0 || become_user(m->net, e) < 0)
		return -1;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return err_set(e, errno, "make a user and a network namespace for uid %u",
			       m->net->uid);
	if (show_maps_to_writer(e) < 0 || tell(m->own, e) < 0)
		return -1;
	return is_told(m->own) ? 0 : err_set(e, 0, "the hook is gone");
}

/* ---- id maps ---- */

static int write_file(pid_t pid, const char *name, const char *text, struct err *e)
{
	char path[64];
	FILE *f;
	int failed;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	f = fopen(path, "we");
	if (f == NULL)
		return err_set(e, errno, "open %s", path);
	(void)setvbuf(f, NULL, _IOFBF, strlen(text) + 1); /* a map is one write */
	failed = fputs(text, f) < 0;
	if (fclose(f) != 0 || failed)
		return err_set(e, errno, "write %s", path);
	return 0;
}

static char *map_for(uid_t uid, const char *map, uint32_t id, struct err *e)
{
	char *text = NULL;

	if (uid == 0)
		return id_map_identity(map, e);
	if (asprintf(&text, "%" PRIu32 " %" PRIu32 " 1\n", id, id) < 0) {
		(void)err_set(e, ENOMEM, "allocate an id map");
		return NULL;
	}
	return text;
}

static int write_maps(const void *arg, struct err *e)
{
	const struct maker *m = arg;
	const struct agent_net *n = m->net;
	const pid_t pid = m->process.pid;
	cleanup_free char *uids = map_for(n->uid, m->ids->uid_map, n->uid, e);
	cleanup_free char *gids = uids == NULL ? NULL : map_for(n->uid, m->ids->gid_map, n->gid, e);

	if (gids == NULL || enter_user_ns(m->ids, e) < 0 ||
	    write_file(pid, "uid_map", uids, e) < 0 ||
	    (n->uid != 0 && write_file(pid, "setgroups", "deny", e) < 0))
		return -1;
	return write_file(pid, "gid_map", gids, e);
}

/* Only a process of the parent namespace may, user_namespaces(7). */
static int have_maps_written(const struct maker *m, struct err *e)
{
	return m->ids->own_user_ns ? probe_run(write_maps, m, e) : write_maps(m, e);
}

/* ---- what the hook does with them ---- */

/* A namespace of a process, as a mount of the container's own. */
static int pin(const struct agent_ns_input *in, const struct agent_net *n, pid_t pid,
	       const char *type, struct err *e)
{
	cleanup_free char *target = NULL;
	cleanup_fd int mnt = -1, place = -1, there = -1;
	struct survey_id want, is;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, type);
	if (asprintf(&target, RUN_NS "/%u/%s", n->uid, type) < 0) {
		target = NULL;
		return err_set(e, ENOMEM, "allocate a path");
	}
	mnt = mount_clone(AT_FDCWD, path, false, e);
	if (mnt < 0 || mount_set(mnt, BIND_ATTR, false, e) < 0)
		return -1;
	place = root_open(in->root, target, O_PATH, e);
	if (place < 0 || bind_attach(mnt, place, in->mountinfo, e) < 0 ||
	    survey_identify(mnt, &want, e) < 0)
		return -1;
	there = root_open(in->root, target, O_PATH, e);
	if (there < 0 || survey_identify(there, &is, e) < 0)
		return -1;
	return survey_same(&want, &is)
		       ? 0
		       : err_set(e, 0, "%s does not lead to what was mounted", target);
}

static int open_ns(const char *process, struct err *e)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%s/ns/net", process);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 ? fd : err_set(e, errno, "open %s", path);
}

static int connect_network(const struct agent_ns_input *in, const struct agent_net *n, int ns,
			   struct err *e)
{
	if (rtnl_add_pair(n->link, AGENT_LINK, ns, e) < 0 ||
	    rtnl_add_address(n->link, &n->container.v4, e) < 0 ||
	    (in->ipv6 && rtnl_add_address(n->link, &n->container.v6, e) < 0))
		return -1;
	return rtnl_set_up(n->link, e);
}

/* A new namespace may have no IPv6 where the container's has: devconf_inherit_init_net. */
static int configure(const struct agent_ns_input *in, const struct agent_net *n, struct err *e)
{
	struct forwarding own;
	bool ipv6;

	if (forwarding_read(&own, e) < 0 || forwarding_keep_requests(e) < 0)
		return -1;
	ipv6 = in->ipv6 && own.has_ipv6;
	if (rtnl_set_up("lo", e) < 0 || rtnl_add_address(AGENT_LINK, &n->agent.v4, e) < 0 ||
	    (ipv6 && rtnl_add_address(AGENT_LINK, &n->agent.v6, e) < 0) ||
	    rtnl_set_up(AGENT_LINK, e) < 0 ||
	    rtnl_add_default_route(&n->container.v4, AGENT_LINK, e) < 0)
		return -1;
	return ipv6 ? rtnl_add_default_route(&n->container.v6, AGENT_LINK, e) : 0;
}

/* From inside, and back to the container's: where that fails the container must not start. */
static int configure_inside(const struct agent_ns_input *in, const struct agent_net *n, int ns,
			    struct err *e)
{
	cleanup_fd int container = open_ns("self", e);
	int configured;

	if (container < 0)
		return -1;
	if (setns(ns, CLONE_NEWNET) < 0)
		return err_set(e, errno, "enter the agent's network namespace");
	configured = configure(in, n, e);
	if (setns(container, CLONE_NEWNET) < 0)
		return err_set(e, errno, "return to the container's network namespace");
	return configured;
}

static int use(const struct agent_ns_input *in, const struct maker *m, struct err *e)
{
	const struct agent_net *n = m->net;
	const pid_t pid = m->process.pid;
	cleanup_fd int ns = -1;
	char process[16];

	if (!is_told(m->hook))
		return err_set(e, 0, "no namespaces were made");
	(void)snprintf(process, sizeof(process), "%d", (int)pid);
	ns = open_ns(process, e);
	if (ns < 0 || have_maps_written(m, e) < 0 || connect_network(in, n, ns, e) < 0 ||
	    pin(in, n, pid, "user", e) < 0 || pin(in, n, pid, "net", e) < 0)
		return -1;
	return configure_inside(in, n, ns, e);
}

/* ---- all of them ---- */

/* It knows both ends from the beginning: it has to close the hook's. */
static int start(struct maker *m, struct err *e)
{
	const struct timeval limit = { .tv_sec = WAIT_SECONDS };
	cleanup_fd int own = -1;
	int sv[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0)
		return err_set(e, errno, "make a pair of sockets");
	m->hook = sv[0];
	own = m->own = sv[1];
	if (setsockopt(m->hook, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0)
		(void)err_set(e, errno, "limit the time to wait");
	else if (probe_start(&m->process, make_namespaces, m, e) == 0)
		return 0;
	close_p(&m->hook);
	m->hook = -1;
	return -1;
}

/* What a process says of its failure comes first: the hook has only seen it gone. */
static int finish(struct maker *m, int used, struct err *e)
{
	struct err late = { 0 };
	int made;

	(void)tell(m->hook, &late);
	(void)close(steal_fd(&m->hook));
	made = probe_finish(&m->process, &late);
	if (made != 0 && (used == 0 || e->code == 0))
		*e = late;
	return used < 0 || made != 0 ? -1 : 0;
}

/* All are started first, as most of their time is the kernel's; and all end here. */
static int make_all(const struct agent_ns_input *in, struct maker *makers, struct err *e)
{
	const size_t n = in->nets->n;
	struct err ignored;
	int ret = 0;

	for (size_t i = 0; i < n; i++)
		makers[i] = (struct maker){ .net = &in->nets->v[i], .ids = in->ids, .hook = -1 };
	for (size_t i = 0; i < n && ret == 0; i++)
		ret = start(&makers[i], e);
	for (size_t i = 0; i < n && makers[i].hook >= 0; i++) {
		const int used = ret == 0 ? use(in, &makers[i], e) : -1;

		if (ret < 0)
			(void)finish(&makers[i], used, &ignored);
		else if (finish(&makers[i], used, e) < 0)
			ret = err_wrap(e, "uid %u", in->nets->v[i].uid);
	}
	return ret;
}

/**
 * agent_ns_make() - Make agents' namespaces, connect and pin them
 * @in:		Which, and what they need
 * @e:		Set on failure
 *
 * To be called in the container's mount and network namespaces, with its rules in place.  What is
 * there already stays when a later one fails: it goes with the container, which must not start.
 *
 * Return: 0 on success, -1 on failure
 */
int agent_ns_make(const struct agent_ns_input *in, struct err *e)
{
	cleanup_free struct maker *makers = calloc(in->nets->n + 1, sizeof(*makers));

	if (makers == NULL)
		return err_set(e, ENOMEM, "allocate the agents' namespaces");
	return make_all(in, makers, e) < 0 ? err_wrap(e, "agents' namespaces") : 0;
}
