/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: A launch that runs: its terminals, signals and job control
 *
 * The agent is a job in a session of its own; this process is a job of the developer's shell.  What
 * happens to one of the two has to happen to the other: a signal, a stop, the way back into the
 * foreground, the terminal's end.
 *
 * Keys are read for the agent from the start if it has nothing but the terminal for input and
 * output.  Else somebody else may be reading them, as in `agent | less`: then the agent starts in
 * the background of its pty, and the kernel stops it when it wants to read or to change that.  An
 * agent that waits with poll(2) is not stopped so: it gets what was typed and left by all others.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "child.h"
#include "cleanup.h"
#include "err.h"
#include "job.h"
#include "pair.h"
#include "pasta.h"
#include "sandbox.h"
#include "supervisor.h"
#include "tty.h"

#define HANG_UP_MS 5000 /* what an agent has to end when its terminal is gone */
#define UNREAD_MS 20    /* who waits for a line has read it by then */
#define STATUS_SIGNALLED 128

/**
 * struct session - a launch that runs
 * @loop:	Carries all, borrowed
 * @child:	The first process, borrowed
 * @terminals:	The developer's, borrowed
 * @warn:	Told when the agent has lost its network
 * @watched:	Signals that come by @signals, borrowed
 * @signals:	signalfd(2)
 * @job:	Socket to the first process, which job.h is about
 * @pairs:	One for each terminal, owned
 * @hang_up:	When the terminal is gone, the agent has so long
 * @unread:	When keys were typed, all others have so long
 * @wants_keys:	The agent has the terminal whenever this process has it
 * @is_attached: It has it now
 * @has_been_attached: It had it before
 * @is_stop_passed_on: The agent was told to stop, as this process was
 * @is_hung:	The terminal is gone
 * @is_cut:	What the agent has written last is not waited for
 * @status:	The first process's status once it has ended, -1 until then
 */
struct session {
	struct relay_loop *loop;
	struct child *child;
	struct terminals *terminals;
	launch_warn warn;
	const sigset_t *watched;
	struct relay_watch signals;
	struct relay_watch job;
	struct pair *pairs;
	struct relay_timer hang_up;
	struct relay_timer unread;
	bool wants_keys;
	bool is_attached;
	bool has_been_attached;
	bool is_stop_passed_on;
	bool is_hung;
	bool is_cut;
	int status;
};

/* If the first process is gone, SIGCHLD says so. */
static void tell(struct session *s, enum job_kind kind, int sig, bool foreground)
{
	struct err ignored;

	if (s->job.fd < 0)
		return;
	(void)job_send(s->job.fd,
		       &(struct job_message){ .kind = kind, .sig = sig, .foreground = foreground },
		       &ignored);
}

/* ---- the terminal's end ---- */

static void hung_too_long(struct relay_timer *t)
{
	struct session *s = relay_owner_of(t, struct session, hang_up);

	(void)kill(s->child->pid, SIGKILL);
}

/* As the kernel does with a terminal's jobs; who was started by nohup(1) goes on. */
static void hang_up(struct session *s)
{
	if (s->is_hung || sigismember(s->watched, SIGHUP) == 0)
		return;
	s->is_hung = true;
	tell(s, JOB_SIGNAL_GROUP, SIGHUP, false);
	tell(s, JOB_SIGNAL_GROUP, SIGCONT, false);
	relay_timer_set(s->loop, &s->hang_up, HANG_UP_MS);
}

static void pair_hung(struct pair *p)
{
	hang_up(p->owner);
}

/* ---- the foreground ---- */

static struct tty *main_tty(struct session *s)
{
	return s->terminals->n > 0 ? &s->terminals->tty[0] : NULL;
}

static bool is_in_foreground(struct session *s)
{
	return main_tty(s) != NULL && tty_is_in_foreground(main_tty(s));
}

static void copy_sizes(struct session *s)
{
	for (size_t i = 0; i < s->terminals->n; i++)
		tty_copy_size(&s->terminals->tty[i], s->pairs[i].inner.watch.fd);
}

static void attach(struct session *s)
{
	struct err e;
	/* in `agent | tr` another one writes */
	const bool output = s->terminals->of[STDOUT_FILENO] == 0;

	if (tty_set_raw(main_tty(s), output, &e) < 0) {
		hang_up(s);
		return;
	}
	if (output && !s->has_been_attached)
		tty_copy_output(main_tty(s), s->pairs[0].inner.watch.fd);
	s->is_attached = s->has_been_attached = true;
	pair_set_keys(&s->pairs[0], PAIR_KEYS_CARRIED);
}

