/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The table of a container
 *
 * Table inet oci_sandbox in the current network namespace, and nothing outside of it:
 *
 *	chain output, forward	hooks of priority 0 that drop; one rule, jump to egress.  forward,
 *				because a container engine inside the container forwards
 *	chain egress		the rules of ruleset.c, the last one accepts
 *	set resolve4 ... deny6	interval sets
 *
 * The ICMP answer to a refused SYN comes back while connect() still holds the socket, and Linux
 * then keeps it for later: a TCP client of the container itself sees the error with the answer to
 * its first repeated SYN, one second on.  UDP sees it at once.
 *
 * What is left of a table whose rules went missing drops everything.  A table that exists is
 * replaced in the same transaction: there is no moment without rules.
 */
#include "config.h"

#include <arpa/inet.h>
#include <assert.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <libnftnl/udata.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter_ipv4.h>

#include "batch.h"
#include "cleanup.h"
#include "err.h"
#include "nft.h"
#include "ruleset.h"

/* Two elements of 36 bytes at most each, and an attribute's length has 16 bits. */
#define RANGES_PER_MSG 512

/* nft's own numbers of types, by which it knows how to print a set */
#define NFT_TYPE_IPADDR 7
#define NFT_TYPE_IP6ADDR 8

#define PORT_DNS 53

/* One conntrack state is one bit: NF_CT_STATE_BIT() of the kernel */
#define CT_BIT(state) (1U << ((state) % IP_CT_IS_REPLY + 1))

/* The one register that the rules use; each comparison follows the load that it is about. */
#define REG NFT_REG_1

static const struct egress_hook hooks[] = {
	{ "output", NF_INET_LOCAL_OUT },
	{ "forward", NF_INET_FORWARD },
};

/**
 * egress_hook() - A base chain of the table
 * @i:		From 0
 *
 * Return: the chain, NULL after the last one
 */
const struct egress_hook *egress_hook(size_t i)
{
	return i < N_ELEMENTS(hooks) ? &hooks[i] : NULL;
}

/**
 * egress_bounds() - The elements by which the kernel knows a range
 * @set:	Set
 * @i:		Which of its ranges
 * @ret:	Filled, ascending
 *
 * A range that ends at the family's last address has no end: no address follows it.
 *
 * Return: how many, 1 or 2
 */
size_t egress_bounds(const struct ip_set *set, size_t i, struct egress_bound ret[2])
{
	ret[0] = (struct egress_bound){ 0 };
	ret[1] = (struct egress_bound){ .flags = NFT_SET_ELEM_INTERVAL_END };
	memcpy(ret[0].addr, set->v[i].first, sizeof(ret[0].addr));
	return ip_next(set->family, set->v[i].last, ret[1].addr) ? 2 : 1;
}

/* Messages are built from attributes by hand: nothing is allocated, so nothing can be left out. */
static void put_u32(struct nlmsghdr *nlh, uint16_t attr, uint32_t v)
{
	mnl_attr_put_u32(nlh, attr, htonl(v));
}

static void put_data(struct nlmsghdr *nlh, uint16_t attr, const void *v, size_t bytes)
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

	put_u32(nlh, NFTA_CMP_SREG, REG);
	put_u32(nlh, NFTA_CMP_OP, op);
	put_data(nlh, NFTA_CMP_DATA, v, bytes);
	expr_end(nlh, x);
}

static void match_meta(struct nlmsghdr *nlh, enum nft_meta_keys key, const void *v, size_t bytes)
{
	struct expr x = expr_start(nlh, "meta");

	put_u32(nlh, NFTA_META_DREG, REG);
	put_u32(nlh, NFTA_META_KEY, key);
	expr_end(nlh, x);
	match_value(nlh, NFT_CMP_EQ, v, bytes);
}

static void match_family(struct nlmsghdr *nlh, int family)
{
	uint8_t nfproto = family == AF_INET ? NFPROTO_IPV4 : NFPROTO_IPV6;

	match_meta(nlh, NFT_META_NFPROTO, &nfproto, sizeof(nfproto));
}

static void load_payload(struct nlmsghdr *nlh, enum nft_payload_bases base, size_t offset,
			 size_t bytes)
{
	struct expr x = expr_start(nlh, "payload");

	put_u32(nlh, NFTA_PAYLOAD_DREG, REG);
	put_u32(nlh, NFTA_PAYLOAD_BASE, base);
	put_u32(nlh, NFTA_PAYLOAD_OFFSET, (uint32_t)offset);
	put_u32(nlh, NFTA_PAYLOAD_LEN, (uint32_t)bytes);
	expr_end(nlh, x);
}

