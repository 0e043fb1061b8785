/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What a rule is made of, for the kernel
 *
 * Messages are built from attributes by hand: nothing is allocated, so nothing can be left out.
 */
#include "config.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_tables.h>

#include "cleanup.h"
#include "expressions.h"
#include "ruleset.h"

/* One conntrack state is one bit: NF_CT_STATE_BIT() of the kernel */
#define CT_BIT(state) (1U << ((state) % IP_CT_IS_REPLY + 1))

/* The one register that conditions use; each comparison follows the load that it is about. */
#define REG NFT_REG_1

/* The same register by its number among those of 4 bytes: a key goes on in those after it. */
#define KEY_REG NFT_REG32_00

/**
 * egress_put_u32() - Add a number to a message, in nftables' byte order
 * @nlh:	Message
 * @attr:	Attribute
 * @v:		Number
 */
void egress_put_u32(struct nlmsghdr *nlh, uint16_t attr, uint32_t v)
{
	mnl_attr_put_u32(nlh, attr, htonl(v));
}

/**
 * egress_put_data() - Add a value of a set or an expression to a message
 * @nlh:	Message
 * @attr:	Attribute
 * @v:		Value
 * @bytes:	Of @v
 */
void egress_put_data(struct nlmsghdr *nlh, uint16_t attr, const void *v, size_t bytes)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, attr);

	mnl_attr_put(nlh, NFTA_DATA_VALUE, bytes, v);
	mnl_attr_nest_end(nlh, nest);
}

/**
 * struct expr - an expression of a rule while its attributes are put
 * @elem:	Its place in the rule's list
 * @data:	What is its own
 */
struct expr {
	struct nlattr *elem;
	struct nlattr *data;
};

static struct expr expr_start(struct nlmsghdr *nlh, const char *name)
{
	struct expr x;

	x.elem = mnl_attr_nest_start(nlh, NFTA_LIST_ELEM);
	mnl_attr_put_strz(nlh, NFTA_EXPR_NAME, name);
	x.data = mnl_attr_nest_start(nlh, NFTA_EXPR_DATA);
	return x;
}

static void expr_end(struct nlmsghdr *nlh, struct expr x)
{
	mnl_attr_nest_end(nlh, x.data);
	mnl_attr_nest_end(nlh, x.elem);
}

static void match_value(struct nlmsghdr *nlh, enum nft_cmp_ops op, const void *v, size_t bytes)
{
	struct expr x = expr_start(nlh, "cmp");

	egress_put_u32(nlh, NFTA_CMP_SREG, REG);
	egress_put_u32(nlh, NFTA_CMP_OP, op);
	egress_put_data(nlh, NFTA_CMP_DATA, v, bytes);
	expr_end(nlh, x);
}

static void load_meta(struct nlmsghdr *nlh, uint32_t reg, enum nft_meta_keys key)
{
	struct expr x = expr_start(nlh, "meta");

	egress_put_u32(nlh, NFTA_META_DREG, reg);
	egress_put_u32(nlh, NFTA_META_KEY, key);
	expr_end(nlh, x);
}

static void match_meta(struct nlmsghdr *nlh, enum nft_meta_keys key, const void *v, size_t bytes)
{
	load_meta(nlh, REG, key);
	match_value(nlh, NFT_CMP_EQ, v, bytes);
}

static void match_family(struct nlmsghdr *nlh, int family)
{
	uint8_t nfproto = family == AF_INET ? NFPROTO_IPV4 : NFPROTO_IPV6;

	match_meta(nlh, NFT_META_NFPROTO, &nfproto, sizeof(nfproto));
}

/* What is loaded where */
struct load {
	enum nft_payload_bases base;
	size_t offset;
	size_t bytes;
};

static void load_payload(struct nlmsghdr *nlh, uint32_t reg, struct load l)
{
	struct expr x = expr_start(nlh, "payload");

	egress_put_u32(nlh, NFTA_PAYLOAD_DREG, reg);
	egress_put_u32(nlh, NFTA_PAYLOAD_BASE, l.base);
	egress_put_u32(nlh, NFTA_PAYLOAD_OFFSET, (uint32_t)l.offset);
	egress_put_u32(nlh, NFTA_PAYLOAD_LEN, (uint32_t)l.bytes);
	expr_end(nlh, x);
}

static void match_loopback(struct nlmsghdr *nlh)
{
	static const char name[IFNAMSIZ] = "lo"; /* the zeros after it: no prefix of a name */

	match_meta(nlh, NFT_META_OIFNAME, name, sizeof(name));
}

/* Without its end: whatever begins so */
static void match_agent_link(struct nlmsghdr *nlh, enum nft_meta_keys key)
{
	match_meta(nlh, key, RULESET_AGENT_LINK, strlen(RULESET_AGENT_LINK));
}

