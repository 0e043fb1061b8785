/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_RANGES_H
#define EGRESS_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ip.h"

struct err;

#define IP_RANGE_STRLEN (2 * INET6_ADDRSTRLEN + 4)

/**
 * struct ip_range - an inclusive range of addresses of one family
 * @first:	Network byte order; 4 or 16 bytes are used, the others are zero
 * @last:	Not below @first
 */
struct ip_range {
	uint8_t first[16];
	uint8_t last[16];
};

/**
 * struct ip_set - ranges of one family, sorted, not overlapping and not adjacent
 * @family:	AF_INET or AF_INET6
 * @v:		Ranges, owned
 * @n:		How many
 */
struct ip_set {
	int family;
	struct ip_range *v;
	size_t n;
};

size_t ip_family_bytes(int family);
bool ip_next(int family, const uint8_t addr[16], uint8_t ret[16]);
int ip_set_build(int family, const struct ip_prefix *v, size_t n, struct ip_set *ret,
		 struct err *e);
const char *ip_range_format(int family, const struct ip_range *r, char buf[IP_RANGE_STRLEN]);
void ip_set_done(struct ip_set *s);

#endif
