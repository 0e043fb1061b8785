/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Relays between the container's network and the agent's
 *
 * A socket belongs to the network namespace that it was made in, whoever holds it.  So listeners in
 * the agent's network are made by a process that is there, and handed to the supervisor, which
 * stays in the container's: what is asked of it is asked from there.  Sockets that connect in the
 * agent's network are made by the sandbox's first process, one for each request.
 *
 * Sessions of one user share his agents' network.  Ports are shared by SO_REUSEPORT: all of their
 * relays lead to the same, and when one session ends the others' are still there.  The DNS relay
 * has an address for each session.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "err.h"
#include "fds.h"
#include "launch.h"
#include "relays.h"

#define PORT_DNS 53
#define BACKLOG SOMAXCONN                  /* who finds no room tries again after a whole second */
#define DRAIN_MS 250                       /* a person waits for it */
#define PORTS_MAX (POLICY_NUMBERS_MAX + 1) /* local-port, local-model-port */
#define LISTENERS_MAX (2 + 2 * PORTS_MAX)  /* DNS by UDP and TCP; each port twice */

_Static_assert(LISTENERS_MAX <= FDS_MAX, "one message has all listeners");

enum listener_kind {
	LISTENER_DNS_UDP,
	LISTENER_DNS_TCP,
	LISTENER_PORT,
};

/**
 * struct listeners - listeners in the agent's network, as one message
 * @n:		How many descriptors come with it
 * @kind:	What each is for
 * @port:	LISTENER_PORT: which
 * @n_taken:	How many ports are somebody else's
 * @taken:	Which
 */
struct listeners {
	uint32_t n;
	uint8_t kind[LISTENERS_MAX];
	uint16_t port[LISTENERS_MAX];
	uint32_t n_taken;
	uint16_t taken[PORTS_MAX];
};

static void close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)close(fds[i]);
}

/* ---- making listeners ---- */

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t loopback(int family, uint16_t port, union address *ret)
{
	*ret = (union address){ 0 };
	if (family == AF_INET) {
		ret->v4.sin_family = AF_INET;
		ret->v4.sin_port = htons(port);
		ret->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return sizeof(ret->v4);
	}
	ret->v6.sin6_family = AF_INET6;
	ret->v6.sin6_port = htons(port);
	ret->v6.sin6_addr = in6addr_loopback;
	return sizeof(ret->v6);
}

