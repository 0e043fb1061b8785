/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Asking the resolvers one question
 *
 * Each try has a socket of its own, connected to its resolver: the kernel picks a random port for
 * it and takes nothing but that resolver's packets, and ICMP errors arrive as errors.  Each try
 * has a random id of its own as well.  So an answer can be forged by those alone who see the
 * query, RFC 5452.
 *
 * A message that is not the answer to this query is dropped, and the time goes on.  A try ends
 * when the resolver answers, is not there (an ICMP error, a refused or closed connection), says
 * that it can't (as for resolv.conf(5)'s readers SERVFAIL, NOTIMP and REFUSED mean "ask the next
 * one"), or when its time is over.
 *
 * Where all of them failed the client is told so, before it gives up by itself, which is after
 * 5 s (RES_TIMEOUT).  A single resolver that does not answer is asked twice: packets get lost.
 *
 * A resolver that did not answer in time is asked last for a while, so that it is one query that
 * waits for it, and not each.  Then one query asks it in its turn again, and the others do so once
 * it has answered.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "dns_ask.h"
#include "err.h"

#define ALL_TRIES_MS 4500
#define ONE_TRY_MS 2000
#define TRIES_MIN 2
#define LENGTH_BYTES 2
#define MESSAGES_AT_ONCE 8 /* of a resolver that floods us, before somebody else's turn */

/**
 * dns_ask_try_ms() - How long one try may take, so that all of them end in time
 * @n_resolvers:	How many resolvers there are
 *
 * Return: milliseconds
 */
unsigned dns_ask_try_ms(size_t n_resolvers)
{
	size_t tries = n_resolvers < TRIES_MIN ? TRIES_MIN : n_resolvers;
	size_t ms = ALL_TRIES_MS / tries;

	return ms < ONE_TRY_MS ? (unsigned)ms : ONE_TRY_MS;
}

static void end_try(struct dns_ask *a)
{
	relay_timer_stop(a->r->loop, &a->timer);
	relay_loop_close(a->r->loop, &a->watch);
	free(a->answer);
	a->answer = NULL;
	a->moved = 0;
}

static int connect_to(const struct sockaddr_storage *address, int type)
{
	cleanup_fd int fd = socket(address->ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	socklen_t len = address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6)
						       : sizeof(struct sockaddr_in);

	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)address, len) < 0 && errno != EINPROGRESS)
		return -1;
	return steal_fd(&fd);
}

static void udp_ready(struct relay_watch *w, uint32_t events);
static void tcp_writable(struct relay_watch *w, uint32_t events);
static void tcp_readable(struct relay_watch *w, uint32_t events);

/* Of the resolver that this try asks */
static uint64_t *silent_until(const struct dns_ask *a)
{
	return &a->r->silent_until[a->tcp][a->order[a->try % a->r->n]];
}

/* Those that answer come first; so does one that may have come back, for this query alone. */
static void put_in_order(struct dns_ask *a)
{
	const uint64_t now = relay_now_ms();
	uint64_t *until = a->r->silent_until[a->tcp];
	uint8_t last[DNS_RESOLVERS_MAX];
	size_t n = 0, n_last = 0;

	for (size_t i = 0; i < a->r->n; i++) {
		if (until[i] > now) {
			last[n_last++] = (uint8_t)i;
			continue;
		}
		if (until[i] != 0)
			until[i] = now + a->r->again_ms;
		a->order[n++] = (uint8_t)i;
	}
	memcpy(a->order + n, last, n_last);
}

static int begin_try(struct dns_ask *a)
{
	const struct sockaddr_storage *address = &a->r->address[a->order[a->try % a->r->n]];
	uint8_t *msg = a->query + LENGTH_BYTES;
	struct err ignored;
	uint16_t id;

	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		return -1;
	dns_set_id(msg, id);
	a->watch.ready = a->tcp ? tcp_writable : udp_ready;
	a->watch.fd = connect_to(address, a->tcp ? SOCK_STREAM : SOCK_DGRAM);
	if (a->watch.fd < 0)
		return -1;
	if ((!a->tcp && send(a->watch.fd, msg, a->len, 0) < 0) ||
	    relay_loop_add(a->r->loop, &a->watch, a->tcp ? EPOLLOUT : EPOLLIN, &ignored) < 0) {
		close_p(&a->watch.fd);
		a->watch.fd = -1;
		return -1;
	}
	relay_timer_set(a->r->loop, &a->timer, a->r->try_ms);
	return 0;
}

/* This try came to nothing.  Who is not there is not asked twice: that would be in vain. */
static void try_next(struct dns_ask *a, bool is_there)
{
	size_t tries = a->r->n;

	if (is_there && tries < TRIES_MIN)
		tries = TRIES_MIN;
	end_try(a);
	while (++a->try < tries) {
		if (begin_try(a) == 0)
			return;
		tries = a->r->n;
	}
	a->done(a, NULL, 0);
}

/*
 * A message arrived.
 *
 * Return: whether it ended this try; @a may be gone then
 */
