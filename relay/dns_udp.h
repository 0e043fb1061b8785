/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RELAY_DNS_UDP_H
#define RELAY_DNS_UDP_H

#include <stddef.h>
#include <sys/queue.h>

#include "dns_ask.h"

struct err;

/**
 * struct dns_udp - those who ask over UDP
 * @r:		Whom to ask; borrowed
 * @max:	Most queries in flight
 * @n:		Queries in flight
 * @queries:	Queries in flight, the oldest first
 * @listeners:	Sockets that queries come from
 */
struct dns_udp {
	struct dns_resolvers *r;
	size_t max;
	size_t n;
	TAILQ_HEAD(, udp_query) queries;
	TAILQ_HEAD(, udp_listener) listeners;
};

void dns_udp_init(struct dns_udp *u, struct dns_resolvers *r, size_t max);
int dns_udp_take_listener(struct dns_udp *u, int fd, struct err *e);
void dns_udp_done(struct dns_udp *u);

#endif
