/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RELAY_DNS_ASK_H
#define RELAY_DNS_ASK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "dns.h"
#include "loop.h"

struct err;

/* resolv.conf(5) knows three; one more does not hurt */
#define DNS_RESOLVERS_MAX 4

/* No ordinary query is longer: a question, an OPT record, and perhaps a TSIG record */
#define DNS_QUERY_BYTES 4096

/**
 * struct dns_resolvers - whom to ask, and how
 * @loop:	Loop that all of it runs in; borrowed
 * @address:	Addresses with ports, in the order in which they are asked
 * @n:		How many, at least 1
 * @try_ms:	How long one may think about it
 * @again_ms:	For how long one that did not answer is asked last
 * @silent_until:	Until when each is, relay_now_ms(); 0: it answered.  By UDP and by TCP: who
 *		refuses one may well serve the other
 * @scratch:	DNS_MESSAGE_BYTES, for whoever is in a handler; borrowed
 */
struct dns_resolvers {
	struct relay_loop *loop;
	struct sockaddr_storage address[DNS_RESOLVERS_MAX];
	size_t n;
	unsigned try_ms;
	unsigned again_ms;
	uint64_t silent_until[2][DNS_RESOLVERS_MAX];
	uint8_t *scratch;
};

/**
 * struct dns_ask - a query on its way
 * @r:		Set by the caller: whom to ask, and what became of that; borrowed
 * @tcp:	Set by the caller: over TCP, not UDP
 * @about:	Set by the caller: what dns_check_query() said of the query
 * @done:	Set by the caller: called once, never by dns_ask_start() itself, with the answer, or
 *		with NULL if nobody answered in time.  The answer has the client's id, and is
 *		borrowed until it returns; it may be changed.  May release @a.
 * @client_id:	Id that the query came with
 * @order:	Resolvers, in the order in which they are asked
 * @try:	Number of the try, from 0
 * @watch:	Socket of this try
 * @timer:	End of this try
 * @query:	Query behind its length, as TCP wants it; with the id of this try
 * @len:	Bytes of the query, without its length
 * @moved:	TCP: bytes of the query sent, then bytes of the answer received, lengths counted
 * @prefix:	TCP: length of the answer
 * @answer:	TCP: answer, NULL while its length isn't known
 */
struct dns_ask {
	struct dns_resolvers *r;
	bool tcp;
	struct dns_query about;
	void (*done)(struct dns_ask *a, uint8_t *answer, size_t len);

	uint16_t client_id;
	uint8_t order[DNS_RESOLVERS_MAX];
	unsigned try;
	struct relay_watch watch;
	struct relay_timer timer;
	uint8_t *query;
	size_t len;
	size_t moved;
	uint8_t prefix[2];
	uint8_t *answer;
};

unsigned dns_ask_try_ms(size_t n_resolvers);
int dns_ask_start(struct dns_ask *a, const uint8_t *query, size_t len, struct err *e);
void dns_ask_stop(struct dns_ask *a);
size_t dns_ask_make_servfail(const struct dns_ask *a, uint8_t ret[DNS_BARE_BYTES]);

#endif
