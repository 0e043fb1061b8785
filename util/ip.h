/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_IP_H
#define UTIL_IP_H

#include <netinet/in.h>
#include <stdint.h>

struct err;

#define IP_PREFIX_STRLEN (INET6_ADDRSTRLEN + 4)

/**
 * struct ip_prefix - an address with a prefix length
 * @family:	AF_INET or AF_INET6
 * @len:	Leading bits that count: 0 to 32, or 0 to 128
 * @addr:	Network byte order, the bits after @len zero; 4 or 16 bytes are used
 */
struct ip_prefix {
	int family;
	unsigned len;
	uint8_t addr[16];
};

int ip_prefix_parse(const char *text, struct ip_prefix *ret, struct err *e);
const char *ip_prefix_format(const struct ip_prefix *p, char buf[IP_PREFIX_STRLEN]);

#endif
