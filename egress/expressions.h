/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_EXPRESSIONS_H
#define EGRESS_EXPRESSIONS_H

#include <stddef.h>
#include <stdint.h>

struct nlmsghdr;
struct ruleset;
struct ruleset_rule;

void egress_put_u32(struct nlmsghdr *nlh, uint16_t attr, uint32_t v);
void egress_put_data(struct nlmsghdr *nlh, uint16_t attr, const void *v, size_t bytes);
void egress_put_expressions(struct nlmsghdr *nlh, const struct ruleset *r,
			    const struct ruleset_rule *rule);

#endif
