/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The TCP relay: connections to one loopback lead to a port of another
 *
 * Any number of listeners share a loop, and a pool of pipes (flow.c).  For each connection that
 * is accepted one is made to the target.  The two directions are independent: when one side has
 * nothing more to send the other side is told, and may go on sending.  When a side breaks, or
 * nobody listens at the target, the other side is reset, so that it takes nothing for complete
 * that isn't.
 *
 * The socket that will be connected to the target is there before its connection is accepted, and
 * waits with the listener.  So when file descriptors run out it is the next connection that
 * waits, in the kernel's queue, and none that is accepted has to be dropped.
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "err.h"
#include "flow.h"
#include "stream.h"

#define ACCEPTS_AT_ONCE 64
#define PAUSE_MS 250 /* file descriptors are short; not only ours may become free */
#define CONN_EVENTS (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)

enum side { CLIENT, TARGET };

/**
 * struct stream_listener - a socket that connections come from
 * @r:		What it belongs to
 * @watch:	Socket
 * @target:	Where its connections lead
 * @next:	Socket for the next connection's target, -1: none yet
 * @is_paused:	Accepts nothing, because file descriptors are short
 * @pause:	End of a pause
 * @entry:	In @r's list
 */
struct stream_listener {
	struct stream_relay *r;
	struct relay_watch watch;
	struct stream_target target;
	int next;
	bool is_paused;
	struct relay_timer pause;
	TAILQ_ENTRY(stream_listener) entry;
};

/**
 * struct stream_conn - a relayed connection
 * @l:		Listener that it came from
 * @watch:	Sockets, by enum side
 * @flow:	Directions, by the enum side that they come from
 * @is_connected:	The target is there
 * @family:	Of the address that the target is tried at
 * @entry:	In the relay's list
 */
struct stream_conn {
	struct stream_listener *l;
	struct relay_watch watch[2];
	struct flow flow[2];
	bool is_connected;
	int family;
	TAILQ_ENTRY(stream_conn) entry;
};

/**
 * struct stream_relay - see DOC
 * @loop:	Loop; borrowed
 * @pool:	Pipes that all connections share
 * @listeners:	Listeners
 * @conns:	Connections
 */
struct stream_relay {
	struct relay_loop *loop;
	struct pipe_pool pool;
	TAILQ_HEAD(, stream_listener) listeners;
	TAILQ_HEAD(, stream_conn) conns;
};

static bool is_shortage(int code)
{
	return code == EMFILE || code == ENFILE || code == ENOBUFS || code == ENOMEM;
}

static void pause_listener(struct stream_listener *l)
{
	l->is_paused = true;
	relay_loop_change(l->r->loop, &l->watch, 0);
	relay_timer_set(l->r->loop, &l->pause, PAUSE_MS);
}

static void resume_listener(struct stream_listener *l)
{
	l->is_paused = false;
	relay_timer_stop(l->r->loop, &l->pause);
	relay_loop_change(l->r->loop, &l->watch, EPOLLIN);
}

static void pause_ended(struct relay_timer *t)
{
	resume_listener(relay_owner_of(t, struct stream_listener, pause));
}

static void conn_close(struct stream_conn *c)
{
	struct stream_relay *r = c->l->r;

	for (int side = CLIENT; side <= TARGET; side++) {
		flow_close(&c->flow[side], &r->pool);
		relay_loop_close(r->loop, &c->watch[side]);
	}
	TAILQ_REMOVE(&r->conns, c, entry);
	free(c);
	for (struct stream_listener *l = TAILQ_FIRST(&r->listeners); l != NULL;
	     l = TAILQ_NEXT(l, entry))
		if (l->is_paused)
			resume_listener(l);
}

