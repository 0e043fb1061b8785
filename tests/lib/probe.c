/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DOC: what no shell of a small container can do, for tests and the demo
 *
 * probe connect PATH: exit 0 if something accepts on the Unix socket, 1 if not
 * probe listen PATH: accept on it until killed
 * probe fds: the numbers of the open descriptors from 3 up, one a line
 */
#include "config.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static int unix_address(struct sockaddr_un *ret, const char *path)
{
	if (strlen(path) >= sizeof(ret->sun_path)) {
		fprintf(stderr, "%s: too long for a socket\n", path);
		return -1;
	}
	*ret = (struct sockaddr_un){ .sun_family = AF_UNIX };
	strcpy(ret->sun_path, path);
	return 0;
}

static int probe_connect(const char *path)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fail("socket");
	if (unix_address(&address, path) < 0)
		return 1;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return fail(path);
	return 0;
}

static int probe_listen(const char *path)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return fail("socket");
	if (unix_address(&address, path) < 0)
		return 1;
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 8) < 0)
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

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "connect"))
		return probe_connect(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "listen"))
		return probe_listen(argv[2]);
	if (argc == 2 && !strcmp(argv[1], "fds"))
		return probe_fds();
	fprintf(stderr, "usage: probe connect PATH | listen PATH | fds\n");
	return 2;
}
