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
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "idmap.h"
#include "init.h"
#include "io.h"
#include "launch.h"
#include "sandbox.h"

#define MAP_MAX_BYTES (64 * 1024)
#define REPORT_MAX_BYTES 4096

#define NAMESPACES \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP)

/* The supervisor's ends of the pipes to the first process, and that process */
struct child {
	pid_t pid;
	int go;
	int report;
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

static pid_t clone_child(void)
{
	struct clone_args args = { .flags = NAMESPACES, .exit_signal = SIGCHLD };
	pid_t pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (pid < 0 && errno == ENOSYS) /* container engines' filters answer clone3 so */
		pid = (pid_t)syscall(SYS_clone, (unsigned long)(NAMESPACES | SIGCHLD), NULL, NULL,
				     NULL, NULL);
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

static int start(const struct sandbox *s, struct child *ret, struct err *e)
{
	cleanup_fd int go_r = -1, go_w = -1, report_r = -1, report_w = -1;
	int go[2], report[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC) < 0)
		return err_set(e, errno, "make a pipe");
	go_r = go[0];
	go_w = go[1];
	if (pipe2(report, O_CLOEXEC) < 0)
		return err_set(e, errno, "make a pipe");
	report_r = report[0];
	report_w = report[1];

	pid = clone_child();
	if (pid < 0)
		return refused(errno, e);
	if (pid == 0) {
		(void)close(go_w);
		(void)close(report_r);
		init_main(s, &(struct init_pipes){ .go = go_r, .report = report_w });
	}
	*ret = (struct child){ .pid = pid, .go = steal_fd(&go_w), .report = steal_fd(&report_r) };
	return 0;
}

/* Waits for the first process: its status as a shell would give it, or -1. */
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

static bool is_passed_on(int sig)
{
	return sig == SIGTERM || sig == SIGHUP || sig == SIGINT || sig == SIGQUIT ||
	       sig == SIGUSR1 || sig == SIGUSR2 || sig == SIGALRM;
}

/* What a person sends to the launch is for the agent; what the terminal sends it has got. */
static int supervise(pid_t pid, const sigset_t *set)
{
	for (;;) {
		siginfo_t info;
		int sig = sigwaitinfo(set, &info);
		int status = sig == SIGCHLD ? reap(pid, false) : -1;

		if (status >= 0)
			return status;
		if (sig > 0 && is_passed_on(sig) && info.si_code <= 0)
			(void)kill(pid, sig);
	}
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

static int abandon(struct child *c)
{
	close_p(&c->go);
	close_p(&c->report);
	(void)kill(c->pid, SIGKILL);
	(void)reap(c->pid, true);
	return -1;
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
	cleanup_free char *report = NULL;
	struct child c = { 0 };
	sigset_t set;

	*ret_status = 125;
	block_signals(&set);
	if (start(s, &c, e) < 0)
		return -1;
	if (write_maps(c.pid, s->launch, e) < 0 || write_all(c.go, "", 1, e) < 0)
		return abandon(&c);

	/* ends when the agent runs: from then on nobody holds the other end */
	report = read_fd(c.report, REPORT_MAX_BYTES, e);
	close_p(&c.report);
	if (report == NULL)
		return abandon(&c);
	if (report[0] != '\0') {
		*ret_status = reap(c.pid, true);
		close_p(&c.go);
		return err_set(e, 0, "%s", report);
	}
	*ret_status = supervise(c.pid, &set);
	close_p(&c.go);
	return 0;
}