/* Closed with a reset, socket(7): what was sent so far is not all. */
static void make_abrupt(int fd)
{
	const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

	if (fd >= 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

static void conn_abort(struct stream_conn *c)
{
	make_abrupt(c->watch[CLIENT].fd);
	make_abrupt(c->watch[TARGET].fd);
	conn_close(c);
}

/* Moves what can be moved, either way; @c may be gone then. */
static void conn_move(struct stream_conn *c)
{
	struct stream_relay *r = c->l->r;

	for (int from = CLIENT; from <= TARGET; from++) {
		enum flow_state state = flow_move(&c->flow[from], &r->pool, c->watch[from].fd,
						  c->watch[1 - from].fd);

		if (state == FLOW_FAILED) {
			conn_abort(c);
			return;
		}
		/* Either may be what it goes on with: the source's bytes, or the pipe's */
		if (state == FLOW_GOES_ON) {
			relay_loop_change(r->loop, &c->watch[CLIENT], CONN_EVENTS);
			relay_loop_change(r->loop, &c->watch[TARGET], CONN_EVENTS);
		}
	}
	if (c->flow[CLIENT].done && c->flow[TARGET].done)
		conn_close(c);
}

static void client_ready(struct relay_watch *w, uint32_t events)
{
	struct stream_conn *c = relay_owner_of(w, struct stream_conn, watch[CLIENT]);

	/* what it had sent before it broke is of no use to anybody */
	if ((events & EPOLLERR) != 0)
		conn_abort(c);
	else if (c->is_connected)
		conn_move(c);
}

static int connect_to(int fd, int family, uint16_t port)
{
	struct sockaddr_in v4 = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct sockaddr_in6 v6 = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT,
	};
	int on = 1, r;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (family == AF_INET)
		r = connect(fd, (const struct sockaddr *)&v4, sizeof(v4));
	else
		r = connect(fd, (const struct sockaddr *)&v6, sizeof(v6));
	return r < 0 && errno != EINPROGRESS ? -1 : 0;
}

/* take_: @fd, which may be -1, is consumed; how connecting went is told to target_ready(). */
static int take_target(struct stream_conn *c, int fd, int family)
{
	struct err ignored;

	c->watch[TARGET].fd = fd;
	c->family = family;
	if (fd < 0 || connect_to(fd, family, c->l->target.port) < 0)
		return -1;
	return relay_loop_add(c->l->r->loop, &c->watch[TARGET], CONN_EVENTS, &ignored);
}

/* Nobody at 127.0.0.1: perhaps at ::1 */
static void try_again(struct stream_conn *c)
{
	const struct stream_target *target = &c->l->target;
	struct err ignored;

	relay_loop_close(c->l->r->loop, &c->watch[TARGET]);
	if (c->family == AF_INET6 ||
	    take_target(c,
			target->new_socket(target->ctx, AF_INET6,
					   SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, &ignored),
			AF_INET6) < 0)
		conn_abort(c);
}

static void target_ready(struct relay_watch *w, uint32_t events)
{
	struct stream_conn *c = relay_owner_of(w, struct stream_conn, watch[TARGET]);

	if (!c->is_connected) {
		if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
			try_again(c);
			return;
		}
		if ((events & EPOLLOUT) == 0)
			return;
		c->is_connected = true;
	} else if ((events & EPOLLERR) != 0) {
		/* what it said last, it did say */
		(void)flow_move(&c->flow[TARGET], &c->l->r->pool, w->fd, c->watch[CLIENT].fd);
		conn_abort(c);
		return;
	}
	conn_move(c);
}

/* take_: both are consumed */
static void take_conn(struct stream_listener *l, int client, int target)
{
	struct stream_conn *c = calloc(1, sizeof(*c));
	struct err ignored;
	int on = 1;

	if (c == NULL) {
		make_abrupt(client);
		close_p(&client);
		close_p(&target);
		return;
	}
	c->l = l;
	flow_init(&c->flow[CLIENT]);
	flow_init(&c->flow[TARGET]);
	c->watch[CLIENT].fd = client;
	c->watch[CLIENT].ready = client_ready;
	c->watch[TARGET].ready = target_ready;
	TAILQ_INSERT_TAIL(&l->r->conns, c, entry);
	/* Whether bytes wait for more of their kind is their sender's to decide */
	(void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (take_target(c, target, AF_INET) < 0 ||
	    relay_loop_add(l->r->loop, &c->watch[CLIENT], CONN_EVENTS, &ignored) < 0)
		conn_abort(c);
}

/*
 * Makes sure that the next connection's target has a socket.
 *
 * Return: whether a connection may be accepted; without a socket it is refused
 */
static bool prepare_target(struct stream_listener *l)
{
	struct err e = { 0 };

	if (l->next < 0)
		l->next = l->target.new_socket(l->target.ctx, AF_INET,
					       SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, &e);
	return l->next >= 0 || !is_shortage(e.code);
}

static void listener_ready(struct relay_watch *w, uint32_t events)
{
	struct stream_listener *l = relay_owner_of(w, struct stream_listener, watch);

	(void)events;
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int fd;

		if (!prepare_target(l)) {
			pause_listener(l);
			return;
		}
		fd = accept4(w->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			take_conn(l, fd, steal_fd(&l->next));
		} else if (errno == EAGAIN) {
			return;
		} else if (is_shortage(errno)) {
			pause_listener(l);
			return;
		} /* else it was gone before it was accepted, accept(2) */
	}
}

