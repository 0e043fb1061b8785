/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_NFT_H
#define EGRESS_NFT_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct ip_set;
struct ruleset;

#define EGRESS_TABLE "oci_sandbox"
#define EGRESS_CHAIN "egress"
#define EGRESS_JUMP "all that leaves" /* comment of the base chains' one rule */
#define EGRESS_COMMENT_MAX 64         /* bytes of a rule's comment, its end included */

/**
 * struct egress_hook - a base chain: where the kernel asks chain EGRESS_CHAIN
 * @name:	Name of the chain
 * @hook:	NF_INET_*
 */
struct egress_hook {
	const char *name;
	uint32_t hook;
};

/**
 * struct egress_bound - an element of an interval set: where a range starts, or no longer is
 * @addr:	Network byte order; unused bytes are zero
 * @flags:	0, or NFT_SET_ELEM_INTERVAL_END where @addr is the first address after a range
 */
struct egress_bound {
	uint8_t addr[16];
	uint32_t flags;
};

const struct egress_hook *egress_hook(size_t i);
size_t egress_comment(const char *text, uint8_t buf[2 + EGRESS_COMMENT_MAX]);
size_t egress_bounds(const struct ip_set *set, size_t i, struct egress_bound ret[2]);
int egress_commit(const struct ruleset *r, struct err *e);
int egress_verify(const struct ruleset *r, struct err *e);

#endif
