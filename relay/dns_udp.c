/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: DNS over UDP, the client's side, RFC 1035 section 4.2.1
 *
 * Each query in flight costs a socket and less than 5 KiB.  Where there are too many the oldest is
 * answered SERVFAIL: its client has waited longest, and has most likely given up.  What is no query
 * is dropped without a word.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "dns_udp.h"
#include "err.h"

#define QUERIES_AT_ONCE 32        /* before somebody else's turn */
#define QUEUE_BYTES (1024 * 1024) /* room for a burst, as far as net.core.rmem_max lets us */

/**
 * struct udp_listener - a socket that queries come from
 * @u:		What it belongs to
 * @watch:	Socket
 * @entry:	In @u's list
 */
struct udp_listener {
	struct dns_udp *u;
	struct relay_watch watch;
	TAILQ_ENTRY(udp_listener) entry;
};

/**
 * struct udp_query - a query in flight
 * @ask:	What the resolvers are asked
 * @l:		Where the query came from, and the answer goes to
 * @client:	Address of who asked
 * @client_len:	Bytes of @client
 * @entry:	In the list of queries
 */
struct udp_query {
	struct dns_ask ask;
	struct udp_listener *l;
	struct sockaddr_storage client;
	socklen_t client_len;
	TAILQ_ENTRY(udp_query) entry;
};

static void query_free(struct udp_query *q)
{
	struct dns_udp *u = q->l->u;

	TAILQ_REMOVE(&u->queries, q, entry);
	u->n--;
	dns_ask_stop(&q->ask);
	free(q);
}

/* What does not arrive the client asks for once more, as ever with UDP. */
static void reply(struct udp_query *q, const uint8_t *msg, size_t len)
{
	(void)sendto(q->l->watch.fd, msg, len, MSG_NOSIGNAL, (const struct sockaddr *)&q->client,
		     q->client_len);
	query_free(q);
}

static void reply_servfail(struct udp_query *q)
{
	uint8_t msg[DNS_BARE_BYTES];

	reply(q, msg, dns_ask_make_servfail(&q->ask, msg));
}

static void answered(struct dns_ask *a, uint8_t *answer, size_t len)
{
	struct udp_query *q = relay_owner_of(a, struct udp_query, ask);
	uint8_t msg[DNS_BARE_BYTES];

	if (answer == NULL)
		reply_servfail(q);
	else if (len > a->about.udp_bytes)
		reply(q, msg, dns_make_truncated(answer, &a->about, msg));
	else
		reply(q, answer, len);
}

static void ask(struct udp_listener *l, const uint8_t *msg, size_t len,
		const struct sockaddr_storage *client, socklen_t client_len)
{
	struct dns_udp *u = l->u;
	struct dns_query about;
	struct udp_query *q;
	struct err ignored;

	if (len > DNS_QUERY_BYTES || dns_check_query(msg, len, &about, &ignored) < 0)
		return;
	if (u->n >= u->max)
		reply_servfail(TAILQ_FIRST(&u->queries));
	q = calloc(1, sizeof(*q));
	if (q == NULL)
		return;
	q->l = l;
	q->client = *client;
	q->client_len = client_len;
	q->ask.r = u->r;
	q->ask.about = about;
	q->ask.done = answered;
	if (dns_ask_start(&q->ask, msg, len, &ignored) < 0) {
		free(q);
		return;
	}
	TAILQ_INSERT_TAIL(&u->queries, q, entry);
	u->n++;
}

static void listener_ready(struct relay_watch *w, uint32_t events)
{
	struct udp_listener *l = relay_owner_of(w, struct udp_listener, watch);
	uint8_t *msg = l->u->r->scratch;

	(void)events;
	for (int i = 0; i < QUERIES_AT_ONCE; i++) {
		struct sockaddr_storage client;
		socklen_t len = sizeof(client);
		ssize_t n = recvfrom(w->fd, msg, DNS_MESSAGE_BYTES, 0, (struct sockaddr *)&client,
				     &len);

		if (n < 0)
			return; /* an error of an earlier answer's is read away by this */
		ask(l, msg, (size_t)n, &client, len);
	}
}

/**
 * dns_udp_init() - Begin with nothing
 * @u:		Filled
 * @r:		Whom to ask; borrowed until dns_udp_done()
 * @max:	Most queries in flight, at least 1
 */
void dns_udp_init(struct dns_udp *u, struct dns_resolvers *r, size_t max)
{
	*u = (struct dns_udp){ .r = r, .max = max };
	TAILQ_INIT(&u->queries);
	TAILQ_INIT(&u->listeners);
}

/**
 * dns_udp_take_listener() - Answer queries that come to a socket
 * @u:		Clients
 * @fd:		Bound, non-blocking UDP socket; consumed, on failure too
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int dns_udp_take_listener(struct dns_udp *u, int fd, struct err *e)
{
	cleanup_fd int owned = fd;
	cleanup_free struct udp_listener *l = calloc(1, sizeof(*l));
	const int queue = QUEUE_BYTES;

	if (l == NULL)
		return err_set(e, ENOMEM, "allocate a DNS listener");
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &queue, sizeof(queue));
	l->u = u;
	l->watch.fd = fd;
	l->watch.ready = listener_ready;
	if (relay_loop_add(u->r->loop, &l->watch, EPOLLIN, e) < 0)
		return -1;
	TAILQ_INSERT_TAIL(&u->listeners, l, entry);
	(void)steal_fd(&owned);
	(void)steal_ptr(&l);
	return 0;
}

/**
 * dns_udp_done() - Drop the queries in flight, and close the listeners
 * @u:		Clients; only dns_udp_init() makes sense of it afterwards
 */
void dns_udp_done(struct dns_udp *u)
{
	struct udp_query *q;
	struct udp_listener *l;

	while ((q = TAILQ_FIRST(&u->queries)) != NULL)
		query_free(q);
	while ((l = TAILQ_FIRST(&u->listeners)) != NULL) {
		TAILQ_REMOVE(&u->listeners, l, entry);
		relay_loop_close(u->r->loop, &l->watch);
		free(l);
	}
}
