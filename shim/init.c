/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The sandbox's first process: pid 1 of its process namespace
 *
 * It builds the sandbox, starts the agent, reaps whatever is orphaned, and ends when the agent
 * ends; the kernel then kills every process that is left, pid_namespaces(7).  The supervisor
 * takes it along when it dies, by whatever signal.
 *
 * Nothing returns from here: what goes wrong before the agent runs is written to the report
 * pipe, and the supervisor says it.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "init.h"
#include "io.h"
#include "job.h"
#include "launch.h"
#include "mounts.h"
#include "network.h"
#include "privileges.h"
#include "relays.h"
#include "sandbox.h"
#include "terminals.h"

#define STATUS_FAILED 125
#define STATUS_CANNOT_RUN 126

static _Noreturn void give_up(int report, int status, const struct err *e)
{
	struct err ignored;

	(void)write_all(report, e->msg, strlen(e->msg), &ignored);
	_exit(status);
}

/* The supervisor's ends of the pipes are among the others: as long as they are here, nobody is
 * gone. */
static int close_others(const struct init_pipes *p, struct err *e)
{
	const int keep[] = { p->go, p->report, p->sock, p->job };
	unsigned first = STDERR_FILENO + 1, next = 0;

	for (; next != UINT_MAX; first = next + 1) {
		next = UINT_MAX;
		for (size_t i = 0; i < N_ELEMENTS(keep); i++)
			if ((unsigned)keep[i] >= first && (unsigned)keep[i] < next)
				next = (unsigned)keep[i];
		if (first < next && close_range(first, next == UINT_MAX ? next : next - 1, 0) < 0)
			return err_set(e, errno, "close the supervisor's descriptors");
	}
	return 0;
}

/* A byte: the supervisor has done its part.  End of file: the supervisor is gone or gave up. */
static void wait_for_go(int go)
{
	char byte;
	ssize_t n;

	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(STATUS_FAILED);
}

/*
 * Set after the last change of credentials, which clears it (PR_SET_PDEATHSIG, prctl(2)), and when
 * the supervisor is this process's parent: who has made it ends before the second byte.  The
 * supervisor may have died before: then the write end of the pipe is gone.
 */
static int die_with_supervisor(int go, struct err *e)
{
	struct pollfd p = { .fd = go }; /* POLLHUP comes unasked */

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_set(e, errno, "tie the sandbox to its supervisor");
	if (poll(&p, 1, 0) < 0)
		return err_set(e, errno, "look for the supervisor");
	if ((p.revents & POLLHUP) != 0)
		_exit(STATUS_FAILED);
	return 0;
}

static int build(const struct sandbox *s, const struct init_pipes *p, int ptys[TERMINALS_MAX],
		 struct err *e)
{
	mode_t mask = umask(022);

	/* With it goes the developer's terminal as the controlling one */
	if (setsid() < 0)
		return err_set(e, errno, "start a session");

	/* An ordinary user can't: the kernel keeps groups that may deny access */
	if (s->launch->uid == 0 && setgroups(0, NULL) < 0)
		return err_set(e, errno, "drop the supplementary groups");
	if (s->launch->manifest.network == MANIFEST_NETWORK_NONE &&
	    (network_set_loopback_up(e) < 0 || relays_listen(s->launch, p->sock, e) < 0))
		return -1;
	if (mounts_apply(s->plan, e) < 0)
		return -1;
	(void)umask(mask);
	if (chdir(s->launch->cwd) < 0)
		return err_set(e, errno, "enter %s", s->launch->cwd);
	if (terminals_make_ptys(s->terminals, p->job, ptys, e) < 0)
		return -1;
	if (keyring_leave(e) < 0 || privileges_drop(e) < 0 ||
	    seccomp_install(s->launch->policy.nested_sandbox, e) < 0)
		return -1;
	/* The agent has our uid: it must not trace us, nor read what our memory held before */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_set(e, errno, "close this process to others");
	return 0;
}

/* The agent is a job of its own, in the foreground of its terminal if it has the keys. */
static int become_job(const struct sandbox *s, const int *ptys, struct err *e)
{
	if (setpgid(0, 0) < 0)
		return err_set(e, errno, "make a process group for the agent");
	if (s->attached && tcsetpgrp(ptys[0], getpid()) < 0)
		return err_set(e, errno, "bring the agent into the foreground");
	return terminals_use_ptys(s->terminals, ptys, e);
}

/* The agent itself; @report is CLOEXEC and closes when it runs. */
static _Noreturn void start_agent(const struct sandbox *s, const int *ptys, int report)
{
	struct err e = { 0 };
	sigset_t none;

	if (become_job(s, ptys, &e) < 0)
		give_up(report, STATUS_FAILED, &e);
	(void)sigemptyset(&none);
	if (sigprocmask(SIG_SETMASK, &none, NULL) < 0) {
		(void)err_set(&e, errno, "unblock the signals");
		give_up(report, STATUS_FAILED, &e);
	}
	(void)execve(s->launch->agent_at, s->argv, s->env);
	/* it was there when it was looked for: what is missing is what it needs to start */
	(void)err_set(&e, errno, "run %s", s->launch->agent_at);
	if (e.code == ENOENT)
		(void)err_wrap(&e, "the agent's interpreter or loader is missing");
	give_up(report, STATUS_CANNOT_RUN, &e);
}

