/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_RULESET_H
#define EGRESS_RULESET_H

#include <stddef.h>
#include <stdio.h>

#include "ip.h"
#include "ranges.h"

struct err;

/* The sets of the table, RULESET_SETS of them */
enum ruleset_set {
	RULESET_RESOLVE4,
	RULESET_RESOLVE6,
	RULESET_ALLOW4,
	RULESET_ALLOW6,
	RULESET_DENY4,
	RULESET_DENY6,
	RULESET_SETS,
};

/**
 * struct ruleset - what table inet oci_sandbox has to say, as data
 * @sets:	RULESET_RESOLVE*: resolvers, accepted on port 53, UDP and TCP;
 *		RULESET_ALLOW*: destinations that are accepted before the deny sets are asked;
 *		RULESET_DENY*: destinations that are refused
 *
 * Owned by the caller; ruleset_done() releases it.
 */
struct ruleset {
	struct ip_set sets[RULESET_SETS];
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

enum ruleset_match {
	RULESET_MATCH_LOOPBACK,   /* leaves by "lo" */
	RULESET_MATCH_CONNECTION, /* established or related */
	RULESET_MATCH_ICMPV6,     /* ICMPv6 of a type */
	RULESET_MATCH_DNS,        /* to an address of a set, port 53 of a protocol */
	RULESET_MATCH_SET,        /* to an address of a set */
	RULESET_MATCH_ALL,
};

enum ruleset_verdict {
	RULESET_ACCEPT,
	RULESET_REFUSE, /* answered with ICMP admin-prohibited */
};

/**
 * struct ruleset_rule - one rule of chain "egress"
 * @name:	What it is for; the rule's comment in the kernel
 * @verdict:	What happens to a packet that matches
 * @match:	What it looks at
 * @number:	RULESET_MATCH_ICMPV6: the type; RULESET_MATCH_DNS: IPPROTO_UDP or IPPROTO_TCP
 * @set:	RULESET_MATCH_DNS and RULESET_MATCH_SET: which set
 */
struct ruleset_rule {
	const char *name;
	enum ruleset_verdict verdict;
	enum ruleset_match match;
	uint8_t number;
	enum ruleset_set set;
};

const struct ruleset_rule *ruleset_rule(size_t i);
const char *ruleset_set_name(enum ruleset_set set);
int ruleset_set_family(enum ruleset_set set);
int ruleset_compile(const struct ruleset_input *in, struct ruleset *ret, struct err *e);
int ruleset_print(FILE *f, const struct ruleset *r);
void ruleset_done(struct ruleset *r);

#define cleanup_ruleset CLEANUP(ruleset_done)

#endif