/**
 * stream_relay_new() - Make a relay without listeners
 * @loop:	Loop to run in; borrowed until stream_relay_free()
 * @e:		Set on failure
 *
 * The process has to ignore SIGPIPE, since splice(2) knows no MSG_NOSIGNAL.  A connection takes
 * two file descriptors, and two for each direction in which bytes are under way; where there are
 * none for the latter it gets slower, where there are none for the former new ones wait.
 *
 * Return: relay owned by the caller, NULL on failure
 */
struct stream_relay *stream_relay_new(struct relay_loop *loop, struct err *e)
{
	struct stream_relay *r = calloc(1, sizeof(*r));

	if (r == NULL) {
		(void)err_set(e, ENOMEM, "allocate a relay");
		return NULL;
	}
	r->loop = loop;
	TAILQ_INIT(&r->listeners);
	TAILQ_INIT(&r->conns);
	return r;
}

/**
 * stream_relay_stop() - Take no more connections than those that wait
 * @r:		Relay; the connections that it has go on
 */
void stream_relay_stop(struct stream_relay *r)
{
	struct stream_listener *l;

	TAILQ_FOREACH(l, &r->listeners, entry)
	{
		if (l->watch.fd < 0)
			continue;
		listener_ready(&l->watch, EPOLLIN);
		l->is_paused = false;
		relay_timer_stop(r->loop, &l->pause);
		relay_loop_close(r->loop, &l->watch);
		close_p(&l->next);
		l->next = -1;
	}
}

/**
 * stream_relay_is_idle() - Say whether a relay has no connection
 * @r:		Relay
 *
 * Return: true if it has none
 */
bool stream_relay_is_idle(const struct stream_relay *r)
{
	return TAILQ_EMPTY(&r->conns);
}

/**
 * stream_relay_free() - Close all connections and listeners
 * @r:		Relay, or NULL; not from one of its own handlers
 *
 * Return: NULL
 */
struct stream_relay *stream_relay_free(struct stream_relay *r)
{
	struct stream_listener *l;
	struct stream_conn *c;

	if (r == NULL)
		return NULL;
	stream_relay_stop(r);
	while ((c = TAILQ_FIRST(&r->conns)) != NULL)
		conn_abort(c); /* what waited until now */
	while ((l = TAILQ_FIRST(&r->listeners)) != NULL) {
		TAILQ_REMOVE(&r->listeners, l, entry);
		free(l);
	}
	pipe_pool_done(&r->pool);
	free(r);
	return NULL;
}

/**
 * stream_relay_take_listener() - Relay the connections that come to a socket
 * @r:		Relay
 * @fd:		Listening TCP socket, non-blocking, CLOEXEC, in any network namespace; consumed, on
 *		failure too
 * @target:	Where they lead; copied
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int stream_relay_take_listener(struct stream_relay *r, int fd, const struct stream_target *target,
			       struct err *e)
{
	cleanup_fd int owned = fd;
	cleanup_free struct stream_listener *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return err_set(e, ENOMEM, "allocate a listener");
	l->r = r;
	l->watch.fd = fd;
	l->watch.ready = listener_ready;
	l->target = *target;
	l->next = -1;
	l->pause.fired = pause_ended;
	if (relay_loop_add(r->loop, &l->watch, EPOLLIN, e) < 0)
		return -1;
	TAILQ_INSERT_TAIL(&r->listeners, l, entry);
	(void)steal_fd(&owned);
	(void)steal_ptr(&l);
	return 0;
}