static void detach(struct session *s)
{
	for (size_t i = 0; i < s->terminals->n; i++)
		pair_copy_pending(&s->pairs[i]);
	if (!s->is_attached)
		return;
	s->is_attached = false;
	pair_set_keys(&s->pairs[0], PAIR_KEYS_LEFT);
	tty_restore(main_tty(s));
}

static void pair_typed(struct pair *p)
{
	struct session *s = p->owner;

	relay_timer_set(s->loop, &s->unread, UNREAD_MS);
}

/* This process goes on, in the foreground or in the background, and so does the agent. */
static void resume(struct session *s)
{
	const bool foreground = s->wants_keys && is_in_foreground(s);

	s->is_stop_passed_on = false;
	copy_sizes(s);
	if (foreground)
		attach(s);
	tell(s, JOB_CONTINUE, 0, foreground);
}

static void is_left_unread(struct relay_timer *t)
{
	struct session *s = relay_owner_of(t, struct session, unread);

	if (s->is_attached || !is_in_foreground(s) || !tty_has_unread_line(main_tty(s)))
		return;
	s->wants_keys = true;
	resume(s);
}

/* ---- stops ---- */

static bool has_job_control(struct session *s)
{
	return main_tty(s) != NULL && main_tty(s)->is_controlling;
}

/* The stop is over when this returns, or had no effect: nobody would take it back. */
static bool stop_with_others(int sig, bool alone)
{
	const struct timespec now = { 0 };
	sigset_t stops, before, cont;

	(void)sigemptyset(&stops);
	(void)sigaddset(&stops, SIGTSTP);
	(void)sigaddset(&stops, SIGTTIN);
	(void)sigaddset(&stops, SIGTTOU);
	(void)sigprocmask(SIG_UNBLOCK, &stops, &before);
	(void)kill(alone ? getpid() : 0, sig == SIGSTOP ? SIGTSTP : sig);
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	(void)sigemptyset(&cont);
	(void)sigaddset(&cont, SIGCONT);
	return sigtimedwait(&cont, NULL, &now) == SIGCONT;
}

static void stop(struct session *s, int sig)
{
	const bool alone = s->is_stop_passed_on; /* the others were told when this process was */

	detach(s);
	if (stop_with_others(sig, alone) || is_in_foreground(s) || sig == SIGTSTP || sig == SIGSTOP)
		resume(s);
	else
		hang_up(s); /* it wants a terminal that never will be its own */
}

/* Without job control a terminal's keys stop nothing, and without a terminal SIGCONT is waited for.
 */
static void see_stop(struct session *s, int sig)
{
	if ((sig == SIGTTIN || sig == SIGTTOU) && !s->is_attached && is_in_foreground(s)) {
		s->wants_keys = true;
		resume(s);
	} else if (s->is_stop_passed_on || has_job_control(s)) {
		stop(s, sig);
	} else if (main_tty(s) != NULL) {
		resume(s);
	}
}

static void see_job(struct relay_watch *w, uint32_t events)
{
	struct session *s = relay_owner_of(w, struct session, job);
	struct job_message m;
	struct err ignored;

	(void)events;
	if (job_receive(w->fd, &m, &ignored) < 0) {
		relay_loop_remove(s->loop, w);
		w->fd = -1;
	} else if (m.kind == JOB_STOPPED) {
		see_stop(s, m.sig);
	}
}

/* ---- signals ---- */

static void see_end(struct session *s)
{
	if (s->status >= 0)
		return;
	s->status = child_reap(s->child->pid, false);
	if (s->status < 0 && pasta_has_ended(&s->child->pasta))
		s->warn("pasta has ended, so the agent has no network any more: launch it again");
}

/*
 * What a person sends to the launch is for the agent.  What comes from the terminal is for all of
 * its group, which would have got it.
 */
static void see_signal(struct session *s, const struct signalfd_siginfo *info)
{
	const int sig = (int)info->ssi_signo;
	const bool is_from_kernel = info->ssi_code > 0;

	if (sig == SIGCHLD)
		see_end(s);
	else if (sig == SIGWINCH)
		copy_sizes(s);
	else if (s->status >= 0)
		s->is_cut = true;
	else if (sig == SIGCONT)
		resume(s);
	else if (sig == SIGHUP && is_from_kernel)
		hang_up(s);
	else {
		s->is_stop_passed_on |= sig == SIGTSTP;
		tell(s, is_from_kernel ? JOB_SIGNAL_GROUP : JOB_SIGNAL, sig, false);
	}
}