static void match_connection(struct nlmsghdr *nlh)
{
	const uint32_t mask = CT_BIT(IP_CT_ESTABLISHED) | CT_BIT(IP_CT_RELATED);
	const uint32_t none = 0;
	struct expr x = expr_start(nlh, "ct");

	egress_put_u32(nlh, NFTA_CT_DREG, REG);
	egress_put_u32(nlh, NFTA_CT_KEY, NFT_CT_STATE);
	expr_end(nlh, x);

	x = expr_start(nlh, "bitwise");
	egress_put_u32(nlh, NFTA_BITWISE_SREG, REG);
	egress_put_u32(nlh, NFTA_BITWISE_DREG, REG);
	egress_put_u32(nlh, NFTA_BITWISE_LEN, sizeof(mask));
	egress_put_data(nlh, NFTA_BITWISE_MASK, &mask, sizeof(mask));
	egress_put_data(nlh, NFTA_BITWISE_XOR, &none, sizeof(none));
	expr_end(nlh, x);
	match_value(nlh, NFT_CMP_NEQ, &none, sizeof(none));
}

static void match_protocol(struct nlmsghdr *nlh, uint8_t protocol)
{
	match_meta(nlh, NFT_META_L4PROTO, &protocol, sizeof(protocol));
}

/* Neither TCP nor UDP: what has no port that is loaded for them */
static void match_portless(struct nlmsghdr *nlh)
{
	static const uint8_t with_ports[] = { IPPROTO_TCP, IPPROTO_UDP };

	load_meta(nlh, REG, NFT_META_L4PROTO);
	for (size_t i = 0; i < N_ELEMENTS(with_ports); i++)
		match_value(nlh, NFT_CMP_NEQ, &with_ports[i], sizeof(with_ports[i]));
}

/* IPv6 only: an IPv4 packet of protocol 58 is nobody's neighbour discovery. */
static void match_icmpv6(struct nlmsghdr *nlh, uint8_t type)
{
	match_family(nlh, AF_INET6);
	match_protocol(nlh, IPPROTO_ICMPV6);
	load_payload(nlh, REG,
		     (struct load){ NFT_PAYLOAD_TRANSPORT_HEADER,
				    offsetof(struct icmp6_hdr, icmp6_type), sizeof(type) });
	match_value(nlh, NFT_CMP_EQ, &type, sizeof(type));
}

/* UDP's and TCP's ports are at the same place. */
static const struct load destination_port = { NFT_PAYLOAD_TRANSPORT_HEADER,
					      offsetof(struct udphdr, dest), sizeof(uint16_t) };

static void match_ports(struct nlmsghdr *nlh, uint16_t first, uint16_t last)
{
	const uint16_t low = htons(first), high = htons(last);

	load_payload(nlh, REG, destination_port);
	if (first == last) {
		match_value(nlh, NFT_CMP_EQ, &low, sizeof(low));
		return;
	}
	match_value(nlh, NFT_CMP_GTE, &low, sizeof(low));
	match_value(nlh, NFT_CMP_LTE, &high, sizeof(high));
}

static size_t address_offset(int family, bool source)
{
	if (family == AF_INET)
		return source ? offsetof(struct iphdr, saddr) : offsetof(struct iphdr, daddr);
	return source ? offsetof(struct ip6_hdr, ip6_src) : offsetof(struct ip6_hdr, ip6_dst);
}

static void load_address(struct nlmsghdr *nlh, int family, bool source)
{
	load_payload(nlh, REG,
		     (struct load){ NFT_PAYLOAD_NETWORK_HEADER, address_offset(family, source),
				    ip_family_bytes(family) });
}

static void match_set(struct nlmsghdr *nlh, const struct ruleset_set *set, bool source)
{
	int family = set->ip.family;
	struct expr x;

	load_address(nlh, family, source);
	x = expr_start(nlh, "lookup");
	mnl_attr_put_strz(nlh, NFTA_LOOKUP_SET, set->name);
	egress_put_u32(nlh, NFTA_LOOKUP_SREG, REG);
	expr_end(nlh, x);
}

/* The cheap conditions first */
static void put_match(struct nlmsghdr *nlh, const struct ruleset *r,
		      const struct ruleset_rule *rule)
{
	if (rule->loopback)
		match_loopback(nlh);
	if (rule->from_agent)
		match_agent_link(nlh, NFT_META_IIFNAME);
	if (rule->to_agent)
		match_agent_link(nlh, NFT_META_OIFNAME);
	if (rule->connection)
		match_connection(nlh);
	if (rule->icmpv6 != 0)
		match_icmpv6(nlh, rule->icmpv6);
	if (rule->set != RULESET_NO_SET)
		match_family(nlh, r->sets[rule->set].ip.family);
	if (rule->family != 0)
		match_family(nlh, rule->family);
	if (rule->portless)
		match_portless(nlh);
	if (rule->protocol != 0)
		match_protocol(nlh, rule->protocol);
	if (rule->first != 0)
		match_ports(nlh, rule->first, rule->last);
	if (rule->set != RULESET_NO_SET)
		match_set(nlh, &r->sets[rule->set], rule->source);
}

