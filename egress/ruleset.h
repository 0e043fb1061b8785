/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_RULESET_H
#define EGRESS_RULESET_H

#include <stddef.h>
#include <stdio.h>

#include "ip.h"

struct err;

/**
 * struct ip_range - an inclusive range of addresses of one family
 * @first:	Network byte order; 4 or 16 bytes are used
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

/**
 * struct ruleset - what table inet oci_sandbox has to say, as data
 * @allow4:	Destinations that are accepted before the deny sets are asked
 * @allow6:	The same for IPv6
 * @resolve4:	Resolvers, accepted on port 53, UDP and TCP
 * @resolve6:	The same for IPv6
 * @deny4:	Destinations that are refused
 * @deny6:	The same for IPv6
 *
 * Owned by the caller; ruleset_done() releases it.
 */
struct ruleset {
	struct ip_set allow4, allow6;
	struct ip_set resolve4, resolve6;
	struct ip_set deny4, deny6;
};

/**
 * struct ruleset_input - what a ruleset is made from
 * @allow:	Prefixes of the policy's allow-ip, any family, order and overlap
 * @n_allow:	How many
 * @resolvers:	Addresses (full-length prefixes) of the container's resolv.conf
 * @n_resolvers: How many
 */
struct ruleset_input {
	const struct ip_prefix *allow;
	size_t n_allow;
	const struct ip_prefix *resolvers;
	size_t n_resolvers;
};

int ruleset_compile(const struct ruleset_input *in, struct ruleset *ret, struct err *e);
int ruleset_print(FILE *f, const struct ruleset *r);
void ruleset_done(struct ruleset *r);

#define cleanup_ruleset CLEANUP(ruleset_done)

#endif