static void match_loopback(struct nlmsghdr *nlh)
{
	static const char name[IFNAMSIZ] = "lo"; /* the zeros after it: no prefix of a name */

	match_meta(nlh, NFT_META_OIFNAME, name, sizeof(name));
}

static void match_connection(struct nlmsghdr *nlh)
{
	const uint32_t mask = CT_BIT(IP_CT_ESTABLISHED) | CT_BIT(IP_CT_RELATED);
	const uint32_t none = 0;
	struct expr x = expr_start(nlh, "ct");

	put_u32(nlh, NFTA_CT_DREG, REG);
	put_u32(nlh, NFTA_CT_KEY, NFT_CT_STATE);
	expr_end(nlh, x);

	x = expr_start(nlh, "bitwise");
	put_u32(nlh, NFTA_BITWISE_SREG, REG);
	put_u32(nlh, NFTA_BITWISE_DREG, REG);
	put_u32(nlh, NFTA_BITWISE_LEN, sizeof(mask));
	put_data(nlh, NFTA_BITWISE_MASK, &mask, sizeof(mask));
	put_data(nlh, NFTA_BITWISE_XOR, &none, sizeof(none));
	expr_end(nlh, x);
	match_value(nlh, NFT_CMP_NEQ, &none, sizeof(none));
}

/* IPv6 only: an IPv4 packet of protocol 58 is nobody's neighbour discovery. */
static void match_icmpv6(struct nlmsghdr *nlh, uint8_t type)
{
	const uint8_t proto = IPPROTO_ICMPV6;

	match_family(nlh, AF_INET6);
	match_meta(nlh, NFT_META_L4PROTO, &proto, sizeof(proto));
	load_payload(nlh, NFT_PAYLOAD_TRANSPORT_HEADER, offsetof(struct icmp6_hdr, icmp6_type),
		     sizeof(type));
	match_value(nlh, NFT_CMP_EQ, &type, sizeof(type));
}

static void match_set(struct nlmsghdr *nlh, enum ruleset_set set)
{
	int family = ruleset_set_family(set);
	struct expr x;

	match_family(nlh, family);
	load_payload(nlh, NFT_PAYLOAD_NETWORK_HEADER,
		     family == AF_INET ? offsetof(struct iphdr, daddr)
				       : offsetof(struct ip6_hdr, ip6_dst),
		     ip_family_bytes(family));
	x = expr_start(nlh, "lookup");
	mnl_attr_put_strz(nlh, NFTA_LOOKUP_SET, ruleset_set_name(set));
	put_u32(nlh, NFTA_LOOKUP_SREG, REG);
	expr_end(nlh, x);
}

static void match_dns(struct nlmsghdr *nlh, uint8_t proto)
{
	const uint16_t port = htons(PORT_DNS);

	match_meta(nlh, NFT_META_L4PROTO, &proto, sizeof(proto));
	/* UDP's and TCP's ports are at the same place. */
	load_payload(nlh, NFT_PAYLOAD_TRANSPORT_HEADER, offsetof(struct udphdr, dest),
		     sizeof(port));
	match_value(nlh, NFT_CMP_EQ, &port, sizeof(port));
}

static void put_match(struct nlmsghdr *nlh, const struct ruleset_rule *rule)
{
	switch (rule->match) {
	case RULESET_MATCH_LOOPBACK:
		match_loopback(nlh);
		break;
	case RULESET_MATCH_CONNECTION:
		match_connection(nlh);
		break;
	case RULESET_MATCH_ICMPV6:
		match_icmpv6(nlh, rule->number);
		break;
	case RULESET_MATCH_DNS:
		match_set(nlh, rule->set);
		match_dns(nlh, rule->number);
		break;
	case RULESET_MATCH_SET:
		match_set(nlh, rule->set);
		break;
	case RULESET_MATCH_ALL:
		break;
	}
}

static void put_counter(struct nlmsghdr *nlh)
{
	expr_end(nlh, expr_start(nlh, "counter"));
}

