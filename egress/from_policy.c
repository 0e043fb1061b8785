/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What a policy says of the network
 */
#include "config.h"

#include "from_policy.h"
#include "policy.h"
#include "ruleset.h"

/**
 * ruleset_input_from_policy() - Take over what a policy says of destinations
 * @p:		Policy, which must outlive @in
 * @in:		Gets mode, allow, deny and connected; the rest, the scope too, is the caller's
 */
void ruleset_input_from_policy(const struct policy *p, struct ruleset_input *in)
{
	static const enum ruleset_mode modes[] = {
		[POLICY_EGRESS_INTERNET] = RULESET_INTERNET,
		[POLICY_EGRESS_ALLOWLIST] = RULESET_ALLOWLIST,
		[POLICY_EGRESS_NONE] = RULESET_NONE,
		[POLICY_EGRESS_OPEN] = RULESET_OPEN,
	};

	in->mode = modes[p->egress];
	in->connected = p->allow_connected;
	in->allow = p->allow_ip;
	in->n_allow = p->n_allow_ip;
	in->deny = p->deny_ip;
	in->n_deny = p->n_deny_ip;
}
