/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_NFT_H
#define EGRESS_NFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ruleset.h"

struct err;

#define EGRESS_TABLE "oci_sandbox"

/* The table's comment, where it is so: who comes later can't tell it from anything else */
#define EGRESS_FOR_AGENTS "forwards for agents alone"

/* Of the sets of refusals */
#define EGRESS_REFUSED_FLAGS (NFT_SET_TIMEOUT | NFT_SET_EVAL)

/**
 * struct egress_bound - an element of an interval set: where a range starts, or no longer is
 * @addr:	Network byte order; unused bytes are zero
 * @flags:	0, or NFT_SET_ELEM_INTERVAL_END where @addr is the first address after a range
 */
struct egress_bound {
	uint8_t addr[16];
	uint32_t flags;
};

/* What a network namespace has */
enum egress_state {
	EGRESS_NONE,
	EGRESS_UNFINISHED, /* waits for egress_finish() */
	EGRESS_FINISHED,
};

/**
 * struct egress_base - when the kernel asks a chain of itself
 * @type:	Of the chain; NULL: only other chains ask it, and the rest means nothing
 * @hook:	NF_INET_*
 * @priority:	Among other chains of that hook
 * @policy:	What happens to what no rule decides: NF_DROP or NF_ACCEPT
 */
struct egress_base {
	const char *type;
	uint32_t hook;
	int32_t priority;
	uint32_t policy;
};

const struct egress_base *egress_base(enum ruleset_chain chain);
bool egress_has_chain(const struct ruleset *r, enum ruleset_chain chain);
size_t egress_comment(const char *text, uint8_t buf[2 + RULESET_NAME_MAX]);
uint32_t egress_refused_key(int family, uint32_t *ret_bytes);
size_t egress_bounds(const struct ip_set *set, size_t i, struct egress_bound ret[2]);
int egress_commit(const struct ruleset *r, struct err *e);
int egress_finish(const struct ruleset *r, struct err *e);
int egress_verify(const struct ruleset *r, struct err *e);
int egress_state(enum egress_state *ret, struct err *e);
int egress_forwards(bool *forwards, struct err *e);
int egress_verify_finished(const struct ruleset *r, struct err *e);

#endif