static void put_verdict(struct nlmsghdr *nlh, int code, const char *chain)
{
	struct expr x = expr_start(nlh, "immediate");
	struct nlattr *data;
	struct nlattr *verdict;

	put_u32(nlh, NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
	data = mnl_attr_nest_start(nlh, NFTA_IMMEDIATE_DATA);
	verdict = mnl_attr_nest_start(nlh, NFTA_DATA_VERDICT);
	put_u32(nlh, NFTA_VERDICT_CODE, (uint32_t)code);
	if (chain != NULL)
		mnl_attr_put_strz(nlh, NFTA_VERDICT_CHAIN, chain);
	mnl_attr_nest_end(nlh, verdict);
	mnl_attr_nest_end(nlh, data);
	expr_end(nlh, x);
}

static void put_refusal(struct nlmsghdr *nlh)
{
	struct expr x = expr_start(nlh, "reject");

	put_u32(nlh, NFTA_REJECT_TYPE, NFT_REJECT_ICMPX_UNREACH);
	mnl_attr_put_u8(nlh, NFTA_REJECT_ICMP_CODE, NFT_REJECT_ICMPX_ADMIN_PROHIBITED);
	expr_end(nlh, x);
}

/**
 * egress_comment() - The user data that makes a rule's comment, in nft's form
 * @text:	Comment of less than EGRESS_COMMENT_MAX bytes
 * @buf:	Filled: type, length, text with its end
 *
 * Return: bytes of @buf that are used
 */
size_t egress_comment(const char *text, uint8_t buf[2 + EGRESS_COMMENT_MAX])
{
	size_t bytes = strlen(text) + 1;

	assert(bytes <= EGRESS_COMMENT_MAX);
	buf[0] = NFTNL_UDATA_RULE_COMMENT;
	buf[1] = (uint8_t)bytes;
	memcpy(buf + 2, text, bytes);
	return 2 + bytes;
}

static void put_comment(struct nlmsghdr *nlh, const char *text)
{
	uint8_t buf[2 + EGRESS_COMMENT_MAX];
	size_t bytes = egress_comment(text, buf);

	mnl_attr_put(nlh, NFTA_RULE_USERDATA, bytes, buf);
}

static void add_table(struct nft_batch *b, const char *what, uint16_t type, uint16_t flags)
{
	struct nlmsghdr *nlh = nft_batch_add(b, what, type, flags);

	mnl_attr_put_strz(nlh, NFTA_TABLE_NAME, EGRESS_TABLE);
}

static void add_base_chain(struct nft_batch *b, const struct egress_hook *h)
{
	struct nlmsghdr *nlh = nft_batch_add(b, "add base chain", NFT_MSG_NEWCHAIN, NLM_F_CREATE);
	struct nlattr *nest;

	mnl_attr_put_strz(nlh, NFTA_CHAIN_TABLE, EGRESS_TABLE);
	mnl_attr_put_strz(nlh, NFTA_CHAIN_NAME, h->name);
	mnl_attr_put_strz(nlh, NFTA_CHAIN_TYPE, "filter");
	put_u32(nlh, NFTA_CHAIN_POLICY, NF_DROP);
	nest = mnl_attr_nest_start(nlh, NFTA_CHAIN_HOOK);
	put_u32(nlh, NFTA_HOOK_HOOKNUM, h->hook);
	put_u32(nlh, NFTA_HOOK_PRIORITY, NF_IP_PRI_FILTER);
	mnl_attr_nest_end(nlh, nest);
}

static void add_jump(struct nft_batch *b, const struct egress_hook *h)
{
	struct nlmsghdr *nlh = nft_batch_add(b, "add rule of base chain", NFT_MSG_NEWRULE,
					     NLM_F_CREATE | NLM_F_APPEND);
	struct nlattr *list;

	mnl_attr_put_strz(nlh, NFTA_RULE_TABLE, EGRESS_TABLE);
	mnl_attr_put_strz(nlh, NFTA_RULE_CHAIN, h->name);
	list = mnl_attr_nest_start(nlh, NFTA_RULE_EXPRESSIONS);
	put_counter(nlh);
	put_verdict(nlh, NFT_JUMP, EGRESS_CHAIN);
	mnl_attr_nest_end(nlh, list);
	put_comment(nlh, EGRESS_JUMP);
}

static void add_egress_chain(struct nft_batch *b)
{
	struct nlmsghdr *nlh = nft_batch_add(b, "add chain", NFT_MSG_NEWCHAIN, NLM_F_CREATE);

	mnl_attr_put_strz(nlh, NFTA_CHAIN_TABLE, EGRESS_TABLE);
	mnl_attr_put_strz(nlh, NFTA_CHAIN_NAME, EGRESS_CHAIN);
}

static void add_rule(struct nft_batch *b, const struct ruleset_rule *rule)
{
	struct nlmsghdr *nlh =
		nft_batch_add(b, rule->name, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
	struct nlattr *list;

	mnl_attr_put_strz(nlh, NFTA_RULE_TABLE, EGRESS_TABLE);
	mnl_attr_put_strz(nlh, NFTA_RULE_CHAIN, EGRESS_CHAIN);
	list = mnl_attr_nest_start(nlh, NFTA_RULE_EXPRESSIONS);
	put_match(nlh, rule);
	put_counter(nlh);
	if (rule->verdict == RULESET_ACCEPT)
		put_verdict(nlh, NF_ACCEPT, NULL);
	else
		put_refusal(nlh);
	mnl_attr_nest_end(nlh, list);
	put_comment(nlh, rule->name);
}

static void add_set(struct nft_batch *b, enum ruleset_set set)
{
	struct nlmsghdr *nlh = nft_batch_add(b, "add set", NFT_MSG_NEWSET, NLM_F_CREATE);
	int family = ruleset_set_family(set);

	mnl_attr_put_strz(nlh, NFTA_SET_TABLE, EGRESS_TABLE);
	mnl_attr_put_strz(nlh, NFTA_SET_NAME, ruleset_set_name(set));
	put_u32(nlh, NFTA_SET_ID, (uint32_t)set + 1);
	put_u32(nlh, NFTA_SET_FLAGS, NFT_SET_INTERVAL);
	put_u32(nlh, NFTA_SET_KEY_TYPE, family == AF_INET ? NFT_TYPE_IPADDR : NFT_TYPE_IP6ADDR);
	put_u32(nlh, NFTA_SET_KEY_LEN, (uint32_t)ip_family_bytes(family));
}

static void put_bound(struct nlmsghdr *nlh, int family, const struct egress_bound *bound)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, NFTA_LIST_ELEM);

	if (bound->flags != 0)
		put_u32(nlh, NFTA_SET_ELEM_FLAGS, bound->flags);
	put_data(nlh, NFTA_SET_ELEM_KEY, bound->addr, ip_family_bytes(family));
	mnl_attr_nest_end(nlh, nest);
}