/**
 * struct watched - what the first process looks after
 * @agent:	The agent
 * @signals:	signalfd(2) for SIGCHLD
 * @pipes:	To the supervisor
 * @pty:	The agent's terminal, -1: none
 */
struct watched {
	pid_t agent;
	int signals;
	const struct init_pipes *pipes;
	int pty;
};

static int status_of(int wstatus)
{
	return WIFSIGNALED(wstatus) ? 128 + WTERMSIG(wstatus) : WEXITSTATUS(wstatus);
}

/* Reaps what has ended; ends with the agent. */
static void reap(const struct watched *w)
{
	struct err ignored;
	int wstatus;
	pid_t pid;

	while ((pid = waitpid(-1, &wstatus, WNOHANG | WUNTRACED)) > 0) {
		if (pid != w->agent)
			continue;
		if (!WIFSTOPPED(wstatus))
			_exit(status_of(wstatus));
		(void)job_send(
			w->pipes->job,
			&(struct job_message){ .kind = JOB_STOPPED, .sig = WSTOPSIG(wstatus) },
			&ignored);
	}
}

static void see_children(const struct watched *w)
{
	struct signalfd_siginfo info;

	while (read(w->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		continue;
	reap(w);
}

/* In the background the foreground is this process's group, which reads nothing. */
static void go_on(const struct watched *w, bool foreground)
{
	if (w->pty >= 0)
		(void)tcsetpgrp(w->pty, foreground ? w->agent : getpgrp());
	(void)kill(-w->agent, SIGCONT);
}

/* Returns -1 if nothing more is to be heard. */
static int see_job(const struct watched *w)
{
	struct job_message m;
	struct err ignored;

	if (job_receive(w->pipes->job, &m, &ignored) < 0)
		return -1;
	if (m.kind == JOB_CONTINUE)
		go_on(w, m.foreground);
	else if (m.kind == JOB_SIGNAL || m.kind == JOB_SIGNAL_GROUP)
		(void)kill(m.kind == JOB_SIGNAL ? w->agent : -w->agent, m.sig);
	return 0;
}

/* Without a supervisor this process is ended anyway: it is no reason to spin. */
static _Noreturn void watch(const struct watched *w)
{
	struct pollfd p[] = { { .fd = w->signals, .events = POLLIN },
			      { .fd = w->pipes->sock, .events = POLLIN },
			      { .fd = w->pipes->job, .events = POLLIN } };
	struct err ignored;

	for (;;) {
		if (poll(p, N_ELEMENTS(p), -1) < 0)
			continue;
		if (p[0].revents != 0)
			see_children(w);
		if (p[1].revents != 0 && relays_serve_socket(p[1].fd, &ignored) < 0)
			p[1].fd = -1;
		if (p[2].revents != 0 && see_job(w) < 0)
			p[2].fd = -1;
	}
}

/* Returns a signalfd(2) for the children's ends and stops, -1 with errno. */
static int watch_children(void)
{
	sigset_t all, child;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_BLOCK, &all, NULL);
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	return signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
}

/**
 * init_main() - Build the sandbox, start the agent, and end with it
 * @s:		What to build and start
 * @p:		Pipes to the supervisor
 *
 * Exits with the agent's status, 128+n for a signal, or 125, 126, 127 with a report.
 */
void init_main(const struct sandbox *s, const struct init_pipes *p)
{
	struct watched w = { .pipes = p };
	int ptys[TERMINALS_MAX];
	struct err e = { 0 };

	if (close_others(p, &e) < 0)
		give_up(p->report, STATUS_FAILED, &e);
	wait_for_go(p->go);
	if (build(s, p, ptys, &e) < 0)
		give_up(p->report, STATUS_FAILED, &e);
	wait_for_go(p->go);
	if (die_with_supervisor(p->go, &e) < 0)
		give_up(p->report, STATUS_FAILED, &e);

	w.pty = ptys[0]; /* kept open: without it the agent could lose its terminal */
	w.signals = watch_children();
	w.agent = w.signals < 0 ? -1 : fork();
	if (w.agent < 0) {
		(void)err_set(&e, errno, "start the agent");
		give_up(p->report, STATUS_FAILED, &e);
	}
	if (w.agent == 0)
		start_agent(s, ptys, p->report);

	(void)close(p->report);
	(void)close(STDIN_FILENO);
	(void)close(STDOUT_FILENO);
	(void)close(STDERR_FILENO);
	watch(&w);
}
