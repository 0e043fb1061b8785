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

#define IP_DESTINATION_STRLEN (IP_PREFIX_STRLEN + sizeof(" tcp/65535-65535"))

/**
 * struct ip_destination - addresses, and what of them
 * @prefix:	Addresses
 * @protocol:	IPPROTO_TCP or IPPROTO_UDP, 0: every protocol
 * @first:	First port, host byte order; 0: every port
 * @last:	Last port, not below @first; 0 where that is
 */
struct ip_destination {
	struct ip_prefix prefix;
	uint8_t protocol;
	uint16_t first;
	uint16_t last;
};

int ip_prefix_parse(const char *text, struct ip_prefix *ret, struct err *e);
const char *ip_prefix_format(const struct ip_prefix *p, char buf[IP_PREFIX_STRLEN]);
int ip_destination_parse(const char *text, struct ip_destination *ret, struct err *e);
const char *ip_destination_format(const struct ip_destination *d, char buf[IP_DESTINATION_STRLEN]);
const char *ip_protocol_name(uint8_t protocol);

#endif
