/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The network of a launch that has none from the hook
 *
 * Two programs make it out of an empty network namespace: egress has the rules put into force,
 * and pasta(1) connects it to the network that the container is on.  Both are started by the
 * supervisor, which stays in the container's namespaces, and both must have done their part before
 * the agent runs.  They die with the supervisor.
 *
 * pasta forwards no port in either direction: what goes between the agent's loopback and the
 * container's goes by relay.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "io.h"
#include "launch.h"
#include "pasta.h"
#include "trusted.h"

#define EGRESS LIBEXEC_DIR "/egress"
#define OWN_PASTA LIBEXEC_DIR "/pasta"
#define TUN "/dev/net/tun"

#define WAIT_MS 10000      /* pasta takes some hundredths of a second */
#define SAYS_BYTES 4096    /* what fits; more is lost */
#define STATUS_NOT_RUN 127 /* the loader's for a missing library, too */

/* The image's is run with the developer's rights, so it must be root's. */
static const char *const places[] = { "/usr/bin/pasta", "/usr/local/bin/pasta" };

/* The host's own comes first, in the folder that the shim is in: an image need not have one. */
static const char *find(struct err *e)
{
	if (access(OWN_PASTA, X_OK) == 0)
		return OWN_PASTA;
	for (size_t i = 0; i < N_ELEMENTS(places); i++) {
		cleanup_fd int fd = trusted_open(places[i], O_PATH, S_IFREG, e);

		if (fd >= 0)
			return places[i];
		if (e->code != ENOENT && e->code != ENOTDIR)
			return NULL;
	}
	(void)err_set(e, 0,
		      "pasta is missing, which connects agents to the network here: install the "
		      "package passt in the container");
	return NULL;
}

/**
 * pasta_check() - Make sure that there is what a launch's own network needs
 * @e:		Set if something is missing, with what to do about it
 *
 * Return: 0 if all is there, -1 if not
 */
int pasta_check(struct err *e)
{
	cleanup_fd int tun = open(TUN, O_RDWR | O_CLOEXEC);

	if (tun < 0)
		(void)err_set(e, errno, "open " TUN ", which pasta needs (%s)",
			      errno == EACCES ? "on the host, `chmod 666 " TUN "` is usual"
					      : "start the container with `--device " TUN "`");
	else if (access(EGRESS, X_OK) < 0)
		(void)err_set(e, errno, EGRESS);
	else if (find(e) != NULL)
		return 0;
	return err_wrap(e, "no network for agents (`egress = none` is a policy that needs none)");
}

/* ---- starting ---- */

/* A text to read from the start. */
static int text_fd(const char *name, const char *text, size_t bytes, struct err *e)
{
	cleanup_fd int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		return err_set(e, errno, "allocate a text");
	if (write_all(fd, text, bytes, e) < 0 || lseek(fd, 0, SEEK_SET) != 0)
		return err_wrap(e, "a text");
	return steal_fd(&fd);
}

/* Room for what a program says; it can't take more, and does not wait for a reader. */
static int room_fd(struct err *e)
{
	cleanup_fd int fd = memfd_create("says", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, SAYS_BYTES) < 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) < 0)
		return err_set(e, errno, "allocate a text");
	return steal_fd(&fd);
}

/*
 * In a session of its own, so that what a person types is not for it; with no descriptor but its
 * own three, and nothing of the developer's environment.
 */
static _Noreturn void be_program(char *const argv[], int in, int out, int says, pid_t parent)
{
	char *const env[] = { (char[]){ "PATH=/usr/sbin:/usr/bin:/sbin:/bin" },
			      (char[]){ "LC_ALL=C" }, NULL };
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	if (setsid() >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
	    dup2(says, STDERR_FILENO) >= 0 && close_range(STDERR_FILENO + 1, ~0U, 0) == 0 &&
	    chdir("/") == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent)
		(void)execve(argv[0], argv, env);
	(void)dprintf(STDERR_FILENO, "%s", strerror(errno));
	_exit(STATUS_NOT_RUN);
}