static void see_signals(struct relay_watch *w, uint32_t events)
{
	struct session *s = relay_owner_of(w, struct session, signals);
	struct signalfd_siginfo info;

	(void)events;
	while (read(w->fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		see_signal(s, &info);
}

/**
 * supervisor_block_signals() - Keep the signals that a launch passes on for supervisor_run()
 * @ret:	Filled with them; those that this process was started to ignore are not among them
 */
void supervisor_block_signals(sigset_t *ret)
{
	static const int wanted[] = { SIGCHLD, SIGTERM, SIGHUP,   SIGINT,  SIGQUIT, SIGUSR1,
				      SIGUSR2, SIGALRM, SIGWINCH, SIGCONT, SIGTSTP };
	struct sigaction now;

	(void)sigemptyset(ret);
	for (size_t i = 0; i < N_ELEMENTS(wanted); i++)
		if (sigaction(wanted[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
			(void)sigaddset(ret, wanted[i]);
	(void)sigprocmask(SIG_BLOCK, ret, NULL);
}

/* ---- from start to end ---- */

static int watch(struct session *s, struct err *e)
{
	s->signals.fd = signalfd(-1, s->watched, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals.fd < 0)
		return err_set(e, errno, "watch for signals");
	if (relay_loop_add(s->loop, &s->signals, EPOLLIN, e) < 0)
		return -1;
	return relay_loop_add(s->loop, &s->job, EPOLLIN, e);
}

static int connect_terminals(struct session *s, const int *masters, struct err *e)
{
	int set = 0;

	for (size_t i = 0; i < s->terminals->n; i++) {
		struct pair *p = &s->pairs[i];

		p->hung = pair_hung;
		p->typed = pair_typed;
		p->owner = s;
		if (pair_start(p, s->loop, &s->terminals->tty[i], masters[i], e) < 0)
			set = err_wrap(e, "the agent's terminal");
	}
	return set;
}

static bool is_all_written(struct session *s)
{
	bool is_all = true;

	for (size_t i = 0; i < s->terminals->n; i++)
		is_all &= pair_finish(&s->pairs[i]);
	return is_all || s->is_cut;
}

/* An agent that was killed has left the terminal as it had it. */
static void leave_terminals(struct session *s)
{
	if (s->status < 0 || s->status > STATUS_SIGNALLED)
		for (size_t i = 0; i < s->terminals->n; i++)
			pair_reset_modes(&s->pairs[i]);
	if (s->is_attached)
		tty_restore(main_tty(s));
}

static int run(struct session *s, struct err *e)
{
	if (s->wants_keys && is_in_foreground(s))
		attach(s);
	else if (s->terminals->of[STDIN_FILENO] == 0)
		pair_set_keys(&s->pairs[0], PAIR_KEYS_SEEN);
	while (s->status < 0)
		if (relay_loop_run_once(s->loop, -1, e) < 0)
			return -1;
	while (!is_all_written(s))
		if (relay_loop_run_once(s->loop, -1, e) < 0)
			break;
	return s->status;
}

static void session_done(struct session *s)
{
	relay_timer_stop(s->loop, &s->hang_up);
	relay_timer_stop(s->loop, &s->unread);
	for (size_t i = 0; i < s->terminals->n && s->pairs != NULL; i++)
		pair_done(&s->pairs[i]);
	relay_loop_close(s->loop, &s->signals);
	relay_loop_remove(s->loop, &s->job);
	free(s->pairs);
}

/**
 * supervisor_run() - Carry an agent's terminals, signals and relays until it has ended
 * @sandbox:	The launch, with its terminals
 * @loop:	Loop in which the relays are, borrowed
 * @c:		The first process, in which the agent runs
 * @masters:	Of the ptys, one for each terminal; owned by the session from now on
 * @signals:	From supervisor_block_signals()
 * @e:		Set on failure: the agent may run
 *
 * Return: the agent's status; -1 on failure.  The terminals are as they were in both cases.
 */
int supervisor_run(const struct sandbox *sandbox, struct relay_loop *loop, struct child *c,
		   const int masters[TERMINALS_MAX], const sigset_t *signals, struct err *e)
{
	struct session s = { .loop = loop,
			     .child = c,
			     .terminals = sandbox->terminals,
			     .warn = sandbox->warn,
			     .watched = signals,
			     .signals = { .fd = -1, .ready = see_signals },
			     .job = { .fd = c->job, .ready = see_job },
			     .pairs = calloc(TERMINALS_MAX, sizeof(struct pair)),
			     .hang_up = { .fired = hung_too_long },
			     .unread = { .fired = is_left_unread },
			     .wants_keys = terminals_are_all(sandbox->terminals),
			     .has_been_attached = sandbox->attached,
			     .status = -1 };
	int status = -1;

	if (s.pairs == NULL)
		(void)err_set(e, ENOMEM, "keep a session");
	else if (connect_terminals(&s, masters, e) == 0 && watch(&s, e) == 0)
		status = run(&s, e);
	if (s.pairs != NULL)
		leave_terminals(&s);
	session_done(&s);
	return status;
}
