/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The supervisor: has the sandbox made, relays, and keeps the session
 *
 * It stays in the container's namespaces with the developer's rights, so it does as little as
 * it can, and returns the agent's status.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child.h"
#include "cleanup.h"
#include "err.h"
#include "io.h"
#include "launch.h"
#include "loop.h"
#include "relays.h"
#include "sandbox.h"
#include "supervisor.h"

#define REPORT_MAX_BYTES 4096
#define STATUS_FAILED 125

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
	child_kill(c);
	return -1;
}

/* The agent runs when the relays are there; its end of the report pipe is closed by that. */
static int let_run(struct child *c, int *ret_status, struct err *e)
{
	cleanup_free char *report = NULL;

	if (write_all(c->go, "", 1, e) < 0)
		return give_up(c, ret_status, e);
	report = read_fd(c->report, REPORT_MAX_BYTES, e);
	if (report == NULL) {
		child_kill(c);
		return -1;
	}
	if (report[0] != '\0') {
		*ret_status = child_reap(c->pid, true);
		return err_set(e, 0, "%s", report);
	}
	return 0;
}

/*
 * No other process of the developer's may trace this one or read its environment, prctl(2).  Not
 * before the id maps of the first process are written: an ordinary user could not then.
 */
static int close_to_others(struct err *e)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return err_set(e, errno, "close the supervisor to other processes");
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
	cleanup_child struct child c = CHILD_NONE;
	cleanup_relay_loop struct relay_loop *loop = NULL;
	cleanup_relays struct relays relays = { 0 };
	int masters[TERMINALS_MAX];
	sigset_t signals;

	*ret_status = STATUS_FAILED;
	supervisor_block_signals(&signals);
	if (child_make(s, &c, e) < 0)
		return -1;
	if (close_to_others(e) < 0)
		return give_up(&c, ret_status, e);
	if (write_all(c.go, "", 1, e) < 0)
		return give_up(&c, ret_status, e);
	prepare_to_relay(); /* nothing of this is the first process's to inherit */
	loop = relay_loop_new(e);
	if (loop == NULL || relays_start(s->launch, loop, c.sock, s->warn, &relays, e) < 0 ||
	    child_connect(&c, e) < 0 ||
	    terminals_take_masters(s->terminals, c.job, s->attached, masters, e) < 0)
		return give_up(&c, ret_status, e);
	if (let_run(&c, ret_status, e) < 0)
		return -1;
	*ret_status = supervisor_run(s, loop, &c, masters, &signals, e);
	if (*ret_status < 0) {
		*ret_status = STATUS_FAILED;
		child_kill(&c);
		return -1;
	}
	relays_drain(&relays);
	return 0;
}
