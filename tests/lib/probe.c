/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DOC: what no shell of a small container can do, for tests and the demo
 *
 * probe connect PATH: exit 0 if something accepts on the Unix socket, 1 if not
 * probe listen PATH: accept on it until killed
 * probe fds: the numbers of the open descriptors from 3 up, one a line
 * probe enter NAMESPACE COMMAND ARG...: run it in a namespace, with whatever that gives
 * probe power NAMESPACE FILE: enter a user namespace, and read a file with all capabilities there:
 *	a program that is run by others than root would lose them
 * probe connects N ADDRESS PORT: make N TCP connections, one after the other
 * probe crowd N ADDRESS PORT: make N TCP connections, then have a byte come back on each
 * probe messages N ADDRESS PORT: send the messages on stdin, each behind its length, N times by UDP
 * probe flock|fcntl FILE COMMAND ARG...: run it with that lock on the file; exit 3 if it is taken
 * probe calls: the system calls that the sandbox's filter has to refuse, and how each ended
 */
#include "config.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static int fail(const char *what)
{
	perror(what);
	return 1;
}

/* "@NAME" is the abstract NAME, as in unix(7) and in /proc/net/unix. */
static int unix_address(struct sockaddr_un *ret, socklen_t *len, const char *path)
{
	if (strlen(path) >= sizeof(ret->sun_path)) {
		fprintf(stderr, "%s: too long for a socket\n", path);
		return -1;
	}
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	strcpy(ret->sun_path, path);
	*len = sizeof(*ret);
	if (path[0] == '@') {
		ret->sun_path[0] = '\0';
		*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	}
	return 0;
}

static int probe_connect(const char *path)
{
	struct sockaddr_un address;
	socklen_t len;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fail("socket");
	if (unix_address(&address, &len, path) < 0)
		return 1;
	if (connect(fd, (struct sockaddr *)&address, len) < 0)
		return fail(path);
	return 0;
}

static int probe_listen(const char *path)
{
	struct sockaddr_un address;
	socklen_t len;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fail("socket");
	if (unix_address(&address, &len, path) < 0)
		return 1;
	if (bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, 8) < 0)
		return fail(path);
	for (;;) {
		int peer = accept(fd, NULL, NULL);

		if (peer < 0)
			return fail("accept");
		(void)close(peer);
	}
}

static int probe_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!dir)
		return fail("/proc/self/fd");
	while ((entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && fd != dirfd(dir))
			printf("%d\n", fd);
	}
	(void)closedir(dir);
	return 0;
}

static void say(const char *name, long result)
{
	printf("%s %s\n", name, result < 0 ? strerrorname_np(errno) : "done");
}

/* Each with arguments that the kernel itself answers in another way than a filter does. */
static int probe_calls(void)
{
	char c = 'x';

	say("TIOCSTI", ioctl(STDIN_FILENO, TIOCSTI, &c));
	/* the upper half is not looked at by the kernel */
	say("TIOCSTI-high", syscall(SYS_ioctl, STDIN_FILENO, TIOCSTI | 1UL << 32, &c));
	say("TIOCLINUX", ioctl(STDIN_FILENO, TIOCLINUX, &c));
	say("keyctl", syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 1));
	say("add_key", syscall(SYS_add_key, NULL, NULL, NULL, 0, 0));
	say("request_key", syscall(SYS_request_key, NULL, NULL, NULL, 0));
	say("bpf", syscall(SYS_bpf, -1, NULL, 0));
	say("perf_event_open", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
	say("userfaultfd", syscall(SYS_userfaultfd, -1));
	say("io_uring_setup", syscall(SYS_io_uring_setup, 0, NULL));
	say("vsock", socket(AF_VSOCK, SOCK_STREAM, 0));
	return 0;
}

static int probe_enter(const char *path, char **command)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return fail(path);
	if (setns(fd, 0) < 0)
		return fail("setns");
	(void)execvp(command[0], command);
	return fail(command[0]);
}

static int probe_power(const char *path, const char *file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[4096];
	ssize_t n;

	if (fd < 0)
		return fail(path);
	if (setns(fd, CLONE_NEWUSER) < 0)
		return fail("setns");
	(void)close(fd);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(file);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		(void)fwrite(buf, 1, (size_t)n, stdout);
	(void)close(fd);
	return n < 0 ? fail(file) : 0;
}

