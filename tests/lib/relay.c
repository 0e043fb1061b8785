/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay dns [--KEY VALUE]... ADDRESS#PORT...
 *	Answers queries on 127.0.0.1 and ::1, UDP and TCP, by asking these resolvers.  KEY is one
 *	of max-udp, max-tcp, max-clients, try-ms, idle-ms.
 * relay stream [--max-fds N] PORT...
 *	For each PORT relays a port of 127.0.0.1 to it.
 * relay polled dns|stream ...
 *	As these, with poll(2) on the loop's fd, as a process with a loop of its own does it.
 *
 * Prints the ports that it listens on, in one line, and ends when stdin does.  A byte on stdin has
 * streams take no more connections.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cleanup.h"
#include "dns_relay.h"
#include "err.h"
#include "loop.h"
#include "stream.h"

#define BACKLOG 4096
#define PORTS_TRIED 64

/* A socket bound to an address of the loopback; @port 0: any, and it is set */
static int bind_to(int family, int type, uint16_t *port, struct err *e)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET,
				  .sin_port = htons(*port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
				   .sin6_port = htons(*port),
				   .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr *address = family == AF_INET ? (void *)&v4 : (void *)&v6;
	socklen_t len = family == AF_INET ? sizeof(v4) : sizeof(v6);
	cleanup_fd int fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0)
		return err_set(e, errno, "make a socket");
	if (type == SOCK_STREAM)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, address, len) < 0 || getsockname(fd, address, &len) < 0)
		return err_set(e, errno, "bind to port %u", *port);
	if (type == SOCK_STREAM && listen(fd, BACKLOG) < 0)
		return err_set(e, errno, "listen");
	*port = ntohs(family == AF_INET ? v4.sin_port : v6.sin6_port);
	return steal_fd(&fd);
}

/* The same port four times */
static int dns_listen(struct dns_relay *r, struct err *e)
{
	uint16_t port = 0;
	cleanup_fd int udp4 = bind_to(AF_INET, SOCK_DGRAM, &port, e);
	cleanup_fd int udp6 = bind_to(AF_INET6, SOCK_DGRAM, &port, e);
	cleanup_fd int tcp4 = bind_to(AF_INET, SOCK_STREAM, &port, e);
	cleanup_fd int tcp6 = bind_to(AF_INET6, SOCK_STREAM, &port, e);

	if (udp4 < 0 || udp6 < 0 || tcp4 < 0 || tcp6 < 0)
		return e->code == EADDRINUSE ? 0 : -1;
	if (dns_relay_take_udp(r, steal_fd(&udp4), e) < 0 ||
	    dns_relay_take_udp(r, steal_fd(&udp6), e) < 0 ||
	    dns_relay_take_tcp(r, steal_fd(&tcp4), e) < 0 ||
	    dns_relay_take_tcp(r, steal_fd(&tcp6), e) < 0)
		return -1;
	printf("%u\n", port);
	return 1;
}

static int parse_resolver(char *text, struct sockaddr_storage *ret, struct err *e)
{
	struct sockaddr_in *v4 = (void *)ret;
	struct sockaddr_in6 *v6 = (void *)ret;
	char *port = strchr(text, '#');

	if (port == NULL)
		return err_set(e, 0, "%s: not ADDRESS#PORT", text);
	*port++ = '\0';
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons((uint16_t)strtoul(port, NULL, 10));
	} else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = htons((uint16_t)strtoul(port, NULL, 10));
	} else {
		return err_set(e, 0, "%s: no address", text);
	}
	return 0;
}

static int set_option(struct dns_relay_options *o, const char *key, unsigned value, struct err *e)
{
	if (strcmp(key, "--max-udp") == 0)
		o->max_udp = value;
	else if (strcmp(key, "--max-tcp") == 0)
		o->max_tcp = value;
	else if (strcmp(key, "--max-clients") == 0)
		o->max_clients = value;
	else if (strcmp(key, "--try-ms") == 0)
		o->try_ms = value;
	else if (strcmp(key, "--again-ms") == 0)
		o->again_ms = value;
	else if (strcmp(key, "--idle-ms") == 0)
		o->idle_ms = value;
	else
		return err_set(e, 0, "%s: unknown option", key);
	return 0;
}

struct end {
	struct relay_watch watch;
	struct stream_relay *stream;
	bool reached;
};

