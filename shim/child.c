/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Making the sandbox's first process
 *
 * It is made by a process that is in the agents' network namespace already, and in the user
 * namespace that has power over it; then it has none.  Where the hook has pinned these namespaces,
 * that process is the joiner, which ends at once.  Where the launch makes its own, it is the
 * holder, which keeps them until pasta is there.  The supervisor enters neither: it relays from
 * the container's network.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "cleanup.h"
#include "confinement.h"
#include "err.h"
#include "id_map.h"
#include "idmap.h"
#include "init.h"
#include "io.h"
#include "launch.h"
#include "network.h"
#include "relays.h"
#include "sandbox.h"

#define MAP_MAX_BYTES (64 * 1024)
#define SOCK_SECONDS 5

static int write_proc(pid_t pid, const char *file, const char *text, struct err *e)
{
	char path[64];
	cleanup_fd int fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "open %s of the sandbox", file);
	if (write_all(fd, text, strlen(text), e) < 0)
		return err_wrap(e, "%s of the sandbox", file);
	return 0;
}

/* @agent_id is for idmap_swapped(); 0: every id stays what it is */
static char *make_map(const struct launch *l, const char *file, unsigned id, unsigned agent_id,
		      struct err *e)
{
	cleanup_free char *parent = NULL;

	if (l->uid != 0)
		return idmap_single(id, e);
	parent = read_path(file, MAP_MAX_BYTES, e);
	if (parent == NULL)
		return NULL;
	return agent_id != 0 ? idmap_swapped(parent, agent_id, e) : id_map_identity(parent, e);
}

/* user_namespaces(7): who maps only itself must first give up setgroups(2). */
static int write_maps(pid_t pid, const struct launch *l, unsigned agent_id, struct err *e)
{
	cleanup_free char *uids = make_map(l, "/proc/self/uid_map", l->uid, agent_id, e);
	cleanup_free char *gids =
		uids == NULL ? NULL : make_map(l, "/proc/self/gid_map", l->gid, agent_id, e);

	if (gids == NULL)
		return -1;
	if (write_proc(pid, "uid_map", uids, e) < 0 ||
	    (l->uid != 0 && write_proc(pid, "setgroups", "deny", e) < 0) ||
	    write_proc(pid, "gid_map", gids, e) < 0) {
		if (e->code == EPERM && l->uid == 0)
			return err_wrap(e, "container root may not map ids (the container needs "
					   "CAP_SETUID, CAP_SETGID and CAP_SETFCAP, or the agent "
					   "an ordinary user)");
		return -1;
	}
	return 0;
}

static pid_t clone_child(unsigned long flags)
{
	struct clone_args args = { .flags = flags, .exit_signal = SIGCHLD };
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid < 0 && errno == ENOSYS) /* container engines' filters answer clone3 so */
		pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
	return pid;
}

static int refused(int code, struct err *e)
{
	const char *hint = "";

	if (code == EPERM || code == EACCES)
		hint = " (the container's seccomp profile, or the host's AppArmor, refuses user "
		       "namespaces: `oci-sandbox-hook --check` on the host says which)";
	if (code == ENOSPC)
		hint = " (user.max_user_namespaces is used up or 0)";
	return err_set(e, code, "make the sandbox's namespaces%s", hint);
}

/**
 * child_reap() - Wait for a process
 * @pid:	Child of the caller
 * @block:	Until it ends
 *
 * Return: its status as a shell would give it; -1 if it runs, or is none
 */
int child_reap(pid_t pid, bool block)
{
	int wstatus;
	pid_t got;

	do
		got = waitpid(pid, &wstatus, block ? 0 : WNOHANG);
	while (got < 0 && errno == EINTR);
	if (got != pid)
		return -1;
	return WIFSIGNALED(wstatus) ? 128 + WTERMSIG(wstatus) : WEXITSTATUS(wstatus);
}

/* Both ends of two pipes and of two sockets, owned */
struct pipes {
	int go_r;
	int go_w;
	int report_r;
	int report_w;
	int sock_here;
	int sock_there;
	int job_here;
	int job_there;
};

static void pipes_done(struct pipes *p)
{
	close_p(&p->go_r);
	close_p(&p->go_w);
	close_p(&p->report_r);
	close_p(&p->report_w);
	close_p(&p->sock_here);
	close_p(&p->sock_there);
	close_p(&p->job_here);
	close_p(&p->job_there);
}

static int pipe_open(int *ret_r, int *ret_w, struct err *e)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(e, errno, "make a pipe");
	*ret_r = ends[0];
	*ret_w = ends[1];
	return 0;
}

