/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The supervisor: makes the sandbox's first process, and waits for it
 *
 * It stays in the container's namespaces with the developer's rights, so it does as little as
 * it can: writes the id maps, passes signals on, and returns the agent's status.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "idmap.h"
#include "init.h"
#include "io.h"
#include "launch.h"
#include "loop.h"
#include "network.h"
#include "relays.h"
#include "sandbox.h"

#define MAP_MAX_BYTES (64 * 1024)
#define REPORT_MAX_BYTES 4096
#define STATUS_FAILED 125
#define SOCK_SECONDS 5

#define NAMESPACES \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

/* The supervisor's ends of what leads to the first process, owned, and that process */
struct child {
	pid_t pid;
	int go;
	int report;
	int sock;
};

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

static char *make_map(const struct launch *l, const char *file, unsigned id, struct err *e)
{
	cleanup_free char *parent = NULL;

	if (l->uid != 0)
		return idmap_single(id, e);
	parent = read_path(file, MAP_MAX_BYTES, e);
	return parent == NULL ? NULL : idmap_swapped(parent, l->policy.agent_id, e);
}

/* user_namespaces(7): who maps only itself must first give up setgroups(2). */
static int write_maps(pid_t pid, const struct launch *l, struct err *e)
{
	cleanup_free char *uids = make_map(l, "/proc/self/uid_map", l->uid, e);
	cleanup_free char *gids =
		uids == NULL ? NULL : make_map(l, "/proc/self/gid_map", l->gid, e);

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

/* Waits for a process: its status as a shell would give it, or -1. */
static int reap(pid_t pid, bool block)
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

/* Both ends of two pipes and of a socket, owned */
struct pipes {
	int go_r;
	int go_w;
	int report_r;
	int report_w;
	int sock_here;
	int sock_there;
};

static void pipes_done(struct pipes *p)
{
	close_p(&p->go_r);
	close_p(&p->go_w);
	close_p(&p->report_r);
	close_p(&p->report_w);
	close_p(&p->sock_here);
	close_p(&p->sock_there);
}

static int pipes_open(struct pipes *ret, struct err *e)
{
	const struct timeval limit = { .tv_sec = SOCK_SECONDS };
	int go[2], report[2], sock[2];

	if (pipe2(go, O_CLOEXEC) < 0)
		return err_set(e, errno, "make a pipe");
	ret->go_r = go[0];
	ret->go_w = go[1];
	if (pipe2(report, O_CLOEXEC) < 0)
		return err_set(e, errno, "make a pipe");
	ret->report_r = report[0];
	ret->report_w = report[1];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sock) < 0)
		return err_set(e, errno, "make a pair of sockets");
	ret->sock_here = sock[0];
	ret->sock_there = sock[1];
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
	const bool own_net = s->launch->manifest.network == MANIFEST_NETWORK_NONE;
	pid_t pid = clone_child(NAMESPACES | (own_net ? CLONE_NEWNET : 0));

	if (pid < 0) {
		ret->failed = refused(errno, &ret->e) < 0;
		return;
	}
	if (pid == 0)
		init_main(s, &(struct init_pipes){
				     .go = p->go_r, .report = p->report_w, .sock = p->sock_there });
	ret->pid = pid;
	ret->failed = write_maps(pid, s->launch, &ret->e) < 0;
}

/* Enters the agents' namespaces, which the supervisor must not, and makes the first process there.
 */
static _Noreturn void be_joiner(const struct sandbox *s, struct pipes *p, int to)
{
	struct made m = { 0 };

	m.failed = network_join(s->launch, &m.e) < 0 ||
		   relays_listen(s->launch, p->sock_there, &m.e) < 0;
	if (!m.failed)
		make_init(s, p, &m);
	_exit(write(to, &m, sizeof(m)) == (ssize_t)sizeof(m) ? EXIT_SUCCESS : EXIT_FAILURE);
}
_Static_assert(sizeof(struct made) <= PIPE_BUF, "it is there as a whole or not at all, pipe(7)");

/*
 * The joiner has ended before the first process goes on: that is the supervisor's child by then,
 * as of the nearest subreaper, and what it ties itself to is the supervisor.
 */
static void make_init_by_joiner(const struct sandbox *s, struct pipes *p, struct made *ret)
{
	cleanup_fd int from = -1, to = -1;
	int ends[2];
	pid_t pid;

	ret->failed = true;
	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0 || pipe2(ends, O_CLOEXEC) < 0) {
		(void)err_set(&ret->e, errno, "prepare to enter the agents' namespaces");
		return;
	}
	from = ends[0];
	to = ends[1];
	pid = fork();
	if (pid < 0) {
		(void)err_set(&ret->e, errno, "start a process");
		return;
	}
	if (pid == 0)
		be_joiner(s, p, to);
	(void)close(steal_fd(&to));
	(void)reap(pid, true);
	if (read(from, ret, sizeof(*ret)) != (ssize_t)sizeof(*ret)) {
		*ret = (struct made){ .failed = true };
		(void)err_set(&ret->e, 0, "the process that enters the agents' namespaces ended");
	}
}

static int start(const struct sandbox *s, struct child *ret, struct err *e)
{
	CLEANUP(pipes_done) struct pipes p = { -1, -1, -1, -1, -1, -1 };
	struct made m = { 0 };

	if (pipes_open(&p, e) < 0)
		return -1;
	if (s->launch->manifest.network == MANIFEST_NETWORK_NONE)
		make_init(s, &p, &m);
	else
		make_init_by_joiner(s, &p, &m);
	if (m.failed) {
		*e = m.e;
		if (m.pid > 0) {
			(void)kill(m.pid, SIGKILL);
			(void)reap(m.pid, true);
		}
		return -1;
	}
	*ret = (struct child){
		.pid = m.pid,
		.go = steal_fd(&p.go_w),
		.report = steal_fd(&p.report_r),
		.sock = steal_fd(&p.sock_here),
	};
	return 0;
}

