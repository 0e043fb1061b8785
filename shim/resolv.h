/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_RESOLV_H
#define SHIM_RESOLV_H

#include <stddef.h>
#include <sys/socket.h>

#include "dns_ask.h"

struct err;

/**
 * struct resolv - what a container's resolv.conf(5) says
 * @resolvers:	Whom to ask, with port
 * @n:		How many, at least 1
 * @others:	All other lines, owned
 *
 * Owned by the caller; resolv_done() releases it.
 */
struct resolv {
	struct sockaddr_storage resolvers[DNS_RESOLVERS_MAX];
	size_t n;
	char *others;
};

/* Room for an IPv6 address, "%", and an interface's number */
#define RESOLV_ADDRESS_MAX 64

int resolv_parse(const char *text, struct resolv *ret, struct err *e);
void resolv_print_address(const struct sockaddr_storage *a, char ret[RESOLV_ADDRESS_MAX]);
void resolv_done(struct resolv *r);

#endif