static int socket_open(int *ret_here, int *ret_there, struct err *e)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return err_set(e, errno, "make a pair of sockets");
	*ret_here = ends[0];
	*ret_there = ends[1];
	return 0;
}

static int pipes_open(struct pipes *ret, struct err *e)
{
	const struct timeval limit = { .tv_sec = SOCK_SECONDS };

	if (pipe_open(&ret->go_r, &ret->go_w, e) < 0 ||
	    pipe_open(&ret->report_r, &ret->report_w, e) < 0 ||
	    socket_open(&ret->sock_here, &ret->sock_there, e) < 0 ||
	    socket_open(&ret->job_here, &ret->job_there, e) < 0)
		return -1;
	/* Nothing that the other process does takes long, and the agent could hold it up */
	if (setsockopt(ret->sock_here, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) < 0)
		return err_set(e, errno, "limit the time to wait");
	return 0;
}

/* What became of the first process */
struct made {
	pid_t pid; /* 0: there is none */
	bool failed;
	struct err e;
};

/* The maps are written by who is in the namespace that the new one is made below. */
static void make_init(const struct sandbox *s, struct pipes *p, struct made *ret)
{
	const struct confinements namespaces = confinement_namespaces(s->launch);
	pid_t pid = clone_child(confinement_bits(&namespaces));

	if (pid < 0) {
		ret->failed = refused(errno, &ret->e) < 0;
		return;
	}
	if (pid == 0)
		init_main(s, &(struct init_pipes){ .go = p->go_r,
						   .report = p->report_w,
						   .sock = p->sock_there,
						   .job = p->job_there });
	ret->pid = pid;
	ret->failed = write_maps(pid, s->launch, s->launch->policy.agent_id, &ret->e) < 0;
}

/* What a process that makes the first one has to say; it is there as a whole or not at all, pipe(7)
 */
static bool say(int to, const struct made *m)
{
	return write(to, m, sizeof(*m)) == (ssize_t)sizeof(*m);
}
_Static_assert(sizeof(struct made) <= PIPE_BUF, "one write");

static void hear(int from, struct made *ret)
{
	if (read(from, ret, sizeof(*ret)) == (ssize_t)sizeof(*ret))
		return;
	*ret = (struct made){ .failed = true };
	(void)err_set(&ret->e, 0, "the process that makes the sandbox's first one ended");
}

/* ---- in namespaces that the hook has made ---- */