static bool is_passed_on(int sig)
{
	return sig == SIGTERM || sig == SIGHUP || sig == SIGINT || sig == SIGQUIT ||
	       sig == SIGUSR1 || sig == SIGUSR2 || sig == SIGALRM;
}

/**
 * struct session - a launch that runs
 * @signals:	signalfd(2)
 * @pid:	The first process
 * @status:	Its status once it has ended, -1 until then
 */
struct session {
	struct relay_watch signals;
	pid_t pid;
	int status;
};

/* What a person sends to the launch is for the agent; what the terminal sends it has got. */
static void see_signals(struct relay_watch *w, uint32_t events)
{
	struct session *s = relay_owner_of(w, struct session, signals);
	struct signalfd_siginfo info;

	(void)events;
	while (s->status < 0 && read(w->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_signo == SIGCHLD)
			s->status = reap(s->pid, false);
		else if (is_passed_on((int)info.ssi_signo) && info.ssi_code <= 0)
			(void)kill(s->pid, (int)info.ssi_signo);
}

/*
 * As a relay: splice(2) into a closed connection must be no end, and each connection is two
 * descriptors.  The agent keeps what it had: it is a process of before.
 */
static void prepare_to_relay(void)
{
	struct rlimit l;

	(void)signal(SIGPIPE, SIG_IGN);
	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur < l.rlim_max) {
		l.rlim_cur = l.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &l);
	}
}

/* Returns the agent's status, -1 if it can't be waited for. */
static int supervise(struct relay_loop *loop, pid_t pid, const sigset_t *set, struct err *e)
{
	cleanup_fd int fd = signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
	struct session s = { .signals = { .fd = fd, .ready = see_signals },
			     .pid = pid,
			     .status = -1 };

	if (fd < 0)
		return err_set(e, errno, "watch for signals");
	if (relay_loop_add(loop, &s.signals, EPOLLIN, e) < 0)
		return -1;
	while (s.status < 0 && relay_loop_run_once(loop, -1, e) >= 0)
		continue;
	relay_loop_remove(loop, &s.signals);
	return s.status;
}

static void block_signals(sigset_t *set)
{
	static const int wanted[] = { SIGCHLD, SIGTERM, SIGHUP,  SIGINT,
				      SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM };

	(void)sigemptyset(set);
	for (size_t i = 0; i < N_ELEMENTS(wanted); i++)
		(void)sigaddset(set, wanted[i]);
	(void)sigprocmask(SIG_BLOCK, set, NULL);
}

static void child_done(struct child *c)
{
	close_p(&c->go);
	close_p(&c->report);
	close_p(&c->sock);
}

static int abandon(const struct child *c)
{
	(void)kill(c->pid, SIGKILL);
	(void)reap(c->pid, true);
	return -1;
}

/* What the first process says of its end comes before what came of that here. */
static int give_up(struct child *c, int *ret_status, struct err *e)
{
	struct err ignored;
	cleanup_free char *report = NULL;

	(void)close(steal_fd(&c->go)); /* so it ends, if it has not yet */
	report = read_fd(c->report, REPORT_MAX_BYTES, &ignored);
	if (report != NULL && report[0] != '\0')
		(void)err_set(e, 0, "%s", report);
	*ret_status = STATUS_FAILED;
	return abandon(c);
}

/* The agent runs when the relays are there; its end of the report pipe is closed by that. */
static int let_run(struct child *c, int *ret_status, struct err *e)
{
	cleanup_free char *report = NULL;

	if (write_all(c->go, "", 1, e) < 0)
		return give_up(c, ret_status, e);
	report = read_fd(c->report, REPORT_MAX_BYTES, e);
	if (report == NULL)
		return abandon(c);
	if (report[0] != '\0') {
		*ret_status = reap(c->pid, true);
		return err_set(e, 0, "%s", report);
	}
	return 0;
}

/**
 * sandbox_run() - Build a sandbox, run the agent in it, and wait for its end
 * @s:		What to build and run
 * @ret_status:	The agent's exit status, 128+n for a signal; on failure 125 if the sandbox could
 *		not be built, 126 or 127 if the agent could not be run or found
 * @e:		Set on failure
 *
 * Return: 0 if the agent ran, -1 if no agent code ran
 */
int sandbox_run(const struct sandbox *s, int *ret_status, struct err *e)
{
	CLEANUP(child_done) struct child c = { 0, -1, -1, -1 };
	cleanup_relay_loop struct relay_loop *loop = NULL;
	cleanup_relays struct relays relays = { 0 };
	sigset_t set;

	*ret_status = STATUS_FAILED;
	block_signals(&set);
	if (start(s, &c, e) < 0)
		return -1;
	if (write_all(c.go, "", 1, e) < 0)
		return abandon(&c);
	prepare_to_relay(); /* nothing of this is the first process's to inherit */
	loop = relay_loop_new(e);
	if (loop == NULL || relays_start(s->launch, loop, c.sock, s->warn, &relays, e) < 0)
		return give_up(&c, ret_status, e);
	if (let_run(&c, ret_status, e) < 0)
		return -1;
	*ret_status = supervise(loop, c.pid, &set, e);
	if (*ret_status < 0) {
		*ret_status = STATUS_FAILED;
		return abandon(&c);
	}
	relays_drain(&relays);
	return 0;
}
