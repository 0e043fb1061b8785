/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DOC: what goes through a relay that is measured
 *
 * traffic sink [ADDRESS]: accepts one connection after the other on a port that it prints, of
 *	127.0.0.1 or another address, reads all that comes, and then closes
 * traffic pump PORT MIB: sends so much to a port of 127.0.0.1, and prints MiB per second, until
 *	the last byte was read
 * traffic resolver: answers DNS queries on a port that it prints
 * traffic ask PORT N WINDOW: asks N times, WINDOW queries being in flight at a time, and prints
 *	the median time to an answer in microseconds, and answers per second
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BLOCK (256 * 1024)
#define WINDOW_MAX 512
#define ANSWER_MS 3000
#define LOOPBACK "127.0.0.1"

static char block[BLOCK];

static int fail(const char *what)
{
	perror(what);
	return 1;
}

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int bound_socket(int type, const char *at)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || inet_pton(AF_INET, at, &address.sin_addr) != 1 ||
	    bind(fd, (struct sockaddr *)&address, len) < 0 ||
	    (type == SOCK_STREAM && listen(fd, SOMAXCONN) < 0) ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		return -1;
	printf("%u\n", ntohs(address.sin_port));
	(void)fflush(stdout);
	return fd;
}

static int connected_socket(int type, const char *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)strtoul(port, NULL, 10)),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return fd;
}

static int sink(const char *at)
{
	int fd = bound_socket(SOCK_STREAM, at);

	if (fd < 0)
		return fail("listen");
	for (;;) {
		int peer = accept(fd, NULL, NULL);

		if (peer < 0)
			return fail("accept");
		while (recv(peer, block, sizeof(block), 0) > 0)
			;
		(void)close(peer);
	}
}

static int pump(const char *port, long mib)
{
	int fd = connected_socket(SOCK_STREAM, port);
	double start = now();

	if (fd < 0)
		return fail("connect");
	for (long left = mib * 1024 * 1024; left > 0;) {
		ssize_t n = send(fd, block, sizeof(block), MSG_NOSIGNAL);

		if (n < 0)
			return fail("send");
		left -= n;
	}
	if (shutdown(fd, SHUT_WR) < 0 || recv(fd, block, sizeof(block), 0) != 0)
		return fail("end");
	printf("%.0f\n", (double)mib / (now() - start));
	return 0;
}

static int resolver(void)
{
	int fd = bound_socket(SOCK_DGRAM, LOOPBACK);

	if (fd < 0)
		return fail("bind");
	for (;;) {
		struct sockaddr_in client;
		socklen_t len = sizeof(client);
		ssize_t n = recvfrom(fd, block, sizeof(block), 0, (struct sockaddr *)&client, &len);

		if (n < 12)
			continue;
		block[2] |= (char)0x80;
		(void)sendto(fd, block, (size_t)n, 0, (struct sockaddr *)&client, len);
	}
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int send_query(int fd, uint16_t id)
{
	uint8_t query[] = { (uint8_t)(id >> 8),
			    (uint8_t)id,
			    1,
			    0,
			    0,
			    1,
			    0,
			    0,
			    0,
			    0,
			    0,
			    0,
			    7,
			    'e',
			    'x',
			    'a',
			    'm',
			    'p',
			    'l',
			    'e',
			    3,
			    'o',
			    'r',
			    'g',
			    0,
			    0,
			    1,
			    0,
			    1 };

	return send(fd, query, sizeof(query), 0) < 0 ? -1 : 0;
}

static int ask(const char *port, long n, long window)
{
	static double sent[65536];
	double *took = calloc((size_t)n, sizeof(*took)), start = now();
	int fd = connected_socket(SOCK_DGRAM, port);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	long asked = 0, answered = 0;

	if (fd < 0 || took == NULL)
		return fail("connect");
	while (answered < n) {
		uint8_t msg[512];
		unsigned id;

		for (; asked < n && asked - answered < window; asked++) {
			sent[asked & 0xffff] = now();
			if (send_query(fd, (uint16_t)asked) < 0)
				return fail("send");
		}
		if (recv(fd, msg, sizeof(msg), MSG_DONTWAIT) < 2) {
			if (poll(&p, 1, ANSWER_MS) == 1)
				continue;
			errno = ETIMEDOUT;
			return fail("an answer");
		}
		id = (unsigned)msg[0] << 8 | msg[1];
		took[answered++] = now() - sent[id];
	}
	start = now() - start;
	qsort(took, (size_t)n, sizeof(*took), by_value);
	printf("%.1f %.0f\n", took[n / 2] * 1e6, (double)n / start);
	return 0;
}

static long number(const char *text)
{
	return strtol(text, NULL, 10);
}

int main(int argc, char **argv)
{
	if ((argc == 2 || argc == 3) && strcmp(argv[1], "sink") == 0)
		return sink(argc == 3 ? argv[2] : LOOPBACK);
	if (argc == 2 && strcmp(argv[1], "resolver") == 0)
		return resolver();
	if (argc == 4 && strcmp(argv[1], "pump") == 0)
		return pump(argv[2], number(argv[3]));
	if (argc == 5 && strcmp(argv[1], "ask") == 0 && number(argv[3]) > 0 &&
	    number(argv[4]) <= WINDOW_MAX)
		return ask(argv[2], number(argv[3]), number(argv[4]));
	(void)fprintf(
		stderr,
		"usage: traffic sink [ADDRESS] | pump PORT MIB | resolver | ask PORT N WINDOW\n");
	return 2;
}
