/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RELAY_DNS_TCP_H
#define RELAY_DNS_TCP_H

#include <stddef.h>
#include <sys/queue.h>

#include "dns_ask.h"

struct err;

/**
 * struct dns_tcp - those who ask over TCP
 * @r:			Whom to ask; borrowed
 * @max_clients:	Most connections
 * @max_queries:	Most queries that are in flight, or whose answers wait to be read
 * @idle_ms:		A connection on which nothing happened for so long is closed
 * @n_clients:		Connections
 * @n_queries:		Queries in flight, or whose answers wait
 * @clients:		Connections, the one on which nothing happened for longest first
 * @listeners:		Sockets that connections come from
 */
struct dns_tcp {
	struct dns_resolvers *r;
	size_t max_clients;
	size_t max_queries;
	unsigned idle_ms;
	size_t n_clients;
	size_t n_queries;
	TAILQ_HEAD(, tcp_client) clients;
	TAILQ_HEAD(, tcp_listener) listeners;
};

void dns_tcp_init(struct dns_tcp *t, struct dns_resolvers *r, size_t max_clients,
		  size_t max_queries, unsigned idle_ms);
int dns_tcp_take_listener(struct dns_tcp *t, int fd, struct err *e);
void dns_tcp_done(struct dns_tcp *t);

#endif