static void program_done(struct program *p)
{
	if (p->pid > 0) {
		(void)kill(p->pid, SIGKILL);
		while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	close_p(&p->pidfd);
	close_p(&p->out);
	close_p(&p->says);
	*p = (struct program)PROGRAM_NONE;
}

static int start(char *const argv[], int in, struct program *ret, struct err *e)
{
	CLEANUP(program_done) struct program p = { .pidfd = -1, .out = -1, .says = room_fd(e) };
	const pid_t self = getpid();
	cleanup_fd int out = -1;
	int ends[2];

	if (p.says < 0)
		return -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(e, errno, "make a pipe");
	p.out = ends[0];
	out = ends[1];
	p.pid = fork();
	if (p.pid == 0)
		be_program(argv, in, out, p.says, self);
	p.pidfd = p.pid < 0 ? -1 : (int)syscall(SYS_pidfd_open, p.pid, 0);
	if (p.pidfd < 0)
		return err_set(e, errno, "start %s", argv[0]);

	*ret = p;
	p = (struct program)PROGRAM_NONE;
	return 0;
}

static int start_rules(const struct launch *l, char *holder, struct program *ret, struct err *e)
{
	char path[] = EGRESS;
	char *const argv[] = { path, holder, NULL };
	cleanup_free char *text = NULL;
	cleanup_fd int in = -1;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (f == NULL)
		return err_set(e, ENOMEM, "allocate the policy");
	(void)policy_print(f, &l->policy);
	if (fclose(f) != 0)
		return err_set(e, ENOMEM, "allocate the policy");
	in = text_fd("policy", text, size, e);
	return in < 0 ? -1 : start(argv, in, ret, e);
}

/*
 * Of real root pasta becomes nobody, who may not enter the namespaces: --runas.  It writes its
 * process ID when the network is there, and to a path, not to a descriptor.
 */
static int start_pasta(const struct launch *l, char *holder, struct program *ret, struct err *e)
{
	const char *path = find(e);
	cleanup_fd int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	char *argv[32];
	size_t n = 0;
	const char *const fixed[] = {
		path,          "--foreground",    "--quiet",     "--config-net",
		"--no-map-gw", "--tcp-ports",     "none",        "--udp-ports",
		"none",        "--tcp-ns",        "none",        "--udp-ns",
		"none",        "--no-dhcp",       "--no-dhcpv6", "--no-ra",
		"--pid",       "/proc/self/fd/1",
	};

	if (path == NULL)
		return -1;
	if (in < 0)
		return err_set(e, errno, "open /dev/null");
	for (; n < N_ELEMENTS(fixed); n++)
		argv[n] = (char *)fixed[n];
	if (l->uid == 0) {
		argv[n++] = (char *)"--runas";
		argv[n++] = (char *)"0:0";
	}
	argv[n++] = holder;
	argv[n] = NULL;
	return start(argv, in, ret, e);
}

/**
 * pasta_start() - Begin to connect a network, and to put its rules into force
 * @l:		The launch
 * @holder:	Process that is in the network's namespaces, and has all power over them; it
 *		must not end before pasta_wait() returns
 * @ret:	Filled on success
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int pasta_start(const struct launch *l, pid_t holder, struct pasta *ret, struct err *e)
{
	char pid[16];

	*ret = (struct pasta)PASTA_NONE;
	(void)snprintf(pid, sizeof(pid), "%d", (int)holder);
	/* pasta takes longer */
	if (start_pasta(l, pid, &ret->pasta, e) == 0 && start_rules(l, pid, &ret->rules, e) == 0)
		return 0;
	pasta_done(ret);
	return -1;
}

/* ---- waiting ---- */

