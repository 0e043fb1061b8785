/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Running an engine's program for a person
 *
 * In a process group of its own, which is killed as a whole when the time is over or the person
 * gives up.  What leaves the group, as an engine's monitors do, becomes a child of a caller that
 * is a subreaper once its parent has ended, and command_end_orphans() ends it.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "command.h"
#include "err.h"

/**
 * command_now() - Say what time it is
 *
 * Return: milliseconds of CLOCK_MONOTONIC
 */
int64_t command_now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the child ---- */

/* Says through @failed why it could not start; the pipe closes without a word if it could. */
static _Noreturn void run_child(char *const *argv, int output, int failed)
{
	sigset_t none;
	int input = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int why;

	(void)sigemptyset(&none);
	(void)signal(SIGPIPE, SIG_DFL);
	if (input >= 0 && setpgid(0, 0) == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 &&
	    sigprocmask(SIG_SETMASK, &none, NULL) == 0 && dup2(input, STDIN_FILENO) >= 0 &&
	    dup2(output, STDOUT_FILENO) >= 0 && dup2(output, STDERR_FILENO) >= 0)
		(void)execvp(argv[0], argv);
	why = errno;
	_exit(write(failed, &why, sizeof(why)) == (ssize_t)sizeof(why) ? 127 : 126);
}

/* ---- what it writes ---- */

/* Keeps the end.  Returns false when there is no more. */
static bool read_some(int from, struct command_result *r)
{
	char buf[COMMAND_OUTPUT_BYTES / 2];
	ssize_t n = read(from, buf, sizeof(buf));
	size_t drop;

	if (n < 0)
		return errno == EINTR;
	if (n == 0)
		return false;
	/* Then r->n is at least sizeof(buf), which is half of the room */
	drop = r->n + (size_t)n >= sizeof(r->output) ? sizeof(buf) : 0;
	memmove(r->output, r->output + drop, r->n - drop);
	memcpy(r->output + r->n - drop, buf, (size_t)n);
	r->n += (size_t)n - drop;
	r->output[r->n] = '\0';
	return true;
}

/* ---- its end ---- */

static int read_signal(int signals, struct err *e)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return err_set(e, errno, "read a signal");
	(void)err_set(e, 0, "signal %u", info.ssi_signo);
	e->code = EINTR;
	return -1;
}

/* Returns 0 when the process has ended, -1 if it has to be ended. */
static int wait_end(const struct command *c, int pidfd, int output, struct command_result *r,
		    struct err *e)
{
	struct pollfd fds[] = {
		{ .fd = pidfd, .events = POLLIN },
		{ .fd = c->signals, .events = POLLIN },
		{ .fd = output, .events = POLLIN },
	};

	for (;;) {
		const int64_t left = c->until - command_now();
		int n = left > 0 ? poll(fds, N_ELEMENTS(fds), (int)left) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(e, errno, "wait for %s", c->argv[0]);
		if (n == 0)
			return err_set(e, ETIMEDOUT, "%s", c->argv[0]);
		if (fds[1].revents != 0)
			return read_signal(c->signals, e);
		if (fds[2].revents != 0 && !read_some(output, r))
			fds[2].fd = -1;
		else if (fds[2].revents == 0 && fds[0].revents != 0)
			return 0;
	}
}

/* Of the whole group: its number is not anyone else's until its leader was waited for. */
static int end(pid_t pid, bool kill_it, struct err *e)
{
	int status, reaped;

	if (kill_it) {
		(void)kill(-pid, SIGKILL);
		(void)kill(pid, SIGKILL);
	}
	do
		reaped = waitpid(pid, &status, 0);
	while (reaped < 0 && errno == EINTR);
	return reaped < 0 ? err_set(e, errno, "wait for a process") : status;
}

static int check_start(int failed, const char *name, struct err *e)
{
	int why;

	if (read(failed, &why, sizeof(why)) != (ssize_t)sizeof(why))
		return 0;
	return err_set(e, why, "%s", name);
}

/* Returns 0 if there is none, or if the kernel doesn't tell. */
static pid_t first_child(void)
{
	cleanup_file FILE *f = fopen("/proc/thread-self/children", "re");
	int pid;

	return f != NULL && fscanf(f, "%d", &pid) == 1 ? (pid_t)pid : 0;
}

/**
 * command_end_orphans() - End the children that this process has by now
 *
 * For a subreaper, prctl(2): each that ends hands its own children on to us.
 */
void command_end_orphans(void)
{
	pid_t pid;

	while ((pid = first_child()) > 0) {
		/* Not ours to end, or not to wait for */
		if (kill(pid, SIGKILL) < 0)
			return;
		while (waitpid(pid, NULL, 0) < 0)
			if (errno != EINTR)
				return;
	}
}

/**
 * command_run() - Run a program to its end
 * @c:		Program
 * @ret:	Filled; @output also on failure
 * @e:		Set on failure, with the code ENOENT if there is no such program, ETIMEDOUT if its
 *		time was over, EINTR if a signal came
 *
 * Return: 0 if it ended by itself, however that was; -1 on failure: it has been killed
 */
int command_run(const struct command *c, struct command_result *ret, struct err *e)
{
	cleanup_fd int output = -1, output_end = -1, failed = -1, failed_end = -1, pidfd = -1;
	int ends[2], errors[2], result, status;
	pid_t pid;

	*ret = (struct command_result){ 0 };
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_set(e, errno, "make a pipe");
	output = ends[0];
	output_end = ends[1];
	if (pipe2(errors, O_CLOEXEC) < 0)
		return err_set(e, errno, "make a pipe");
	failed = errors[0];
	failed_end = errors[1];
	/* The program's own end waits, as everybody's does */
	if (fcntl(output_end, F_SETFL, 0) < 0)
		return err_set(e, errno, "make a pipe");
	pid = fork();
	if (pid < 0)
		return err_set(e, errno, "start a process");
	if (pid == 0)
		run_child(c->argv, output_end, failed_end);
	(void)close(steal_fd(&output_end));
	(void)close(steal_fd(&failed_end));

	result = check_start(failed, c->argv[0], e);
	pidfd = result < 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
	if (result == 0 && pidfd < 0)
		result = err_set(e, errno, "open process %d (needs Linux 5.3)", (int)pid);
	if (result == 0)
		result = wait_end(c, pidfd, output, ret, e);
	status = end(pid, result < 0, e);
	if (result < 0 || status < 0)
		return -1;
	ret->status = status;
	return 0;
}

/**
 * command_succeeded() - Say whether a program ended well
 * @r:		How it ended
 *
 * Return: true if it exited with 0
 */
bool command_succeeded(const struct command_result *r)
{
	return WIFEXITED(r->status) && WEXITSTATUS(r->status) == 0;
}

/**
 * command_last_line() - What a program said last, which is why it failed
 * @r:		How it ended; what it wrote is cut behind that line
 *
 * Return: the line, within @r
 */
const char *command_last_line(struct command_result *r)
{
	const char *line;

	while (r->n > 0 && strchr("\n\r \t", r->output[r->n - 1]) != NULL)
		r->output[--r->n] = '\0';
	line = strrchr(r->output, '\n');
	return line != NULL ? line + 1 : r->output;
}