/* One message's worth of elements from range @i on.  Return: the range to go on with */
static size_t add_elements(struct nft_batch *b, enum ruleset_set name, const struct ip_set *set,
			   size_t i)
{
	struct nlmsghdr *nlh =
		nft_batch_add(b, "add addresses to a set", NFT_MSG_NEWSETELEM, NLM_F_CREATE);
	struct egress_bound bounds[2];
	struct nlattr *list;
	size_t end = i + RANGES_PER_MSG;

	mnl_attr_put_strz(nlh, NFTA_SET_ELEM_LIST_TABLE, EGRESS_TABLE);
	mnl_attr_put_strz(nlh, NFTA_SET_ELEM_LIST_SET, ruleset_set_name(name));
	list = mnl_attr_nest_start(nlh, NFTA_SET_ELEM_LIST_ELEMENTS);
	for (; i < set->n && i < end; i++) {
		size_t n = egress_bounds(set, i, bounds);

		for (size_t k = 0; k < n; k++)
			put_bound(nlh, set->family, &bounds[k]);
	}
	mnl_attr_nest_end(nlh, list);
	return i;
}

/**
 * egress_commit() - Give the current network namespace its rules
 * @r:		Ruleset
 * @e:		Set on failure: what of it the kernel refused, why, and what to do
 *
 * All or nothing, in one transaction: after a failure the namespace is as it was before.
 * Rules of other tables stay as they are and can only refuse more.
 *
 * Return: 0 on success, -1 on failure
 */
int egress_commit(const struct ruleset *r, struct err *e)
{
	cleanup_nft_batch struct nft_batch *b = nft_batch_new(e);

	if (b == NULL)
		return -1;

	/* Deleting what is not there is an error, adding what is there is none. */
	add_table(b, "add table", NFT_MSG_NEWTABLE, NLM_F_CREATE);
	add_table(b, "delete table", NFT_MSG_DELTABLE, 0);
	add_table(b, "add table", NFT_MSG_NEWTABLE, NLM_F_CREATE);

	for (enum ruleset_set s = 0; s < RULESET_SETS; s++) {
		add_set(b, s);
		for (size_t i = 0; i < r->sets[s].n;)
			i = add_elements(b, s, &r->sets[s], i);
	}
	add_egress_chain(b);
	for (size_t i = 0; ruleset_rule(i) != NULL; i++)
		add_rule(b, ruleset_rule(i));
	for (size_t i = 0; i < N_ELEMENTS(hooks); i++) {
		add_base_chain(b, &hooks[i]);
		add_jump(b, &hooks[i]);
	}
	return nft_batch_commit(b, e);
}