static void put_counter(struct nlmsghdr *nlh)
{
	expr_end(nlh, expr_start(nlh, "counter"));
}

/* Each element of the set gets one of its own. */
static void put_element_counter(struct nlmsghdr *nlh)
{
	struct nlattr *expr = mnl_attr_nest_start(nlh, NFTA_DYNSET_EXPR);

	mnl_attr_put_strz(nlh, NFTA_EXPR_NAME, "counter");
	mnl_attr_nest_end(nlh, mnl_attr_nest_start(nlh, NFTA_EXPR_DATA));
	mnl_attr_nest_end(nlh, expr);
}

static void put_value(struct nlmsghdr *nlh, uint32_t reg, const void *v, size_t bytes)
{
	struct expr x = expr_start(nlh, "immediate");

	egress_put_u32(nlh, NFTA_IMMEDIATE_DREG, reg);
	egress_put_data(nlh, NFTA_IMMEDIATE_DATA, v, bytes);
	expr_end(nlh, x);
}

static void put_verdict(struct nlmsghdr *nlh, int code, const char *chain)
{
	struct expr x = expr_start(nlh, "immediate");
	struct nlattr *data;
	struct nlattr *verdict;

	egress_put_u32(nlh, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	data = mnl_attr_nest_start(nlh, NFTA_IMMEDIATE_DATA);
	verdict = mnl_attr_nest_start(nlh, NFTA_DATA_VERDICT);
	egress_put_u32(nlh, NFTA_VERDICT_CODE, (uint32_t)code);
	if (chain != NULL)
		mnl_attr_put_strz(nlh, NFTA_VERDICT_CHAIN, chain);
	mnl_attr_nest_end(nlh, verdict);
	mnl_attr_nest_end(nlh, data);
	expr_end(nlh, x);
}

static void put_reject(struct nlmsghdr *nlh)
{
	struct expr x = expr_start(nlh, "reject");

	egress_put_u32(nlh, NFTA_REJECT_TYPE, NFT_REJECT_ICMPX_UNREACH);
	mnl_attr_put_u8(nlh, NFTA_REJECT_ICMP_CODE, NFT_REJECT_ICMPX_ADMIN_PROHIBITED);
	expr_end(nlh, x);
}

/*
 * The key of a set of refusals: address, protocol, port, each in registers of 4 bytes.  Where it
 * can't be recorded the kernel breaks the rule off here: nothing may depend on what comes after.
 */
static void put_record(struct nlmsghdr *nlh, const struct ruleset_rule *rule)
{
	const uint32_t protocol = KEY_REG + (uint32_t)ip_family_bytes(rule->family) / 4;
	static const uint32_t no_port = 0;
	struct expr x;

	load_address(nlh, rule->family, false);
	load_meta(nlh, protocol, NFT_META_L4PROTO);
	if (rule->portless)
		put_value(nlh, protocol + 1, &no_port, sizeof(no_port));
	else
		load_payload(nlh, protocol + 1, destination_port);
	x = expr_start(nlh, "dynset");
	mnl_attr_put_strz(nlh, NFTA_DYNSET_SET_NAME, ruleset_refused_set(rule->family));
	egress_put_u32(nlh, NFTA_DYNSET_OP, NFT_DYNSET_OP_UPDATE);
	egress_put_u32(nlh, NFTA_DYNSET_SREG_KEY, KEY_REG);
	put_element_counter(nlh);
	expr_end(nlh, x);
}

static void put_action(struct nlmsghdr *nlh, const struct ruleset_rule *rule)
{
	switch (rule->verdict) {
	case RULESET_ACCEPT:
		put_verdict(nlh, NF_ACCEPT, NULL);
		break;
	case RULESET_DROP:
		put_verdict(nlh, NF_DROP, NULL);
		break;
	case RULESET_JUMP:
		put_verdict(nlh, NFT_JUMP, ruleset_chain_name(rule->target));
		break;
	case RULESET_REFUSE:
		put_verdict(nlh, NFT_GOTO, ruleset_chain_name(RULESET_REFUSED));
		break;
	case RULESET_REJECT:
		put_reject(nlh);
		break;
	case RULESET_RECORD:
		put_record(nlh, rule);
		break;
	case RULESET_MASQUERADE:
		expr_end(nlh, expr_start(nlh, "masq"));
		break;
	}
}

/**
 * egress_put_expressions() - Add what a rule does to the message that makes it
 * @nlh:	Message
 * @r:		Ruleset, whose sets the rule may name
 * @rule:	Rule
 */
void egress_put_expressions(struct nlmsghdr *nlh, const struct ruleset *r,
			    const struct ruleset_rule *rule)
{
	struct nlattr *list = mnl_attr_nest_start(nlh, NFTA_RULE_EXPRESSIONS);

	put_match(nlh, r, rule);
	put_counter(nlh);
	put_action(nlh, rule);
	mnl_attr_nest_end(nlh, list);
}