/* The error that a program ended with: what it said, one line. */
static int failed(struct program *p, const char *name, int wstatus, struct err *e)
{
	char text[SAYS_BYTES + 1] = "";

	if (pread(p->says, text, SAYS_BYTES, 0) < 0)
		text[0] = '\0';
	for (char *c = text; *c != '\0'; c++)
		if (*c == '\n')
			*c = c[1] == '\0' ? '\0' : ';';
	(void)err_set(e, 0, "%s", text);
	if (WIFSIGNALED(wstatus))
		(void)err_wrap(e, "%s was killed by signal %d", name, WTERMSIG(wstatus));
	else
		(void)err_wrap(e, "%s ended with status %d", name, WEXITSTATUS(wstatus));
	if (WIFEXITED(wstatus) && WEXITSTATUS(wstatus) == STATUS_NOT_RUN)
		(void)err_wrap(e, "a program or a library is missing (egress needs libnftnl.so.11 "
				  "and libmnl.so.0, packages libnftnl11 and libmnl0)");
	return err_wrap(e, "the agent's network");
}

static int ended(struct program *p, int *ret_wstatus)
{
	pid_t got;

	do
		got = waitpid(p->pid, ret_wstatus, 0);
	while (got < 0 && errno == EINTR);
	p->pid = 0;
	return got < 0 ? -1 : 0;
}

/* Returns 1 when the rules are in force, 0 while they are not. */
static int see_rules(struct program *p, struct err *e)
{
	int wstatus;

	if (ended(p, &wstatus) < 0)
		return err_set(e, errno, "wait for egress");
	if (!WIFEXITED(wstatus) || WEXITSTATUS(wstatus) != 0)
		return failed(p, "egress", wstatus, e);
	return 1;
}

/* Returns 1 when pasta has written its process ID. */
static int see_pasta(struct program *p, struct err *e)
{
	char line[16];
	ssize_t n = read(p->out, line, sizeof(line));
	int wstatus;

	if (n > 0)
		return 1;
	(void)kill(p->pid, SIGKILL); /* it has closed its output, whatever it does */
	if (ended(p, &wstatus) < 0)
		return err_set(e, errno, "wait for pasta");
	return failed(p, "pasta", wstatus, e);
}

static int64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/**
 * pasta_wait() - Wait until a network is connected, with its rules in force
 * @p:		From pasta_start()
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure: then nothing may run in that network
 */
int pasta_wait(struct pasta *p, struct err *e)
{
	const int64_t end = now_ms() + WAIT_MS;
	struct pollfd fds[] = { { .fd = p->rules.pidfd, .events = POLLIN },
				{ .fd = p->pasta.out, .events = POLLIN } };
	int done = 0, n;

	while (done < 2) {
		const int64_t left = end - now_ms();

		n = poll(fds, N_ELEMENTS(fds), left > 0 ? (int)left : 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(e, n < 0 ? errno : ETIMEDOUT,
				       "wait for the agent's network (pasta and egress)");
		for (size_t i = 0; i < N_ELEMENTS(fds); i++) {
			if (fds[i].revents == 0)
				continue;
			if ((i == 0 ? see_rules(&p->rules, e) : see_pasta(&p->pasta, e)) < 0)
				return -1;
			fds[i].fd = -1;
			done++;
		}
	}
	return 0;
}

/**
 * pasta_has_ended() - Say whether a network that was connected no longer is
 * @p:		From pasta_start()
 *
 * Return: true once, when pasta has ended; false before and afterwards, and if there is none
 */
bool pasta_has_ended(struct pasta *p)
{
	int wstatus;

	if (p->pasta.pid == 0 || waitpid(p->pasta.pid, &wstatus, WNOHANG) == 0)
		return false;
	p->pasta.pid = 0;
	return true;
}

/**
 * pasta_done() - End what pasta_start() started; the network is not connected then
 * @p:		From pasta_start()
 */
void pasta_done(struct pasta *p)
{
	program_done(&p->pasta);
	program_done(&p->rules);
}
