/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The table of a container
 *
 * Table inet oci_sandbox in the current network namespace, and nothing outside of it:
 *
 *	chain output, forward	hooks of priority 0 that drop what no rule accepts
 *	chain input, postrouting hooks for agents with a network namespace behind the container's
 *	chain egress, ...	the other chains of the ruleset
 *	set resolver4, ...	interval sets
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
#include <errno.h>
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

/* With another message it fits twice into the default of net.core.wmem_max, socket(7) */
#define PART_BYTES (64 * 1024)

/* nft's own numbers of types, by which it knows how to print a set */
#define NFT_TYPE_IPADDR 7
#define NFT_TYPE_IP6ADDR 8

/* One conntrack state is one bit: NF_CT_STATE_BIT() of the kernel */
#define CT_BIT(state) (1U << ((state) % IP_CT_IS_REPLY + 1))

/* The one register that the rules use; each comparison follows the load that it is about. */
#define REG NFT_REG_1

/**
 * egress_base() - When the kernel asks a chain of itself
 * @chain:	Chain
 *
 * Return: static
 */
const struct egress_base *egress_base(enum ruleset_chain chain)
{
	static const struct egress_base bases[RULESET_CHAINS] = {
		[RULESET_INPUT] = { "filter", NF_INET_LOCAL_IN, NF_IP_PRI_FILTER, NF_ACCEPT },
		[RULESET_OUTPUT] = { "filter", NF_INET_LOCAL_OUT, NF_IP_PRI_FILTER, NF_DROP },
		[RULESET_FORWARD] = { "filter", NF_INET_FORWARD, NF_IP_PRI_FILTER, NF_DROP },
		[RULESET_POSTROUTING] = { "nat", NF_INET_POST_ROUTING, NF_IP_PRI_NAT_SRC,
					  NF_ACCEPT },
	};

	return &bases[chain];
}

/**
 * egress_has_chain() - Say whether a ruleset has a chain
 * @r:		Ruleset
 * @chain:	Chain
 *
 * Return: true if it has
 */