static void stdin_ready(struct relay_watch *w, uint32_t events)
{
	struct end *end = relay_owner_of(w, struct end, watch);
	char byte;

	(void)events;
	if (read(w->fd, &byte, 1) == 1 && end->stream != NULL)
		stream_relay_stop(end->stream);
	else
		end->reached = true;
}

static int run(struct relay_loop *loop, struct stream_relay *stream, bool is_polled, struct err *e)
{
	struct pollfd p = { .fd = relay_loop_fd(loop), .events = POLLIN };
	struct end end = { .watch = { .fd = STDIN_FILENO, .ready = stdin_ready },
			   .stream = stream };

	if (relay_loop_add(loop, &end.watch, EPOLLIN, e) < 0)
		return -1;
	(void)fflush(stdout);
	while (!end.reached) {
		if (is_polled && poll(&p, 1, -1) < 0)
			return err_set(e, errno, "poll the loop");
		if (relay_loop_run_once(loop, is_polled ? 0 : -1, e) < 0)
			return -1;
	}
	relay_loop_remove(loop, &end.watch);
	return 0;
}

static int main_dns(char **args, bool is_polled, struct err *e)
{
	cleanup_relay_loop struct relay_loop *loop = relay_loop_new(e);
	cleanup_dns_relay struct dns_relay *r = NULL;
	struct dns_relay_options o = { 0 };
	int ready = 0;

	for (; args[0] != NULL && args[0][0] == '-' && args[1] != NULL; args += 2)
		if (set_option(&o, args[0], (unsigned)strtoul(args[1], NULL, 10), e) < 0)
			return -1;
	for (; *args != NULL; args++)
		if (o.n_resolvers == DNS_RESOLVERS_MAX ||
		    parse_resolver(*args, &o.resolvers[o.n_resolvers++], e) < 0)
			return -1;
	if (loop == NULL || (r = dns_relay_new(loop, &o, e)) == NULL)
		return -1;
	for (int i = 0; i < PORTS_TRIED && ready == 0; i++)
		ready = dns_listen(r, e);
	return ready == 1 ? run(loop, NULL, is_polled, e) : -1;
}

static int new_socket(void *ctx, int family, int type, struct err *e)
{
	int fd = socket(family, type, 0);

	(void)ctx;
	return fd < 0 ? err_set(e, errno, "make a socket") : fd;
}

static int main_stream(char **args, bool is_polled, struct err *e)
{
	cleanup_relay_loop struct relay_loop *loop = relay_loop_new(e);
	cleanup_stream_relay struct stream_relay *r = NULL;

	if (loop == NULL || (r = stream_relay_new(loop, e)) == NULL)
		return -1;
	if (args[0] != NULL && strcmp(args[0], "--max-fds") == 0 && args[1] != NULL) {
		rlim_t n = strtoul(args[1], NULL, 10);
		struct rlimit limit = { n, n };

		if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
			return err_set(e, errno, "limit the file descriptors");
		args += 2;
	}
	for (; *args != NULL; args++) {
		struct stream_target target = { .port = (uint16_t)strtoul(*args, NULL, 10),
						.new_socket = new_socket };
		uint16_t port = 0;
		int fd = bind_to(AF_INET, SOCK_STREAM, &port, e);

		if (fd < 0 || stream_relay_take_listener(r, fd, &target, e) < 0)
			return -1;
		printf(args[1] == NULL ? "%u\n" : "%u ", port);
	}
	return run(loop, r, is_polled, e);
}

int main(int argc, char **argv)
{
	struct err e = { 0 };
	int status = -1;
	bool is_polled;

	(void)signal(SIGPIPE, SIG_IGN);
	is_polled = argc > 1 && strcmp(argv[1], "polled") == 0;
	argc -= is_polled;
	argv += is_polled;
	if (argc > 2 && strcmp(argv[1], "dns") == 0)
		status = main_dns(argv + 2, is_polled, &e);
	else if (argc > 2 && strcmp(argv[1], "stream") == 0)
		status = main_stream(argv + 2, is_polled, &e);
	else
		(void)err_set(&e, 0, "usage: relay dns|stream ...");
	if (status < 0)
		(void)fprintf(stderr, "relay: %s\n", e.msg);
	return status < 0 ? 1 : 0;
}
