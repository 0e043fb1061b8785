/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Trying something without a trace
 *
 * What is tried changes namespaces and capabilities, and may hang.  So a child does it: it dies
 * with its parent or when its time is over, is always reaped, and the kernel takes back what was
 * in its namespaces.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "probe.h"

#define TIME_LIMIT 5 /* seconds; the slowest probe takes some hundredths */

/**
 * struct report - what the child has to say
 * @status:	What its function returned
 * @e:		Why
 *
 * One write, of less than PIPE_BUF bytes: it is there as a whole or not at all, pipe(7).
 */
struct report {
	int status;
	struct err e;
};
_Static_assert(sizeof(struct report) <= PIPE_BUF, "a report is one write");

/* By the pipe, and not by getppid(), which is 0 in a process namespace of one's own. */
static bool has_reader(int report)
{
	struct pollfd p = { .fd = report };

	return poll(&p, 1, 0) == 0;
}

static _Noreturn void run_child(int to, probe_fn try, const void *arg)
{
	struct report r = { .status = -1 };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		(void)err_set(&r.e, errno, "die with the parent");
	else if (!has_reader(to))
		(void)err_set(&r.e, 0, "the parent is gone");
	else
		r.status = try(arg, &r.e);
	/* A report that is not there is a failure, too */
	_exit(write(to, &r, sizeof(r)) == (ssize_t)sizeof(r) ? EXIT_SUCCESS : EXIT_FAILURE);
}

static void end_child(pid_t pid)
{
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}

/**
 * probe_start() - Begin to try something in a child process
 * @ret:	Filled on success; probe_finish() has to follow
 * @try:	What to try.  It is called in the child, and may change whatever is the child's.
 * @arg:	For @try
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int probe_start(struct probe *ret, probe_fn try, const void *arg, struct err *e)
{
	cleanup_fd int read_end = -1, write_end = -1;
	int ends[2], pidfd;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_set(e, errno, "make a pipe");
	read_end = ends[0];
	write_end = ends[1];
	pid = fork();
	if (pid < 0)
		return err_set(e, errno, "start a process");
	if (pid == 0) {
		(void)close(read_end);
		run_child(write_end, try, arg);
	}
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0) {
		(void)err_set(e, errno, "open process %d (needs Linux 5.3)", (int)pid);
		end_child(pid);
		return -1;
	}

	ret->pid = pid;
	ret->pidfd = pidfd;
	ret->report = steal_fd(&read_end);
	return 0;
}

/* Returns 1 if the process has ended, 0 if it has not in time. */
static int wait_end(int pidfd, struct err *e)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };
	int n;

	do
		n = poll(&p, 1, TIME_LIMIT * 1000);
	while (n < 0 && errno == EINTR);
	return n < 0 ? err_set(e, errno, "wait for a process") : n;
}

static int reap(int pidfd, siginfo_t *ret, struct err *e)
{
	int failed;

	do
		failed = waitid(P_PIDFD, (id_t)pidfd, ret, WEXITED);
	while (failed < 0 && errno == EINTR);
	return failed < 0 ? err_set(e, errno, "wait for a process (needs Linux 5.4)") : 0;
}

static int read_report(int from, struct err *e)
{
	struct report r;

	if (read(from, &r, sizeof(r)) != (ssize_t)sizeof(r))
		return err_set(e, 0, "the process that tried it said nothing");
	if (r.status != 0)
		*e = r.e;
	return r.status;
}

/**
 * probe_finish() - Wait for the end of what probe_start() began
 * @p:		Probe; it owns nothing afterwards
 * @e:		Set on failure: what the child's function said, or what ended the child
 *
 * Return: what the child's function returned, -1 if it did not get to its end
 */
int probe_finish(struct probe *p, struct err *e)
{
	cleanup_fd int pidfd = steal_fd(&p->pidfd);
	cleanup_fd int report = steal_fd(&p->report);
	siginfo_t info = { 0 };
	int ended = wait_end(pidfd, e);

	if (ended != 1)
		(void)syscall(SYS_pidfd_send_signal, pidfd, SIGKILL, NULL, 0);
	if (reap(pidfd, &info, e) < 0 || ended < 0)
		return -1;
	if (ended == 0)
		return err_set(e, 0, "no end after %d s", TIME_LIMIT);
	if (info.si_code != CLD_EXITED)
		return err_set(e, 0, "the process that tried it ended by signal %d",
			       info.si_status);
	return read_report(report, e);
}

/**
 * probe_run() - Try something in a child process, and wait for its end
 * @try:	As for probe_start()
 * @arg:	As for probe_start()
 * @e:		As for probe_finish()
 *
 * Return: as probe_finish()
 */
int probe_run(probe_fn try, const void *arg, struct err *e)
{
	struct probe p;

	if (probe_start(&p, try, arg, e) < 0)
		return -1;
	return probe_finish(&p, e);
}
