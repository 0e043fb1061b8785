/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RELAY_DNS_RELAY_H
#define RELAY_DNS_RELAY_H

#include <stddef.h>
#include <sys/socket.h>

#include "dns_ask.h"

struct dns_relay;
struct err;

/**
 * struct dns_relay_options - whom a DNS relay asks, and its limits
 * @resolvers:	Addresses with ports, AF_INET or AF_INET6, in the order in which they are asked
 * @n_resolvers:	How many, 1 to DNS_RESOLVERS_MAX
 * @max_udp:	Most UDP queries in flight; 0: 512
 * @max_tcp:	Most TCP queries in flight, or whose answers wait to be read; 0: 128
 * @max_clients:	Most TCP connections of clients; 0: 64
 * @try_ms:	How long one resolver may think about one query, in milliseconds; 0: so long that
 *		a client knows after 4.5 s that none of them answers
 * @again_ms:	For how long a resolver that did not answer is asked after the others, in
 *		milliseconds; 0: 30,000
 * @idle_ms:	After how many milliseconds an idle TCP connection is closed; 0: 10,000
 */
struct dns_relay_options {
	struct sockaddr_storage resolvers[DNS_RESOLVERS_MAX];
	size_t n_resolvers;
	size_t max_udp;
	size_t max_tcp;
	size_t max_clients;
	unsigned try_ms;
	unsigned again_ms;
	unsigned idle_ms;
};

struct dns_relay *dns_relay_new(struct relay_loop *loop, const struct dns_relay_options *o,
				struct err *e);
struct dns_relay *dns_relay_free(struct dns_relay *r);
int dns_relay_take_udp(struct dns_relay *r, int fd, struct err *e);
int dns_relay_take_tcp(struct dns_relay *r, int fd, struct err *e);

static inline void dns_relay_p(struct dns_relay **r)
{
	(void)dns_relay_free(*r);
}

#define cleanup_dns_relay CLEANUP(dns_relay_p)

#endif
