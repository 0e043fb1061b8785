/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Agents' namespaces
 *
 * An unprivileged process may enter a user namespace whose owner is its own uid in the parent
 * namespace, and has all capabilities there, user_namespaces(7).  So for each user two processes
 * are started: the keeper enters the container's user namespace, where it is root; its child
 * becomes the user, and makes a user and a network namespace.  The keeper writes the id maps,
 * which only a process of the parent namespace may; the hook connects the networks and pins both
 * namespaces in the container; the child sets its end of the link up.  Then both end, and the
 * mounts keep the namespaces.
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
 * struct ends - a socket between the hook and the two processes, SOCK_SEQPACKET
 * @hook:	The hook's end, owned
 * @child:	The end of the other two, owned
 */
struct ends {
	int hook;
	int child;
};

static void ends_done(struct ends *s)
{
	close_p(&s->hook);
	close_p(&s->child);
}

/* What the two processes are started with */
struct job {
	const struct agent_ns_input *in;
	const struct agent_net *net;
	struct ends *ends;
};

/* ---- the child ---- */

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
 * In a user namespace the keeper is not the host's root, to whom the files of a process belong in
 * /proc that changed its uid.
 */
static int show_maps_to_keeper(struct err *e)
{
	struct stat st;

	if (stat("/proc/self/ns/user", &st) < 0)
		return err_set(e, errno, "look at the user namespace");
	if (st.st_ino != INIT_USER_NS && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return err_set(e, errno, "open this process to the keeper");
	return 0;
}

static int send_pid(int fd, pid_t pid, struct err *e)
{
	if (send(fd, &pid, sizeof(pid), MSG_NOSIGNAL) != (ssize_t)sizeof(pid))
		return err_set(e, errno, "tell the hook");
	return 0;
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

/* Has @fd's other end said that it goes on? */
static int wait_for(int fd, struct err *e)
{
	char byte;
	ssize_t n;

	do
		n = recv(fd, &byte, sizeof(byte), 0);
	while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : err_set(e, 0, "the hook gave up");
}

/* The keeper waits for the namespaces by @ready, which ends with this function at the latest. */
struct child {
	const struct job *job;
	int ready;
};

static int be_agent(const void *arg, struct err *e)
{
	const struct child *c = arg;

	(void)close(steal_fd(&c->job->ends->hook)); /* the end of file is the hook's */
	if (become_user(c->job->net, e) < 0)
		return -1;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return err_set(e, errno, "make a user and a network namespace for uid %u",
			       c->job->net->uid);
	if (show_maps_to_keeper(e) < 0 || write_all(c->ready, "", 1, e) < 0 ||
	    wait_for(c->job->ends->child, e) < 0)
		return -1;
	return configure(c->job->in, c->job->net, e);
}

/* ---- the keeper ---- */

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

static int write_maps(pid_t pid, const struct job *j, struct err *e)
{
	const struct agent_net *n = j->net;
	cleanup_free char *uids = map_for(n->uid, j->in->ids->uid_map, n->uid, e);
	cleanup_free char *gids =
		uids == NULL ? NULL : map_for(n->uid, j->in->ids->gid_map, n->gid, e);

	if (gids == NULL || write_file(pid, "uid_map", uids, e) < 0 ||
	    (n->uid != 0 && write_file(pid, "setgroups", "deny", e) < 0))
		return -1;
	return write_file(pid, "gid_map", gids, e);
}

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

/* The child's report says why, if it doesn't get as far as its namespaces. */
static int keep(const struct job *j, pid_t child, int ready, struct err *e)
{
	char byte;
	ssize_t n;

	do
		n = read(ready, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		return err_set(e, 0, "no namespaces were made");
	if (write_maps(child, j, e) < 0)
		return -1;
	return send_pid(j->ends->child, child, e);
}

static int be_keeper(const void *arg, struct err *e)
{
	const struct job *j = arg;
	cleanup_fd int read_end = -1, write_end = -1;
	struct probe child;
	struct err late = { 0 };
	int ends[2], kept, found;

	if (enter_user_ns(j->in->ids, e) < 0)
		return -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(e, errno, "make a pipe");
	read_end = ends[0];
	write_end = ends[1];
	if (probe_start(&child, be_agent, &(struct child){ .job = j, .ready = write_end }, e) < 0)
		return -1;
	(void)close(steal_fd(&write_end));
	kept = keep(j, child.pid, read_end, e);
	(void)close(steal_fd(&j->ends->hook));
	(void)close(steal_fd(&j->ends->child));
	found = probe_finish(&child, &late);
	if (found != 0)
		*e = late;
	return kept < 0 || found != 0 ? -1 : 0;
}

/* ---- the hook ---- */

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

static int connect_network(const struct agent_ns_input *in, const struct agent_net *n, pid_t pid,
			   struct err *e)
{
	cleanup_fd int ns = -1;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (ns < 0)
		return err_set(e, errno, "open %s", path);
	if (rtnl_add_pair(n->link, AGENT_LINK, ns, e) < 0 ||
	    rtnl_add_address(n->link, &n->container.v4, e) < 0 ||
	    (in->ipv6 && rtnl_add_address(n->link, &n->container.v6, e) < 0))
		return -1;
	return rtnl_set_up(n->link, e);
}

/* Until the child's namespaces are connected and pinned, it waits. */
static int serve(const struct agent_ns_input *in, const struct agent_net *n, int fd, struct err *e)
{
	pid_t pid;
	ssize_t got;

	do
		got = recv(fd, &pid, sizeof(pid), 0);
	while (got < 0 && errno == EINTR);
	if (got != (ssize_t)sizeof(pid))
		return err_set(e, 0, "no namespaces were made");
	if (connect_network(in, n, pid, e) < 0 || pin(in, n, pid, "user", e) < 0 ||
	    pin(in, n, pid, "net", e) < 0)
		return -1;
	if (send(fd, "", 1, MSG_NOSIGNAL) != 1)
		return err_set(e, errno, "tell the namespaces' process");
	return 0;
}

static int make_one(const struct agent_ns_input *in, const struct agent_net *n, struct err *e)
{
	CLEANUP(ends_done) struct ends s = { -1, -1 };
	const struct timeval limit = { .tv_sec = WAIT_SECONDS };
	struct err late = { 0 };
	struct probe keeper;
	int sv[2], served, found;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv) < 0)
		return err_set(e, errno, "make a pair of sockets");
	s = (struct ends){ sv[0], sv[1] };
	if (setsockopt(s.hook, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0)
		return err_set(e, errno, "limit the time to wait");
	if (probe_start(&keeper, be_keeper, &(struct job){ .in = in, .net = n, .ends = &s }, e) < 0)
		return -1;
	(void)close(steal_fd(&s.child));
	served = serve(in, n, s.hook, e);
	(void)close(steal_fd(&s.hook)); /* a child that waits still gives up */
	found = probe_finish(&keeper, &late);
	if (served == 0 && found != 0)
		*e = late;
	else if (served < 0 && found != 0 && e->code == 0)
		*e = late; /* what it says comes first: we only saw it gone */
	return served < 0 || found != 0 ? -1 : 0;
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
	for (size_t i = 0; i < in->nets->n; i++)
		if (make_one(in, &in->nets->v[i], e) < 0)
			return err_wrap(e, "agents' namespaces for uid %u", in->nets->v[i].uid);
	return 0;
}