/* Returns an fd, or -1 with errno. */
static int listen_at(const union address *a, socklen_t len, int type, bool shared)
{
	cleanup_fd int fd = socket(a->any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;

	if (fd < 0 ||
	    (type == SOCK_STREAM && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0))
		return -1;
	if (shared && setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0)
		return -1;
	if (bind(fd, &a->any, len) < 0 || (type == SOCK_STREAM && listen(fd, BACKLOG) < 0))
		return -1;
	return steal_fd(&fd);
}

static int add_dns(const struct launch *l, struct listeners *m, int *fds, struct err *e)
{
	static const struct {
		int type;
		enum listener_kind kind;
	} both[] = { { SOCK_DGRAM, LISTENER_DNS_UDP }, { SOCK_STREAM, LISTENER_DNS_TCP } };
	const union address a = { .v4 = { .sin_family = AF_INET,
					  .sin_port = htons(PORT_DNS),
					  .sin_addr.s_addr = htonl(l->dns_address) } };

	for (size_t i = 0; i < N_ELEMENTS(both); i++) {
		int fd = listen_at(&a, sizeof(a.v4), both[i].type, false);

		if (fd < 0)
			return err_set(e, errno, "listen for DNS in the agents' network");
		m->kind[m->n] = (uint8_t)both[i].kind;
		fds[m->n++] = fd;
	}
	return 0;
}

/* On both loopback addresses; without IPv6, or without one of its addresses, on one. */
static int add_port(uint16_t port, struct listeners *m, int *fds, struct err *e)
{
	static const int families[] = { AF_INET, AF_INET6 };
	bool taken = false;

	for (size_t i = 0; i < N_ELEMENTS(families); i++) {
		union address a;
		socklen_t len = loopback(families[i], port, &a);
		int fd = listen_at(&a, len, SOCK_STREAM, true);

		if (fd >= 0) {
			m->kind[m->n] = LISTENER_PORT;
			m->port[m->n] = port;
			fds[m->n++] = fd;
		} else if (errno == EADDRINUSE || errno == EACCES) {
			taken = true; /* below 1024 a user may not listen */
		} else if (errno != EADDRNOTAVAIL && errno != EAFNOSUPPORT) {
			return err_set(e, errno, "listen on port %u of a loopback", port);
		}
	}
	if (taken)
		m->taken[m->n_taken++] = port;
	return 0;
}

/**
 * relays_listen() - Make the listeners of a launch, and hand them to its supervisor
 * @l:		The launch
 * @sock:	Socket to the supervisor
 * @e:		Set on failure
 *
 * To be called in the agent's network namespace, with power over it.
 *
 * Return: 0 on success, -1 on failure
 */
int relays_listen(const struct launch *l, int sock, struct err *e)
{
	struct listeners m = { 0 };
	int fds[LISTENERS_MAX], failed = 0;
	const uint32_t model = launch_model_port(l);

	if (l->manifest.network != MANIFEST_NETWORK_NONE)
		failed = add_dns(l, &m, fds, e);
	if (failed == 0 && model != 0 && !policy_numbers_have(&l->policy.local_port, model))
		failed = add_port((uint16_t)model, &m, fds, e);
	for (size_t i = 0; failed == 0 && i < l->policy.local_port.n; i++)
		failed = add_port((uint16_t)l->policy.local_port.v[i], &m, fds, e);
	if (failed == 0)
		failed = fds_send(sock, &m, sizeof(m), fds, m.n, e);
	close_all(fds, m.n);
	return failed;
}

/* ---- sockets on request ---- */

/**
 * relays_serve_socket() - Answer one request of the supervisor for a socket of this network
 * @sock:	Socket to the supervisor, on which there is one
 * @e:		Set on failure, also if the supervisor is gone
 *
 * Return: 0 on success, -1 on failure
 */
int relays_serve_socket(int sock, struct err *e)
{
	cleanup_fd int fd = -1;
	int family, code = 0, ignored;
	size_t n;

	if (fds_receive(sock, &family, sizeof(family), &ignored, 0, &n, e) < 0)
		return -1;
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		code = errno;
	return fds_send(sock, &code, sizeof(code), &fd, fd < 0 ? 0 : 1, e);
}

/* struct stream_target: in the agent's network */
static int socket_there(void *ctx, int family, int type, struct err *e)
{
	struct relays *r = ctx;
	int code = 0, fd = -1;
	size_t n = 0;

	(void)type; /* it is always the one of relays_serve_socket() */
	if (fds_send(r->sock, &family, sizeof(family), NULL, 0, e) < 0)
		return -1;
	if (fds_receive(r->sock, &code, sizeof(code), &fd, 1, &n, e) < 0) {
		r->sock = -1; /* an answer that comes late would be taken for the next one's */
		return -1;
	}
	return n == 1 ? fd : err_set(e, code, "make a socket in the agent's network");
}

/* struct stream_target: in the container's network, which is this process's own */
static int socket_here(void *ctx, int family, int type, struct err *e)
{
	int fd = socket(family, type, 0);

	(void)ctx;
	return fd >= 0 ? fd : err_set(e, errno, "make a socket");
}

/* ---- the supervisor ---- */

static void warn_of_port(launch_warn warn, const char *key, uint16_t port, const char *where)
{
	char what[160];

	(void)snprintf(what, sizeof(what),
		       "%s %u: the port is taken on %s loopback, or not for this user: it is not "
		       "relayed",
		       key, port, where);
	warn(what);
}

static int take_listener(struct relays *r, enum listener_kind kind, uint16_t port, int fd,
			 struct err *e)
{
	const struct stream_target target = { .port = port, .new_socket = socket_here, .ctx = r };

	switch (kind) {
	case LISTENER_DNS_UDP:
		return dns_relay_take_udp(r->dns, fd, e);
	case LISTENER_DNS_TCP:
		return dns_relay_take_tcp(r->dns, fd, e);
	case LISTENER_PORT:
		break;
	}
	return stream_relay_take_listener(r->stream, fd, &target, e);
}

static int receive_listeners(struct relays *r, const struct launch *l, launch_warn warn,
			     struct err *e)
{
	struct listeners m;
	int fds[LISTENERS_MAX];
	size_t n;

	if (fds_receive(r->sock, &m, sizeof(m), fds, LISTENERS_MAX, &n, e) < 0)
		return -1;
	if (n != m.n || m.n_taken > PORTS_MAX) {
		close_all(fds, n);
		return err_set(e, 0, "the agent's network: not the listeners that were asked for");
	}
	for (size_t i = 0; i < n; i++)
		if (take_listener(r, (enum listener_kind)m.kind[i], m.port[i], fds[i], e) < 0) {
			close_all(fds + i + 1, n - i - 1);
			return -1;
		}
	for (size_t i = 0; i < m.n_taken; i++)
		warn_of_port(warn,
			     policy_numbers_have(&l->policy.local_port, m.taken[i])
				     ? "local-port"
				     : "local-model-port",
			     m.taken[i], "the agents'");
	return 0;
}

/* The container's own loopback; the policy has no port twice. */
static int listen_for_callbacks(struct relays *r, const struct launch *l, launch_warn warn,
				struct err *e)
{
	const struct policy_numbers *ports = &l->policy.callback_port;
	struct listeners m = { 0 };
	int fds[LISTENERS_MAX];

	for (size_t i = 0; i < ports->n; i++)
		if (add_port((uint16_t)ports->v[i], &m, fds, e) < 0) {
			close_all(fds, m.n);
			return -1;
		}
	for (size_t i = 0; i < m.n; i++) {
		const struct stream_target target = { .port = m.port[i],
						      .new_socket = socket_there,
						      .ctx = r };

		if (stream_relay_take_listener(r->stream, fds[i], &target, e) < 0) {
			close_all(fds + i + 1, m.n - i - 1);
			return -1;
		}
	}
	for (size_t i = 0; i < m.n_taken; i++)
		warn_of_port(warn, "callback-port", m.taken[i], "the container's");
	return 0;
}

static int start_dns(struct relays *r, const struct launch *l, struct err *e)
{
	struct dns_relay_options o = { .n_resolvers = l->resolv.n };

	memcpy(o.resolvers, l->resolv.resolvers, sizeof(o.resolvers));
	r->dns = dns_relay_new(r->loop, &o, e);
	return r->dns == NULL ? -1 : 0;
}

/**
 * relays_start() - Start the relays of a launch
 * @l:		The launch
 * @loop:	Loop that they run in, borrowed
 * @sock:	Socket to the sandbox's first process, borrowed, with what relays_listen() sent
 * @warn:	Told of ports that are taken
 * @ret:	Filled on success, and must stay where it is
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int relays_start(const struct launch *l, struct relay_loop *loop, int sock, launch_warn warn,
		 struct relays *ret, struct err *e)
{
	*ret = (struct relays){ .loop = loop, .sock = sock };
	ret->stream = stream_relay_new(loop, e);
	if (ret->stream == NULL || start_dns(ret, l, e) < 0 ||
	    receive_listeners(ret, l, warn, e) < 0 || listen_for_callbacks(ret, l, warn, e) < 0) {
		relays_done(ret);
		return -1;
	}
	return 0;
}

static int64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/**
 * relays_drain() - Let connections of other launches come to their end, for a moment
 * @r:		Relays, which take no more; those of an agent that is gone are gone
 *
 * Launches of one user share ports, so a connection may be relayed by another launch than that of
 * its agent.
 */
void relays_drain(struct relays *r)
{
	const int64_t end = now_ms() + DRAIN_MS;
	struct err ignored;

	stream_relay_stop(r->stream);
	for (int64_t left = DRAIN_MS; left > 0 && !stream_relay_is_idle(r->stream);
	     left = end - now_ms())
		if (relay_loop_run_once(r->loop, (int)left, &ignored) < 0)
			return;
}

/**
 * relays_done() - Stop relays; what they carried ends
 * @r:		Relays
 */
void relays_done(struct relays *r)
{
	r->dns = dns_relay_free(r->dns);
	r->stream = stream_relay_free(r->stream);
}
