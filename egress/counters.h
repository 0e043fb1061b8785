/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_COUNTERS_H
#define EGRESS_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleanup.h"
#include "ruleset.h"

struct err;

#define COUNTER_NAME_MAX RULESET_NAME_MAX

/**
 * struct counter_rule - a rule, and what it has fitted
 * @chain:	Chain that it is in
 * @name:	What it is for: its comment; empty if it has none
 * @set:	Set of addresses that it asks; empty: none
 * @verdict:	accept, refuse, drop, jump, masquerade, or record; a static string
 * @packets:	How many
 * @bytes:	In them
 */
struct counter_rule {
	char chain[COUNTER_NAME_MAX];
	char name[COUNTER_NAME_MAX];
	char set[COUNTER_NAME_MAX];
	enum ruleset_verdict verdict;
	uint64_t packets;
	uint64_t bytes;
};

/**
 * struct counter_refusal - where packets were refused to go
 * @family:	AF_INET or AF_INET6
 * @addr:	Destination, network byte order
 * @protocol:	IPPROTO_*
 * @port:	Destination's port, host byte order; 0 where the protocol is neither TCP nor UDP
 * @packets:	How many in the last RULESET_REFUSED_SECONDS, or longer, with no such pause between
 * @bytes:	In them
 * @seconds:	How long ago the last one was
 */
struct counter_refusal {
	int family;
	uint8_t addr[16];
	uint8_t protocol;
	uint16_t port;
	uint64_t packets;
	uint64_t bytes;
	uint64_t seconds;
};

/**
 * struct counters - what the kernel has counted in a network namespace
 * @rules:	Rules, those of a chain in the order in which the kernel asks
 * @n_rules:	How many
 * @refusals:	The latest first
 * @n_refusals:	How many
 * @full:	A set of refusals is full, so that some are not in it
 *
 * Owned by the caller; counters_done() releases it.
 */
struct counters {
	struct counter_rule *rules;
	size_t n_rules;
	struct counter_refusal *refusals;
	size_t n_refusals;
	bool full;
};

int counters_read(struct counters *ret, struct err *e);
const char *counters_verdict(enum ruleset_verdict verdict);
void counters_done(struct counters *c);

#define cleanup_counters CLEANUP(counters_done)

#endif
