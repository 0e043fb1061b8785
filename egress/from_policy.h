/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_FROM_POLICY_H
#define EGRESS_FROM_POLICY_H

struct policy;
struct ruleset_input;

void ruleset_input_from_policy(const struct policy *p, struct ruleset_input *in);

#endif
