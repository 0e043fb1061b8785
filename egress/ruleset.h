/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_RULESET_H
#define EGRESS_RULESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ip.h"
#include "ranges.h"

struct err;

#define RULESET_NAME_MAX 64 /* bytes of the name of a rule or set, its end included */
#define RULESET_NO_SET SIZE_MAX

/* How long the kernel remembers a refusal, and how many of each family at once */
#define RULESET_REFUSED_SECONDS 3600
#define RULESET_REFUSED_MAX 1024

enum ruleset_chain {
	RULESET_INPUT,        /* what agents send to the container itself */
	RULESET_OUTPUT,       /* what the container itself sends */
	RULESET_FORWARD,      /* what it forwards: of agents, and of a container engine in it */
	RULESET_POSTROUTING,  /* what of that gets the container's own address */
	RULESET_EGRESS,       /* what those ask that may use the container's resolvers */
	RULESET_DESTINATIONS, /* what all ask */
	RULESET_UNFINISHED,   /* only until a late network is there */
	RULESET_REFUSED,      /* where all go that are refused: records, and rejects whatever came
				 of that */
	RULESET_CHAINS,
};

/* What is reached besides what is allowed by name */
enum ruleset_mode {
	RULESET_INTERNET, /* what is public */
	RULESET_ALLOWLIST,
	RULESET_NONE, /* nor what is allowed, nor a resolver */
	RULESET_OPEN, /* everything */
};

/* How the interfaces begin that lead to agents, in the container's network namespace */
#define RULESET_AGENT_LINK "oci-sandbox"

enum ruleset_verdict {
	RULESET_ACCEPT,
	RULESET_REFUSE,     /* goes on in RULESET_REFUSED, and does not come back */
	RULESET_REJECT,     /* answered with ICMP admin-prohibited */
	RULESET_RECORD,     /* is added to a set of refusals, if it can be, and goes on */
	RULESET_DROP,       /* without an answer */
	RULESET_JUMP,       /* asks another chain, and goes on if that has no answer */
	RULESET_MASQUERADE, /* leaves with the address of the interface that it leaves by */
};

/**
 * struct ruleset_rule - one rule: its verdict is for packets that all its conditions fit
 * @name:	What it is for; the rule's comment in the kernel
 * @chain:	Where it stands
 * @verdict:	What happens to a packet that it fits
 * @target:	RULESET_JUMP: the other chain
 * @loopback:	Condition: leaves by "lo"
 * @from_agent:	Condition: comes from an agent, by its interface
 * @to_agent:	Condition: leaves to an agent
 * @connection:	Condition: of a connection that is established, or related to one
 * @family:	Condition: of this family; 0: none.  RULESET_RECORD has one: its set's
 * @portless:	Condition: neither TCP nor UDP
 * @icmpv6:	Condition: ICMPv6 of this type; 0: none
 * @protocol:	Condition: of this protocol, IPPROTO_*; 0: none
 * @first:	Condition: to a port not below, host byte order; 0: none
 * @last:	Condition: to a port not above
 * @set:	Condition: to an address of this set, an index; RULESET_NO_SET: none
 * @source:	It is from an address of @set instead
 */
struct ruleset_rule {
	char name[RULESET_NAME_MAX];
	enum ruleset_chain chain;
	enum ruleset_verdict verdict;
	enum ruleset_chain target;
	bool loopback;
	bool from_agent;
	bool to_agent;
	bool connection;
	int family;
	bool portless;
	uint8_t icmpv6;
	uint8_t protocol;
	uint16_t first;
	uint16_t last;
	size_t set;
	bool source;
};

/**
 * struct ruleset_set - addresses of one family, by name
 * @name:	What the kernel calls it
 * @ip:		Addresses
 */
struct ruleset_set {
	char name[RULESET_NAME_MAX];
	struct ip_set ip;
};

/**
 * struct ruleset - what table inet oci_sandbox has to say, as data
 * @rules:	Rules, those of a chain in the order in which the kernel asks
 * @n_rules:	How many
 * @sets:	Sets that rules name
 * @n_sets:	How many
 * @forwards:	The network namespace forwards, and not for agents alone
 *
 * Owned by the caller; ruleset_done() releases it.
 */
struct ruleset {
	struct ruleset_rule *rules;
	size_t n_rules;
	struct ruleset_set *sets;
	size_t n_sets;
	bool forwards;
};

/**
 * struct ruleset_input - what a ruleset is made from
 * @mode:	What is reached besides @allow
 * @agents:	Networks of agents' addresses, whose network namespaces are behind the container's
 * @n_agents:	How many
 * @only_agents: The container itself reaches what it would without rules
 * @forwards:	It forwarded packets before there were agents
 * @connected:	Networks of @on_link are reached, but for @gateway and @host
 * @gateway:	The container's gateways
 * @n_gateway:	How many
 * @allow:	The policy's allow-ip, any family, order and overlap
 * @n_allow:	How many
 * @deny:	The policy's deny-ip
 * @n_deny:	How many
 * @resolvers:	Addresses (full-length prefixes) of the container's resolv.conf
 * @n_resolvers: How many
 * @host:	The host's own addresses
 * @n_host:	How many
 * @on_link:	Networks that the container reaches without a gateway
 * @n_on_link:	How many
 * @unfinished:	The network comes later, and @on_link with it: until egress_finish() no packet is
 *		accepted for being of no list
 */
struct ruleset_input {
	enum ruleset_mode mode;
	const struct ip_prefix *agents;
	size_t n_agents;
	bool only_agents;
	bool forwards;
	bool connected;
	const struct ip_prefix *gateway;
	size_t n_gateway;
	const struct ip_destination *allow;
	size_t n_allow;
	const struct ip_destination *deny;
	size_t n_deny;
	const struct ip_prefix *resolvers;
	size_t n_resolvers;
	const struct ip_prefix *host;
	size_t n_host;
	const struct ip_prefix *on_link;
	size_t n_on_link;
	bool unfinished;
};

/**
 * struct ruleset_late - what completes an unfinished ruleset
 * @connected:	As it was in struct ruleset_input
 * @on_link:	Networks that the container reaches without a gateway
 * @n_on_link:	How many
 * @gateway:	The container's gateways
 * @n_gateway:	How many
 * @late:	There is no network even now
 */
struct ruleset_late {
	bool connected;
	const struct ip_prefix *on_link;
	size_t n_on_link;
	const struct ip_prefix *gateway;
	size_t n_gateway;
	bool late;
};

const char *ruleset_chain_name(enum ruleset_chain chain);
const char *ruleset_refused_set(int family);
const struct ruleset_rule *ruleset_rule(const struct ruleset *r, enum ruleset_chain chain,
					size_t i);
int ruleset_compile(const struct ruleset_input *in, struct ruleset *ret, struct err *e);
int ruleset_compile_late(const struct ruleset_late *in, struct ruleset *ret, struct err *e);
int ruleset_print(FILE *f, const struct ruleset *r);
void ruleset_done(struct ruleset *r);

#define cleanup_ruleset CLEANUP(ruleset_done)

#endif
