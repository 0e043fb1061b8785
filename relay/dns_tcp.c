/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: DNS over TCP, the client's side, RFC 1035 section 4.2.2 and RFC 7766
 *
 * A connection carries any number of queries, one behind the other, and they are answered in
 * whatever order the answers come, RFC 7766 section 7.  Each goes upstream on a connection of its
 * own, so that none waits for another.
 *
 * Memory is bounded: of queries in flight and of answers that the client has not read there are
 * QUERIES_OF_ONE for a connection, and then it is not read from until one is through; and so many
 * for all connections together, and what comes above that is answered SERVFAIL at once.  Where
 * there are too many connections, or no file descriptor for one more, the one on which nothing
 * happened for longest is closed.  A connection on which something comes that is no query is
 * closed, too: who knows where the next one would begin.
 */
#include "config.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>

#include "dns_tcp.h"
#include "err.h"

#define LENGTH_BYTES 2
#define QUERIES_OF_ONE 16
#define ACCEPTS_AT_ONCE 16
#define PAUSE_MS 1000 /* where there are no file descriptors, and none of them is ours */

/**
 * struct tcp_listener - a socket that connections come from
 * @t:		What it belongs to
 * @watch:	Socket
 * @pause:	End of a pause
 * @entry:	In @t's list
 */
struct tcp_listener {
	struct dns_tcp *t;
	struct relay_watch watch;
	struct relay_timer pause;
	TAILQ_ENTRY(tcp_listener) entry;
};

/**
 * struct tcp_query - a query in flight, or its answer
 * @ask:	What the resolvers are asked; over as soon as there is an answer
 * @counts:	Is one of the queries of all connections that are counted
 * @c:		Connection that it came on
 * @answer:	Answer behind its length, NULL while there is none
 * @len:	Bytes of both
 * @entry:	In one of the connection's lists
 */
struct tcp_query {
	struct dns_ask ask;
	bool counts;
	struct tcp_client *c;
	uint8_t *answer;
	size_t len;
	TAILQ_ENTRY(tcp_query) entry;
};

/**
 * struct tcp_client - a connection
 * @t:		What it belongs to
 * @watch:	Socket
 * @timer:	When it has been idle for too long
 * @ended:	The client sends no more
 * @n:		Queries in both lists
 * @asking:	Queries in flight
 * @answered:	Queries whose answers are not sent yet
 * @sent:	Bytes of the first answer that are sent
 * @in:		What has been received and not yet been looked at
 * @n_in:	Bytes of it
 * @entry:	In @t's list
 */
struct tcp_client {
	struct dns_tcp *t;
	struct relay_watch watch;
	struct relay_timer timer;
	bool ended;
	size_t n;
	TAILQ_HEAD(tcp_queries, tcp_query) asking;
	struct tcp_queries answered;
	size_t sent;
	uint8_t in[LENGTH_BYTES + DNS_QUERY_BYTES];
	size_t n_in;
	TAILQ_ENTRY(tcp_client) entry;
};

static void query_free(struct tcp_query *q)
{
	struct tcp_client *c = q->c;

	if (q->answer != NULL) {
		TAILQ_REMOVE(&c->answered, q, entry);
	} else {
		TAILQ_REMOVE(&c->asking, q, entry);
		dns_ask_stop(&q->ask);
	}
	c->n--;
	if (q->counts)
		c->t->n_queries--;
	free(q->answer);
	free(q);
}

static void client_close(struct tcp_client *c)
{
	struct dns_tcp *t = c->t;
	struct tcp_query *q;

	while ((q = TAILQ_FIRST(&c->asking)) != NULL)
		query_free(q);
	while ((q = TAILQ_FIRST(&c->answered)) != NULL)
		query_free(q);
	TAILQ_REMOVE(&t->clients, c, entry);
	t->n_clients--;
	relay_timer_stop(t->r->loop, &c->timer);
	relay_loop_close(t->r->loop, &c->watch);
	free(c);
}

/* Something happened on it. */
static void client_touch(struct tcp_client *c)
{
	TAILQ_REMOVE(&c->t->clients, c, entry);
	TAILQ_INSERT_TAIL(&c->t->clients, c, entry);
	relay_timer_set(c->t->r->loop, &c->timer, c->t->idle_ms);
}

static int put_answer(struct tcp_query *q, const uint8_t *msg, size_t len)
{
	q->answer = malloc(LENGTH_BYTES + len);
	if (q->answer == NULL)
		return -1;
	q->answer[0] = (uint8_t)(len >> 8);
	q->answer[1] = (uint8_t)len;
	memcpy(q->answer + LENGTH_BYTES, msg, len);
	q->len = LENGTH_BYTES + len;
	return 0;
}