bool egress_has_chain(const struct ruleset *r, enum ruleset_chain chain)
{
	return ruleset_rule(r, chain, 0) != NULL;
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

static void match_protocol(struct nlmsghdr *nlh, uint8_t protocol)
{
	match_meta(nlh, NFT_META_L4PROTO, &protocol, sizeof(protocol));
}

/* IPv6 only: an IPv4 packet of protocol 58 is nobody's neighbour discovery. */
static void match_icmpv6(struct nlmsghdr *nlh, uint8_t type)
{
	match_family(nlh, AF_INET6);
	match_protocol(nlh, IPPROTO_ICMPV6);
	load_payload(nlh, NFT_PAYLOAD_TRANSPORT_HEADER, offsetof(struct icmp6_hdr, icmp6_type),
		     sizeof(type));
	match_value(nlh, NFT_CMP_EQ, &type, sizeof(type));
}

/* UDP's and TCP's ports are at the same place. */
static void match_ports(struct nlmsghdr *nlh, uint16_t first, uint16_t last)
{
	const uint16_t low = htons(first), high = htons(last);

	load_payload(nlh, NFT_PAYLOAD_TRANSPORT_HEADER, offsetof(struct udphdr, dest), sizeof(low));
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

static void match_set(struct nlmsghdr *nlh, const struct ruleset_set *set, bool source)
{
	int family = set->ip.family;
	struct expr x;

	load_payload(nlh, NFT_PAYLOAD_NETWORK_HEADER, address_offset(family, source),
		     ip_family_bytes(family));
	x = expr_start(nlh, "lookup");
	mnl_attr_put_strz(nlh, NFTA_LOOKUP_SET, set->name);
	put_u32(nlh, NFTA_LOOKUP_SREG, REG);
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
 * egress_comment() - The user data that makes a comment of a rule or a table, in nft's form
 * @text:	Comment of less than RULESET_NAME_MAX bytes
 * @buf:	Filled: type, length, text with its end
 *
 * Return: bytes of @buf that are used
 */
size_t egress_comment(const char *text, uint8_t buf[2 + RULESET_NAME_MAX])
{
	size_t bytes = strlen(text) + 1;

	assert(bytes <= RULESET_NAME_MAX);
	buf[0] = NFTNL_UDATA_RULE_COMMENT;
	buf[1] = (uint8_t)bytes;
	memcpy(buf + 2, text, bytes);
	return 2 + bytes;
}

static void put_comment(struct nlmsghdr *nlh, uint16_t attribute, const char *text)
{
	uint8_t buf[2 + RULESET_NAME_MAX];
	size_t bytes = egress_comment(text, buf);

	mnl_attr_put(nlh, attribute, bytes, buf);
}
_Static_assert((int)NFTNL_UDATA_RULE_COMMENT == (int)NFTNL_UDATA_TABLE_COMMENT,
	       "one form for both");

static struct nlmsghdr *add_table(struct nft_batch *b, const char *what, uint16_t type,
				  uint16_t flags)
{
	struct nlmsghdr *nlh = nft_batch_add(b, what, type, flags);

	mnl_attr_put_strz(nlh, NFTA_TABLE_NAME, EGRESS_TABLE);
	return nlh;
}

static void add_new_table(struct nft_batch *b, const struct ruleset *r, uint16_t flags)
{
	struct nlmsghdr *nlh =
		add_table(b, "add table", NFT_MSG_NEWTABLE, (uint16_t)(NLM_F_CREATE | flags));

	if (!r->forwards)
		put_comment(nlh, NFTA_TABLE_USERDATA, EGRESS_FOR_AGENTS);
}

static void add_chain(struct nft_batch *b, enum ruleset_chain chain)
{
	struct nlmsghdr *nlh = nft_batch_add(b, "add chain", NFT_MSG_NEWCHAIN, NLM_F_CREATE);
	const struct egress_base *base = egress_base(chain);
	struct nlattr *nest;

	mnl_attr_put_strz(nlh, NFTA_CHAIN_TABLE, EGRESS_TABLE);
	mnl_attr_put_strz(nlh, NFTA_CHAIN_NAME, ruleset_chain_name(chain));
	if (base->type == NULL)
		return;
	mnl_attr_put_strz(nlh, NFTA_CHAIN_TYPE, base->type);
	put_u32(nlh, NFTA_CHAIN_POLICY, base->policy);
	nest = mnl_attr_nest_start(nlh, NFTA_CHAIN_HOOK);
	put_u32(nlh, NFTA_HOOK_HOOKNUM, base->hook);
	put_u32(nlh, NFTA_HOOK_PRIORITY, (uint32_t)base->priority);
	mnl_attr_nest_end(nlh, nest);
}

static void add_rule(struct nft_batch *b, const struct ruleset *r, const struct ruleset_rule *rule)
{
	struct nlmsghdr *nlh =
		nft_batch_add(b, rule->name, NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
	struct nlattr *list;

	mnl_attr_put_strz(nlh, NFTA_RULE_TABLE, EGRESS_TABLE);
	mnl_attr_put_strz(nlh, NFTA_RULE_CHAIN, ruleset_chain_name(rule->chain));
	list = mnl_attr_nest_start(nlh, NFTA_RULE_EXPRESSIONS);
	put_match(nlh, r, rule);
	put_counter(nlh);
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
		put_refusal(nlh);
		break;
	case RULESET_MASQUERADE:
		expr_end(nlh, expr_start(nlh, "masq"));
		break;
	}
	mnl_attr_nest_end(nlh, list);
	put_comment(nlh, NFTA_RULE_USERDATA, rule->name);
}

static void add_set(struct nft_batch *b, const struct ruleset_set *set, uint32_t id)
{
	struct nlmsghdr *nlh = nft_batch_add(b, "add set", NFT_MSG_NEWSET, NLM_F_CREATE);
	int family = set->ip.family;

	mnl_attr_put_strz(nlh, NFTA_SET_TABLE, EGRESS_TABLE);
	mnl_attr_put_strz(nlh, NFTA_SET_NAME, set->name);
	put_u32(nlh, NFTA_SET_ID, id);
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
static size_t add_some(struct nft_batch *b, const struct ruleset_set *set, size_t i)
{
	struct nlmsghdr *nlh =
		nft_batch_add(b, "add addresses to a set", NFT_MSG_NEWSETELEM, NLM_F_CREATE);
	struct egress_bound bounds[2];
	struct nlattr *list;
	size_t end = i + RANGES_PER_MSG;

	mnl_attr_put_strz(nlh, NFTA_SET_ELEM_LIST_TABLE, EGRESS_TABLE);
	mnl_attr_put_strz(nlh, NFTA_SET_ELEM_LIST_SET, set->name);
	list = mnl_attr_nest_start(nlh, NFTA_SET_ELEM_LIST_ELEMENTS);
	for (; i < set->ip.n && i < end; i++) {
		size_t n = egress_bounds(&set->ip, i, bounds);

		for (size_t k = 0; k < n; k++)
			put_bound(nlh, set->ip.family, &bounds[k]);
	}
	mnl_attr_nest_end(nlh, list);
	return i;
}

/**
 * struct writer - messages on their way to the kernel
 * @b:		Transaction that is being built
 * @limit:	Bytes from which on it is committed, and another one begun; 0: never
 */
struct writer {
	struct nft_batch *b;
	size_t limit;
};

static void writer_done(struct writer *w)
{
	w->b = nft_batch_free(w->b);
}

/* After a message, where a transaction may end. */
static int pause_here(struct writer *w, struct err *e)
{
	if (w->limit == 0 || nft_batch_bytes(w->b) < w->limit)
		return 0;
	if (nft_batch_commit(w->b, e) < 0)
		return -1;
	w->b = nft_batch_free(w->b);
	w->b = nft_batch_new(e);
	return w->b == NULL ? -1 : 0;
}

static int add_elements(struct writer *w, const struct ruleset_set *set, struct err *e)
{
	for (size_t i = 0; i < set->ip.n;) {
		i = add_some(w->b, set, i);
		if (pause_here(w, e) < 0)
			return -1;
	}
	return 0;
}

static int add_rules(struct writer *w, const struct ruleset *r, enum ruleset_chain chain,
		     struct err *e)
{
	for (size_t i = 0; i < r->n_rules; i++) {
		if (r->rules[i].chain != chain)
			continue;
		add_rule(w->b, r, &r->rules[i]);
		if (pause_here(w, e) < 0)
			return -1;
	}
	return 0;
}

/*
 * From the inside out: a jump needs its target, and as long as the chains that the kernel asks
 * have no rules they drop everything.
 */
static int add_all(struct writer *w, const struct ruleset *r, struct err *e)
{
	for (enum ruleset_chain c = RULESET_CHAINS; c-- > 0;)
		if (egress_has_chain(r, c))
			add_chain(w->b, c);
	for (size_t i = 0; i < r->n_sets; i++) {
		add_set(w->b, &r->sets[i], (uint32_t)i + 1);
		if (add_elements(w, &r->sets[i], e) < 0)
			return -1;
	}
	for (enum ruleset_chain c = RULESET_CHAINS; c-- > 0;)
		if (add_rules(w, r, c, e) < 0)
			return -1;
	return nft_batch_commit(w->b, e);
}

/* What is deleted is only given up after an RCU grace period, and close(2) waits for that. */
static int commit_new(const struct ruleset *r, size_t limit, struct err *e)
{
	CLEANUP(writer_done) struct writer w = { .b = nft_batch_new(e), .limit = limit };

	if (w.b == NULL)
		return -1;
	add_new_table(w.b, r, NLM_F_EXCL);
	return add_all(&w, r, e);
}

static int commit_again(const struct ruleset *r, size_t limit, struct err *e)
{
	CLEANUP(writer_done) struct writer w = { .b = nft_batch_new(e), .limit = limit };

	if (w.b == NULL)
		return -1;
	/* Deleting what is not there is an error, adding what is there is none. */
	(void)add_table(w.b, "add table", NFT_MSG_NEWTABLE, NLM_F_CREATE);
	(void)add_table(w.b, "delete table", NFT_MSG_DELTABLE, 0);
	add_new_table(w.b, r, 0);
	return add_all(&w, r, e);
}

static int commit(const struct ruleset *r, size_t limit, struct err *e)
{
	if (commit_new(r, limit, e) == 0)
		return 0;
	return e->code == EEXIST ? commit_again(r, limit, e) : -1;
}

/**
 * egress_commit() - Give the current network namespace its rules
 * @r:		Ruleset
 * @e:		Set on failure: what of it the kernel refused, why, and what to do
 *
 * In one transaction: after a failure the namespace is as it was before.  A long list of
 * addresses may not fit into the send buffer of a user (net.core.wmem_max).  Then there are
 * several, and until the last one nothing gets out, also after a failure.
 *
 * Rules of other tables stay as they are and can only refuse more.
 *
 * Return: 0 on success, -1 on failure
 */
int egress_commit(const struct ruleset *r, struct err *e)
{
	if (commit(r, 0, e) == 0)
		return 0;
	return e->code == EMSGSIZE ? commit(r, PART_BYTES, e) : -1;
}

/* Without elements: all of them. */
static void flush_set(struct nft_batch *b, const struct ruleset_set *set)
{
	struct nlmsghdr *nlh = nft_batch_add(b, "empty a set", NFT_MSG_DELSETELEM, 0);

	mnl_attr_put_strz(nlh, NFTA_SET_ELEM_LIST_TABLE, EGRESS_TABLE);
	mnl_attr_put_strz(nlh, NFTA_SET_ELEM_LIST_SET, set->name);
}

/* Without a handle: all of its rules. */
static void flush_chain(struct nft_batch *b, enum ruleset_chain chain)
{
	struct nlmsghdr *nlh = nft_batch_add(b, "empty a chain", NFT_MSG_DELRULE, 0);

	mnl_attr_put_strz(nlh, NFTA_RULE_TABLE, EGRESS_TABLE);
	mnl_attr_put_strz(nlh, NFTA_RULE_CHAIN, ruleset_chain_name(chain));
}

/**
 * egress_finish() - Complete the rules of a network that came late
 * @r:		What ruleset_compile_late() made
 * @e:		Set on failure: the rules are then as they were
 *
 * In the current network namespace, whose rules are unfinished; in one transaction.
 *
 * Return: 0 on success, -1 on failure
 */
int egress_finish(const struct ruleset *r, struct err *e)
{
	CLEANUP(writer_done) struct writer w = { .b = nft_batch_new(e) };

	if (w.b == NULL)
		return -1;
	for (size_t i = 0; i < r->n_sets; i++) {
		flush_set(w.b, &r->sets[i]);
		if (add_elements(&w, &r->sets[i], e) < 0)
			return -1;
	}
	flush_chain(w.b, RULESET_UNFINISHED);
	if (add_rules(&w, r, RULESET_UNFINISHED, e) < 0)
		return -1;
	return nft_batch_commit(w.b, e);
}