static bool take_message(struct dns_ask *a, uint8_t *msg, size_t len)
{
	uint8_t *answer;

	if (!dns_is_answer(msg, len, a->query + LENGTH_BYTES, &a->about))
		return false;
	*silent_until(a) = 0;
	if (a->try + 1 < a->r->n &&
	    (dns_rcode(msg) == DNS_SERVFAIL || dns_rcode(msg) == DNS_NOTIMP ||
	     dns_rcode(msg) == DNS_REFUSED)) {
		try_next(a, true);
		return true;
	}
	answer = steal_ptr(&a->answer);
	end_try(a);
	a->answer = answer;
	dns_set_id(msg, a->client_id);
	a->done(a, msg, len);
	return true;
}

static void udp_ready(struct relay_watch *w, uint32_t events)
{
	struct dns_ask *a = relay_owner_of(w, struct dns_ask, watch);

	(void)events;
	for (int i = 0; i < MESSAGES_AT_ONCE; i++) {
		ssize_t n = recv(w->fd, a->r->scratch, DNS_MESSAGE_BYTES, 0);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n < 0) {
			try_next(a, false);
			return;
		}
		if (take_message(a, a->r->scratch, (size_t)n))
			return;
	}
}

static void tcp_writable(struct relay_watch *w, uint32_t events)
{
	struct dns_ask *a = relay_owner_of(w, struct dns_ask, watch);
	size_t left = LENGTH_BYTES + a->len - a->moved;
	ssize_t n = send(w->fd, a->query + a->moved, left, MSG_NOSIGNAL);

	(void)events;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		try_next(a, false);
		return;
	}
	a->moved += (size_t)n;
	if ((size_t)n < left)
		return;
	a->moved = 0;
	w->ready = tcp_readable;
	relay_loop_change(a->r->loop, w, EPOLLIN);
}

static ssize_t receive_part(struct dns_ask *a)
{
	size_t len;

	if (a->moved < LENGTH_BYTES)
		return recv(a->watch.fd, a->prefix + a->moved, LENGTH_BYTES - a->moved, 0);
	len = (size_t)(a->prefix[0] << 8 | a->prefix[1]);
	if (a->answer == NULL && (a->answer = malloc(len + 1)) == NULL)
		return -1;
	return recv(a->watch.fd, a->answer + a->moved - LENGTH_BYTES, LENGTH_BYTES + len - a->moved,
		    0);
}

static void tcp_readable(struct relay_watch *w, uint32_t events)
{
	struct dns_ask *a = relay_owner_of(w, struct dns_ask, watch);

	(void)events;
	for (int i = 0; i < MESSAGES_AT_ONCE; i++) {
		ssize_t n = receive_part(a);
		size_t len;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0) { /* also a message of no bytes, which is none */
			try_next(a, false);
			return;
		}
		a->moved += (size_t)n;
		len = (size_t)(a->prefix[0] << 8 | a->prefix[1]);
		if (a->moved <= LENGTH_BYTES || a->moved < LENGTH_BYTES + len)
			continue;
		if (take_message(a, a->answer, len))
			return;
		free(a->answer);
		a->answer = NULL;
		a->moved = 0;
	}
}

static void time_is_over(struct relay_timer *t)
{
	struct dns_ask *a = relay_owner_of(t, struct dns_ask, timer);

	/* without a socket it is the first try, which failed in dns_ask_start() */
	if (a->watch.fd >= 0)
		*silent_until(a) = relay_now_ms() + a->r->again_ms;
	try_next(a, a->watch.fd >= 0);
}

/**
 * dns_ask_start() - Ask the resolvers
 * @a:		Query, what the caller sets is set, the rest is zero
 * @query:	Message that dns_check_query() took
 * @len:	Bytes of it, at most DNS_QUERY_BYTES
 * @e:		Set on failure
 *
 * Return: 0 on success, and then @a's done() is called later, unless dns_ask_stop() comes first;
 *	   -1 on failure, with nothing to stop
 */
int dns_ask_start(struct dns_ask *a, const uint8_t *query, size_t len, struct err *e)
{
	a->query = malloc(LENGTH_BYTES + len);
	if (a->query == NULL)
		return err_set(e, ENOMEM, "allocate a query");
	a->query[0] = (uint8_t)(len >> 8);
	a->query[1] = (uint8_t)len;
	memcpy(a->query + LENGTH_BYTES, query, len);
	a->len = len;
	a->client_id = dns_id(query);
	a->watch.fd = -1;
	a->timer.fired = time_is_over;
	put_in_order(a);
	if (begin_try(a) < 0)
		relay_timer_set(a->r->loop, &a->timer, 1);
	return 0;
}

/**
 * dns_ask_stop() - Release what a query holds, and call nobody
 * @a:		Query that dns_ask_start() succeeded for
 */
void dns_ask_stop(struct dns_ask *a)
{
	end_try(a);
	free(a->query);
	a->query = NULL;
}

/**
 * dns_ask_make_servfail() - Make the answer for a query that nobody answered
 * @a:		Query that dns_ask_start() succeeded for
 * @ret:	Answer, with the client's id
 *
 * Return: bytes of it
 */
size_t dns_ask_make_servfail(const struct dns_ask *a, uint8_t ret[DNS_BARE_BYTES])
{
	size_t len = dns_make_servfail(a->query + LENGTH_BYTES, &a->about, ret);

	dns_set_id(ret, a->client_id);
	return len;
}