static void client_go_on(struct tcp_client *c);

static void answered(struct dns_ask *a, uint8_t *answer, size_t len)
{
	struct tcp_query *q = relay_owner_of(a, struct tcp_query, ask);
	struct tcp_client *c = q->c;
	uint8_t servfail[DNS_BARE_BYTES];

	if (answer == NULL) {
		answer = servfail;
		len = dns_ask_make_servfail(a, servfail);
	}
	if (put_answer(q, answer, len) < 0) {
		client_close(c);
		return;
	}
	dns_ask_stop(a);
	TAILQ_REMOVE(&c->asking, q, entry);
	TAILQ_INSERT_TAIL(&c->answered, q, entry);
	client_go_on(c);
}

/* One query that was taken from the connection */
static int ask(struct tcp_client *c, const uint8_t *msg, size_t len)
{
	cleanup_free struct tcp_query *q = calloc(1, sizeof(*q));
	uint8_t servfail[DNS_BARE_BYTES];
	struct err ignored;

	if (q == NULL || dns_check_query(msg, len, &q->ask.about, &ignored) < 0)
		return -1;
	q->c = c;
	if (c->t->n_queries >= c->t->max_queries) {
		if (put_answer(q, servfail, dns_make_servfail(msg, &q->ask.about, servfail)) < 0)
			return -1;
		TAILQ_INSERT_TAIL(&c->answered, q, entry);
	} else {
		q->ask.r = c->t->r;
		q->ask.tcp = true;
		q->ask.done = answered;
		if (dns_ask_start(&q->ask, msg, len, &ignored) < 0)
			return -1;
		q->counts = true;
		c->t->n_queries++;
		TAILQ_INSERT_TAIL(&c->asking, q, entry);
	}
	c->n++;
	(void)steal_ptr(&q);
	return 0;
}

/*
 * Bytes of the query that begins at @at, its length counted; 0 if not all of it is here, 1 if it
 * is too long for one.
 */
static size_t next_query(const struct tcp_client *c, size_t at)
{
	size_t left = c->n_in - at, len;

	if (left < LENGTH_BYTES)
		return 0;
	len = LENGTH_BYTES + (size_t)(c->in[at] << 8 | c->in[at + 1]);
	if (len > sizeof(c->in))
		return 1;
	return left < len ? 0 : len;
}

static int ask_all(struct tcp_client *c)
{
	size_t at = 0, len;

	while (c->n < QUERIES_OF_ONE && (len = next_query(c, at)) != 0) {
		if (len < LENGTH_BYTES || ask(c, c->in + at + LENGTH_BYTES, len - LENGTH_BYTES) < 0)
			return -1;
		at += len;
	}
	c->n_in -= at;
	memmove(c->in, c->in + at, c->n_in);
	return 0;
}

static int send_all(struct tcp_client *c)
{
	struct tcp_query *q;

	while ((q = TAILQ_FIRST(&c->answered)) != NULL) {
		ssize_t n = send(c->watch.fd, q->answer + c->sent, q->len - c->sent, MSG_NOSIGNAL);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return 0;
		if (n < 0)
			return -1;
		client_touch(c);
		c->sent += (size_t)n;
		if (c->sent < q->len)
			continue;
		c->sent = 0;
		query_free(q);
	}
	return 0;
}

/* Does what can be done for a connection, and waits for the rest; @c may be gone then. */
static void client_go_on(struct tcp_client *c)
{
	uint32_t events = 0;

	do {
		if (ask_all(c) < 0 || send_all(c) < 0) {
			client_close(c);
			return;
		}
	} while (c->n < QUERIES_OF_ONE && next_query(c, 0) != 0);

	if (c->ended && c->n == 0) {
		client_close(c);
		return;
	}
	if (!c->ended && c->n < QUERIES_OF_ONE)
		events |= EPOLLIN;
	if (!TAILQ_EMPTY(&c->answered))
		events |= EPOLLOUT;
	relay_loop_change(c->t->r->loop, &c->watch, events);
}

static void client_ready(struct relay_watch *w, uint32_t events)
{
	struct tcp_client *c = relay_owner_of(w, struct tcp_client, watch);

	if ((events & (EPOLLERR | EPOLLHUP)) != 0) {
		client_close(c);
		return;
	}
	if ((events & EPOLLIN) != 0 && c->n_in < sizeof(c->in)) {
		ssize_t n = recv(w->fd, c->in + c->n_in, sizeof(c->in) - c->n_in, 0);

		if (n < 0 && errno != EAGAIN && errno != EINTR) {
			client_close(c);
			return;
		}
		if (n == 0)
			c->ended = true;
		if (n > 0) {
			c->n_in += (size_t)n;
			client_touch(c);
		}
	}
	client_go_on(c);
}

