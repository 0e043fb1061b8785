/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What a ruleset's parts are called in the kernel
 */
#include "config.h"

#include <sys/socket.h>

#include "ruleset.h"

/**
 * ruleset_chain_name() - What the kernel calls a chain
 * @chain:	Chain
 *
 * Return: a static string
 */
const char *ruleset_chain_name(enum ruleset_chain chain)
{
	static const char *const names[RULESET_CHAINS] = {
		[RULESET_INPUT] = "input",           [RULESET_OUTPUT] = "output",
		[RULESET_FORWARD] = "forward",       [RULESET_POSTROUTING] = "postrouting",
		[RULESET_EGRESS] = "egress",         [RULESET_DESTINATIONS] = "destinations",
		[RULESET_UNFINISHED] = "unfinished", [RULESET_REFUSED] = "refused",
	};

	return names[chain];
}

/**
 * ruleset_refused_set() - What the kernel calls the set of refusals of a family
 * @family:	AF_INET or AF_INET6
 *
 * Its elements are destination, protocol and port.
 *
 * Return: a static string
 */
const char *ruleset_refused_set(int family)
{
	return family == AF_INET ? "refused4" : "refused6";
}
