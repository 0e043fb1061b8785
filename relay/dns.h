/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RELAY_DNS_H
#define RELAY_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

#define DNS_HEADER_BYTES 12     /* RFC 1035 section 4.1.1 */
#define DNS_NAME_BYTES 255      /* RFC 1035 section 2.3.4 */
#define DNS_UDP_BYTES 512       /* RFC 1035 section 4.2.1: without EDNS0 */
#define DNS_MESSAGE_BYTES 65535 /* RFC 1035 section 4.2.2: what TCP's length can say */

/* Room for an answer that has a question and nothing else */
#define DNS_BARE_BYTES (DNS_HEADER_BYTES + DNS_NAME_BYTES + 4)

/**
 * enum dns_rcode - how an answer says that it is none, RFC 1035 section 4.1.1
 * @DNS_SERVFAIL:	The server could not find out
 * @DNS_NOTIMP:		The server does not do this
 * @DNS_REFUSED:	The server does not do this for us
 */
enum dns_rcode {
	DNS_SERVFAIL = 2,
	DNS_NOTIMP = 4,
	DNS_REFUSED = 5,
};

/**
 * struct dns_query - what is known of a query that dns_check_query() found to be one
 * @question_bytes:	Length of the question section, which follows the header
 * @udp_bytes:		Longest answer that its sender takes over UDP: of its OPT record, RFC 6891
 *			section 6.2.3, or DNS_UDP_BYTES
 */
struct dns_query {
	size_t question_bytes;
	size_t udp_bytes;
};

int dns_check_query(const uint8_t *msg, size_t len, struct dns_query *ret, struct err *e);
bool dns_is_answer(const uint8_t *msg, size_t len, const uint8_t *query, const struct dns_query *q);
uint16_t dns_id(const uint8_t *msg);
void dns_set_id(uint8_t *msg, uint16_t id);
int dns_rcode(const uint8_t *msg);
size_t dns_make_servfail(const uint8_t *query, const struct dns_query *q,
			 uint8_t ret[DNS_BARE_BYTES]);
size_t dns_make_truncated(const uint8_t *answer, const struct dns_query *q,
			  uint8_t ret[DNS_BARE_BYTES]);

#endif