static void client_idle(struct relay_timer *timer)
{
	client_close(relay_owner_of(timer, struct tcp_client, timer));
}

/* take_: @fd is consumed */
static void take_client(struct dns_tcp *t, int fd)
{
	cleanup_fd int owned = fd;
	cleanup_free struct tcp_client *c = calloc(1, sizeof(*c));
	struct err ignored;
	int on = 1;

	if (c == NULL)
		return;
	/* An answer is not kept back until the one before it is acknowledged */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c->t = t;
	c->watch.fd = fd;
	c->watch.ready = client_ready;
	c->timer.fired = client_idle;
	TAILQ_INIT(&c->asking);
	TAILQ_INIT(&c->answered);
	if (relay_loop_add(t->r->loop, &c->watch, EPOLLIN, &ignored) < 0)
		return;
	if (t->n_clients >= t->max_clients)
		client_close(TAILQ_FIRST(&t->clients));
	TAILQ_INSERT_TAIL(&t->clients, c, entry);
	t->n_clients++;
	relay_timer_set(t->r->loop, &c->timer, t->idle_ms);
	(void)steal_fd(&owned);
	(void)steal_ptr(&c);
}

static void listener_ready(struct relay_watch *w, uint32_t events)
{
	struct tcp_listener *l = relay_owner_of(w, struct tcp_listener, watch);
	struct dns_tcp *t = l->t;

	(void)events;
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int fd = accept4(w->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			take_client(t, fd);
		} else if (errno == EAGAIN) {
			return;
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
			   errno == ENOMEM) {
			if (!TAILQ_EMPTY(&t->clients)) {
				client_close(TAILQ_FIRST(&t->clients));
				continue;
			}
			relay_loop_change(t->r->loop, w, 0);
			relay_timer_set(t->r->loop, &l->pause, PAUSE_MS);
			return;
		} /* else it was gone before it was accepted, accept(2) */
	}
}

static void listener_go_on(struct relay_timer *timer)
{
	struct tcp_listener *l = relay_owner_of(timer, struct tcp_listener, pause);

	relay_loop_change(l->t->r->loop, &l->watch, EPOLLIN);
}

/**
 * dns_tcp_init() - Begin with nothing
 * @t:			Filled
 * @r:			Whom to ask; borrowed until dns_tcp_done()
 * @max_clients:	Most connections, at least 1
 * @max_queries:	Most queries in flight, or whose answers wait to be read
 * @idle_ms:		Milliseconds after which an idle connection is closed
 */
void dns_tcp_init(struct dns_tcp *t, struct dns_resolvers *r, size_t max_clients,
		  size_t max_queries, unsigned idle_ms)
{
	*t = (struct dns_tcp){
		.r = r,
		.max_clients = max_clients,
		.max_queries = max_queries,
		.idle_ms = idle_ms,
	};
	TAILQ_INIT(&t->clients);
	TAILQ_INIT(&t->listeners);
}

/**
 * dns_tcp_take_listener() - Answer queries on the connections that come to a socket
 * @t:		Clients
 * @fd:		Listening, non-blocking TCP socket; consumed, on failure too
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int dns_tcp_take_listener(struct dns_tcp *t, int fd, struct err *e)
{
	cleanup_fd int owned = fd;
	cleanup_free struct tcp_listener *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return err_set(e, ENOMEM, "allocate a DNS listener");
	l->t = t;
	l->watch.fd = fd;
	l->watch.ready = listener_ready;
	l->pause.fired = listener_go_on;
	if (relay_loop_add(t->r->loop, &l->watch, EPOLLIN, e) < 0)
		return -1;
	TAILQ_INSERT_TAIL(&t->listeners, l, entry);
	(void)steal_fd(&owned);
	(void)steal_ptr(&l);
	return 0;
}

/**
 * dns_tcp_done() - Close the connections and the listeners
 * @t:		Clients; only dns_tcp_init() makes sense of it afterwards
 */
void dns_tcp_done(struct dns_tcp *t)
{
	struct tcp_client *c;
	struct tcp_listener *l;

	while ((c = TAILQ_FIRST(&t->clients)) != NULL)
		client_close(c);
	while ((l = TAILQ_FIRST(&t->listeners)) != NULL) {
		TAILQ_REMOVE(&t->listeners, l, entry);
		relay_timer_stop(t->r->loop, &l->pause);
		relay_loop_close(t->r->loop, &l->watch);
		free(l);
	}
}