static _Noreturn void be_joiner(const struct sandbox *s, struct pipes *p, int to)
{
	struct made m = { 0 };

	m.failed = network_join(s->launch, &m.e) < 0 ||
		   relays_listen(s->launch, p->sock_there, &m.e) < 0;
	if (!m.failed)
		make_init(s, p, &m);
	_exit(say(to, &m) ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* The first process is the supervisor's child then, as of the nearest subreaper. */
static void make_by_joiner(const struct sandbox *s, struct pipes *p, struct made *ret)
{
	cleanup_fd int from = -1, to = -1;
	pid_t pid;

	ret->failed = true;
	if (pipe_open(&from, &to, &ret->e) < 0)
		return;
	pid = fork();
	if (pid < 0) {
		(void)err_set(&ret->e, errno, "start a process");
		return;
	}
	if (pid == 0)
		be_joiner(s, p, to);
	(void)close(steal_fd(&to));
	(void)child_reap(pid, true);
	hear(from, ret);
}

/* ---- in namespaces of the launch's own ---- */

/* The holder's ends of two pipes */
struct holder_pipes {
	int hold;
	int to;
};

/* A byte: go on.  End of file: end. */
static bool is_held(int hold)
{
	char byte;
	ssize_t n;

	do
		n = read(hold, &byte, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

/* The supervisor's ends are closed: what is to end with the supervisor sees that. */
static _Noreturn void be_holder(const struct sandbox *s, struct pipes *p,
				const struct holder_pipes *h)
{
	struct made m = { 0 };

	close_p(&p->go_w);
	close_p(&p->report_r);
	close_p(&p->sock_here);
	close_p(&p->job_here);
	if (!is_held(h->hold))
		_exit(EXIT_FAILURE);
	m.failed = network_set_loopback_up(&m.e) < 0 ||
		   relays_listen(s->launch, p->sock_there, &m.e) < 0;
	if (!m.failed)
		make_init(s, p, &m);
	if (!say(h->to, &m))
		_exit(EXIT_FAILURE);
	close_p(&p->go_r);
	close_p(&p->report_w);
	close_p(&p->sock_there);
	close_p(&p->job_there);
	while (is_held(h->hold))
		continue;
	_exit(EXIT_SUCCESS);
}

/* Its maps come from here, and with them its power. */
static int start_holder(const struct sandbox *s, struct pipes *p, int to, struct child *c,
			struct err *e)
{
	cleanup_fd int hold = -1;

	if (pipe_open(&hold, &c->hold, e) < 0)
		return -1;
	c->holder = clone_child(CLONE_NEWUSER | CLONE_NEWNET);
	if (c->holder == 0) {
		(void)close(c->hold);
		be_holder(s, p, &(struct holder_pipes){ .hold = hold, .to = to });
	}
	if (c->holder < 0) {
		c->holder = 0;
		return refused(errno, e);
	}
	if (write_maps(c->holder, s->launch, 0, e) < 0)
		return -1;
	return write_all(c->hold, "", 1, e);
}

/* The network is connected while the first process builds the sandbox. */
static void make_by_holder(const struct sandbox *s, struct pipes *p, struct child *c,
			   struct made *ret)
{
	cleanup_fd int from = -1, to = -1;

	ret->failed = true;
	if (pipe_open(&from, &to, &ret->e) < 0)
		return;
	if (start_holder(s, p, to, c, &ret->e) < 0 ||
	    pasta_start(s->launch, c->holder, &c->pasta, &ret->e) < 0)
		return;
	(void)close(steal_fd(&to));
	hear(from, ret);
}

/* The holder is the first process's parent: only without it can the other be waited for. */
static void release_holder(struct child *c)
{
	close_p(&c->hold);
	c->hold = -1;
	if (c->holder > 0)
		(void)child_reap(c->holder, true);
	c->holder = 0;
}

/* ---- all ---- */

static void make(const struct sandbox *s, struct pipes *p, struct child *c, struct made *ret)
{
	switch (s->launch->manifest.network) {
	case MANIFEST_NETWORK_NONE:
		make_init(s, p, ret);
		break;
	case MANIFEST_NETWORK_NAMESPACE:
		make_by_joiner(s, p, ret);
		break;
	case MANIFEST_NETWORK_PASTA:
		make_by_holder(s, p, c, ret);
		break;
	}
}

/**
 * child_make() - Make the sandbox's first process, which waits for a byte on its "go" pipe
 * @s:		What it needs
 * @ret:	Filled on success, untouched on failure; child_done() releases it
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure: then there is no process of it
 */
int child_make(const struct sandbox *s, struct child *ret, struct err *e)
{
	CLEANUP(pipes_done) struct pipes p = { -1, -1, -1, -1, -1, -1, -1, -1 };
	cleanup_child struct child c = CHILD_NONE;
	struct made m = { 0 };

	if (pipes_open(&p, e) < 0)
		return -1;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return err_set(e, errno, "become the one who waits for the sandbox");
	make(s, &p, &c, &m);
	c.pid = m.pid;
	if (m.failed) {
		*e = m.e;
		child_kill(&c);
		return -1;
	}
	c.go = steal_fd(&p.go_w);
	c.report = steal_fd(&p.report_r);
	c.sock = steal_fd(&p.sock_here);
	c.job = steal_fd(&p.job_here);
	*ret = c;
	c = (struct child)CHILD_NONE;
	return 0;
}

/**
 * child_connect() - Wait for the network of the first process, if it is the launch's own
 * @c:		From child_make()
 * @e:		Set on failure: no agent may run
 *
 * Return: 0 on success, -1 on failure
 */
int child_connect(struct child *c, struct err *e)
{
	if (c->holder > 0 && pasta_wait(&c->pasta, e) < 0)
		return -1;
	release_holder(c);
	return 0;
}

/**
 * child_kill() - End the first process, and with it all of the sandbox
 * @c:		From child_make(); has no process afterwards
 */
void child_kill(struct child *c)
{
	if (c->pid > 0)
		(void)kill(c->pid, SIGKILL);
	release_holder(c);
	if (c->pid > 0)
		(void)child_reap(c->pid, true);
	c->pid = 0;
}

/**
 * child_done() - Close what leads to the first process, and end what connected its network
 * @c:		From child_make()
 */
void child_done(struct child *c)
{
	close_p(&c->go);
	close_p(&c->report);
	close_p(&c->sock);
	close_p(&c->job);
	release_holder(c);
	pasta_done(&c->pasta);
	*c = (struct child)CHILD_NONE;
}