static int connected(const struct sockaddr_in *a, int type)
{
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)a, sizeof(*a)) < 0) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

static int probe_connects(unsigned long n, const struct sockaddr_in *a)
{
	for (; n > 0; n--) {
		int fd = connected(a, SOCK_STREAM);

		if (fd < 0)
			return fail("connect");
		(void)close(fd);
	}
	return 0;
}

static int probe_crowd(unsigned long n, const struct sockaddr_in *a)
{
	int *fds = calloc(n + 1, sizeof(*fds));
	struct rlimit limit;

	if (fds == NULL || getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return fail("prepare");
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	for (unsigned long i = 0; i < n; i++)
		if ((fds[i] = connected(a, SOCK_STREAM)) < 0)
			return fail("connect");
	for (unsigned long i = 0; i < n; i++) {
		char byte = (char)i, back;

		if (send(fds[i], &byte, 1, 0) != 1 || recv(fds[i], &back, 1, 0) != 1)
			return fail("one of the crowd");
		if (byte != back) {
			fprintf(stderr, "connection %lu brought another's byte\n", i);
			return 1;
		}
	}
	free(fds);
	return 0;
}

/* Nobody at the port, and nothing else, is an error. */
static int send_messages(int fd, const uint8_t *all, size_t len)
{
	for (size_t at = 0, n; at + 2 <= len; at += 2 + n) {
		n = (size_t)(all[at] << 8 | all[at + 1]);
		if (n > len - at - 2)
			n = len - at - 2;
		if (send(fd, all + at + 2, n, 0) < 0 && errno == ECONNREFUSED)
			return fail("send");
	}
	return 0;
}

static int probe_messages(unsigned long n, const struct sockaddr_in *a)
{
	static uint8_t all[1024 * 1024];
	size_t len = fread(all, 1, sizeof(all), stdin);
	int fd = connected(a, SOCK_DGRAM), status = 0;

	if (fd < 0 || len == 0)
		return fail("prepare");
	for (; n > 0 && status == 0; n--)
		status = send_messages(fd, all, len);
	(void)close(fd);
	return status;
}

static int probe_network(char **argv)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((uint16_t)strtoul(argv[4], NULL, 10)) };
	unsigned long n = strtoul(argv[2], NULL, 10);

	if (inet_pton(AF_INET, argv[3], &a.sin_addr) != 1)
		return fail(argv[3]);
	if (strcmp(argv[1], "crowd") == 0)
		return probe_crowd(n, &a);
	return strcmp(argv[1], "messages") == 0 ? probe_messages(n, &a) : probe_connects(n, &a);
}

/* Both are kept by execve(2). */
static int probe_lock(const char *kind, const char *file, char **command)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(file, O_RDWR | O_CREAT, 0600), failed;

	if (fd < 0)
		return fail(file);
	failed = strcmp(kind, "flock") == 0 ? flock(fd, LOCK_EX | LOCK_NB)
					    : fcntl(fd, F_SETLK, &whole);
	if (failed < 0)
		return errno == EAGAIN || errno == EACCES ? 3 : fail(kind);
	(void)execvp(command[0], command);
	return fail(command[0]);
}

int main(int argc, char **argv)
{
	if (argc >= 4 && (!strcmp(argv[1], "flock") || !strcmp(argv[1], "fcntl")))
		return probe_lock(argv[1], argv[2], argv + 3);
	if (argc == 5 && (!strcmp(argv[1], "connects") || !strcmp(argv[1], "crowd") ||
			  !strcmp(argv[1], "messages")))
		return probe_network(argv);
	if (argc >= 4 && !strcmp(argv[1], "enter"))
		return probe_enter(argv[2], argv + 3);
	if (argc == 4 && !strcmp(argv[1], "power"))
		return probe_power(argv[2], argv[3]);
	if (argc == 3 && !strcmp(argv[1], "connect"))
		return probe_connect(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "listen"))
		return probe_listen(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "fds"))
		return probe_fds();
	if (argc == 2 && !strcmp(argv[1], "calls"))
		return probe_calls();
	fprintf(stderr,
		"usage: probe connect PATH | listen PATH | fds | calls |\n"
		"       connects|crowd|messages N ADDRESS PORT | enter NAMESPACE COMMAND... |\n"
		"       power NAMESPACE FILE | flock|fcntl FILE COMMAND...\n");
	return 2;
}
