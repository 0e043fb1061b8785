/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Is the table what was planned?
 *
 * Reads the table back through a socket of its own: chains with hook, priority and policy, the
 * rules' comments in their order, each element of each set, and of the sets of refusals, whose
 * elements come and go, what they are.
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <libnftnl/chain.h>
#include <libnftnl/common.h>
#include <libnftnl/rule.h>
#include <libnftnl/set.h>
#include <libnftnl/table.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter_ipv4.h>

#include "ask.h"
#include "cleanup.h"
#include "err.h"
#include "nft.h"
#include "ruleset.h"

/**
 * struct reader - one question to the kernel, and what came of it
 * @asker:	What it is asked with
 * @ruleset:	What was planned
 * @chain:	Chain whose rules are asked for
 * @name:	Name of the chain or set that is asked for
 * @seen:	Chains, rules or elements so far
 * @bounds:	Elements of a set, @planned of them fit
 * @planned:	Elements of the set as planned
 */
struct reader {
	struct nft_asker asker;
	const struct ruleset *ruleset;
	enum ruleset_chain chain;
	const char *name;
	size_t seen;
	struct egress_bound *bounds;
	size_t planned;
};

static void reader_done(struct reader *r)
{
	nft_asker_done(&r->asker);
}

static void table_p(struct nftnl_table **t)
{
	if (*t != NULL)
		nftnl_table_free(*t);
}

static void chain_p(struct nftnl_chain **c)
{
	if (*c != NULL)
		nftnl_chain_free(*c);
}

static void rule_p(struct nftnl_rule **r)
{
	if (*r != NULL)
		nftnl_rule_free(*r);
}

static void set_p(struct nftnl_set **s)
{
	if (*s != NULL)
		nftnl_set_free(*s);
}

static void elems_iter_p(struct nftnl_set_elems_iter **i)
{
	if (*i != NULL)
		nftnl_set_elems_iter_destroy(*i);
}

/* Ends the reading: what the kernel has is not what was planned. */
static int differs(struct reader *r, const char *what, const char *name)
{
	r->asker.wrong = true;
	(void)err_set(r->asker.e, 0, "table inet " EGRESS_TABLE ": %s `%s` is not as planned", what,
		      name);
	return MNL_CB_ERROR;
}

static int ask(struct reader *r, const struct nft_question *q)
{
	r->seen = 0;
	return nft_ask(&r->asker, q, r->name, r);
}

static bool is_for_agents(struct nftnl_table *t)
{
	uint8_t comment[2 + RULESET_NAME_MAX];
	uint32_t bytes = 0;
	const void *udata = nftnl_table_get_data(t, NFTNL_TABLE_USERDATA, &bytes);

	return udata != NULL && bytes == egress_comment(EGRESS_FOR_AGENTS, comment) &&
	       memcmp(udata, comment, bytes) == 0;
}

/* A dormant table is there and does nothing. */
static int see_table(const struct nlmsghdr *nlh, void *data)
{
	struct reader *r = data;
	CLEANUP(table_p) struct nftnl_table *t = nftnl_table_alloc();

	if (t == NULL || nftnl_table_nlmsg_parse(nlh, t) < 0)
		return MNL_CB_ERROR;
	if (nftnl_table_get_u32(t, NFTNL_TABLE_FLAGS) != 0)
		return differs(r, "flags of", EGRESS_TABLE);
	if (is_for_agents(t) == r->ruleset->forwards)
		return differs(r, "comment of", EGRESS_TABLE);
	r->seen++;
	return MNL_CB_OK;
}

static enum ruleset_chain find_chain(const struct ruleset *r, const char *name)
{
	for (enum ruleset_chain c = 0; c < RULESET_CHAINS; c++)
		if (egress_has_chain(r, c) && strcmp(ruleset_chain_name(c), name) == 0)
			return c;
	return RULESET_CHAINS;
}

static bool chain_is_planned(const struct ruleset *r, const struct nftnl_chain *c, const char *name)
{
	const enum ruleset_chain chain = find_chain(r, name);
	const char *type = nftnl_chain_get_str(c, NFTNL_CHAIN_TYPE);
	const struct egress_base *base;

	if (chain == RULESET_CHAINS)
		return false;
	base = egress_base(chain);
	if (base->type == NULL)
		return !nftnl_chain_is_set(c, NFTNL_CHAIN_HOOKNUM);
	return nftnl_chain_is_set(c, NFTNL_CHAIN_HOOKNUM) &&
	       nftnl_chain_get_u32(c, NFTNL_CHAIN_HOOKNUM) == base->hook &&
	       nftnl_chain_get_s32(c, NFTNL_CHAIN_PRIO) == base->priority &&
	       nftnl_chain_is_set(c, NFTNL_CHAIN_POLICY) &&
	       nftnl_chain_get_u32(c, NFTNL_CHAIN_POLICY) == base->policy && type != NULL &&
	       strcmp(type, base->type) == 0;
}

/* The kernel lists the chains of all tables. */
static int see_chain(const struct nlmsghdr *nlh, void *data)
{
	struct reader *r = data;
	CLEANUP(chain_p) struct nftnl_chain *c = nftnl_chain_alloc();
	const char *table;
	const char *name;

	if (c == NULL || nftnl_chain_nlmsg_parse(nlh, c) < 0)
		return MNL_CB_ERROR;
	table = nftnl_chain_get_str(c, NFTNL_CHAIN_TABLE);
	name = nftnl_chain_get_str(c, NFTNL_CHAIN_NAME);
	if (table == NULL || name == NULL || strcmp(table, EGRESS_TABLE) != 0)
		return MNL_CB_OK;
	if (!chain_is_planned(r->ruleset, c, name))
		return differs(r, "chain", name);
	r->seen++;
	return MNL_CB_OK;
}

static int see_rule(const struct nlmsghdr *nlh, void *data)
{
	struct reader *r = data;
	CLEANUP(rule_p) struct nftnl_rule *rule = nftnl_rule_alloc();
	const struct ruleset_rule *planned = ruleset_rule(r->ruleset, r->chain, r->seen);
	uint8_t comment[2 + RULESET_NAME_MAX];
	const void *udata;
	uint32_t bytes = 0;

	if (rule == NULL || nftnl_rule_nlmsg_parse(nlh, rule) < 0)
		return MNL_CB_ERROR;
	if (planned == NULL)
		return differs(r, "number of rules of chain", r->name);
	udata = nftnl_rule_get_data(rule, NFTNL_RULE_USERDATA, &bytes);
	if (udata == NULL || bytes != egress_comment(planned->name, comment) ||
	    memcmp(udata, comment, bytes) != 0)
		return differs(r, "rule", planned->name);
	r->seen++;
	return MNL_CB_OK;
}

static int see_element(struct reader *r, struct nftnl_set_elem *elem)
{
	struct egress_bound *bound = &r->bounds[r->seen];
	uint32_t bytes = 0;
	const void *key = nftnl_set_elem_get(elem, NFTNL_SET_ELEM_KEY, &bytes);

	if (key == NULL || bytes > sizeof(bound->addr) || r->seen == r->planned)
		return differs(r, "number of addresses in set", r->name);
	memcpy(bound->addr, key, bytes);
	if (nftnl_set_elem_is_set(elem, NFTNL_SET_ELEM_FLAGS))
		bound->flags = nftnl_set_elem_get_u32(elem, NFTNL_SET_ELEM_FLAGS);
	r->seen++;
	return MNL_CB_OK;
}

static int see_elements(const struct nlmsghdr *nlh, void *data)
{
	struct reader *r = data;
	CLEANUP(set_p) struct nftnl_set *s = nftnl_set_alloc();
	CLEANUP(elems_iter_p) struct nftnl_set_elems_iter *iter = NULL;
	struct nftnl_set_elem *elem;

	if (s == NULL || nftnl_set_elems_nlmsg_parse(nlh, s) < 0)
		return MNL_CB_ERROR;
	iter = nftnl_set_elems_iter_create(s);
	if (iter == NULL)
		return MNL_CB_ERROR;
	while ((elem = nftnl_set_elems_iter_next(iter)) != NULL)
		if (see_element(r, elem) != MNL_CB_OK)
			return MNL_CB_ERROR;
	return MNL_CB_OK;
}

static int verify_rules(struct reader *r, enum ruleset_chain chain)
{
	static const struct nft_question rules = {
		"read rules",    NFT_MSG_GETRULE, NLM_F_DUMP,
		NFTA_RULE_TABLE, NFTA_RULE_CHAIN, see_rule,
	};

	r->chain = chain;
	r->name = ruleset_chain_name(chain);
	if (ask(r, &rules) < 0)
		return -1;
	if (ruleset_rule(r->ruleset, chain, r->seen) != NULL)
		return differs(r, "number of rules of chain", r->name);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct egress_bound *x = a;
	const struct egress_bound *y = b;

	return memcmp(x->addr, y->addr, sizeof(x->addr));
}

/* The kernel's order is its own. */
static bool same_elements(const struct ip_set *set, struct egress_bound *v, size_t n)
{
	struct egress_bound planned[2];
	size_t at = 0;

	qsort(v, n, sizeof(*v), compare);
	for (size_t i = 0; i < set->n; i++) {
		size_t bounds = egress_bounds(set, i, planned);

		for (size_t k = 0; k < bounds; k++, at++)
			if (at == n || v[at].flags != planned[k].flags ||
			    compare(&v[at], &planned[k]) != 0)
				return false;
	}
	return at == n;
}

static int verify_set(struct reader *r, const struct ruleset_set *set)
{
	static const struct nft_question elements = {
		"read addresses of a set", NFT_MSG_GETSETELEM,     NLM_F_DUMP,
		NFTA_SET_ELEM_LIST_TABLE,  NFTA_SET_ELEM_LIST_SET, see_elements,
	};
	cleanup_free struct egress_bound *bounds = calloc(2 * set->ip.n + 1, sizeof(*bounds));

	if (bounds == NULL)
		return err_set(r->asker.e, ENOMEM, "allocate room for the addresses of set %s",
			       set->name);
	r->name = set->name;
	r->bounds = bounds;
	r->planned = 2 * set->ip.n;
	if (ask(r, &elements) < 0)
		return -1;
	return same_elements(&set->ip, bounds, r->seen) ? 0 : differs(r, "set", set->name);
}

static bool refused_is_planned(const struct nftnl_set *s, int family)
{
	uint32_t bytes, type = egress_refused_key(family, &bytes);

	return nftnl_set_get_u32(s, NFTNL_SET_FLAGS) == EGRESS_REFUSED_FLAGS &&
	       nftnl_set_get_u32(s, NFTNL_SET_KEY_TYPE) == type &&
	       nftnl_set_get_u32(s, NFTNL_SET_KEY_LEN) == bytes &&
	       nftnl_set_get_u32(s, NFTNL_SET_DESC_SIZE) == RULESET_REFUSED_MAX &&
	       nftnl_set_get_u64(s, NFTNL_SET_TIMEOUT) == RULESET_REFUSED_SECONDS * 1000ULL;
}

static int see_refused(const struct nlmsghdr *nlh, void *data)
{
	struct reader *r = data;
	CLEANUP(set_p) struct nftnl_set *s = nftnl_set_alloc();
	int family = strcmp(r->name, ruleset_refused_set(AF_INET)) == 0 ? AF_INET : AF_INET6;

	if (s == NULL || nftnl_set_nlmsg_parse(nlh, s) < 0)
		return MNL_CB_ERROR;
	return refused_is_planned(s, family) ? MNL_CB_OK : differs(r, "set", r->name);
}

static int verify_refused(struct reader *r)
{
	static const struct nft_question set = {
		"read a set of refusals", NFT_MSG_GETSET, NLM_F_ACK,
		NFTA_SET_TABLE,           NFTA_SET_NAME,  see_refused,
	};
	static const int families[] = { AF_INET, AF_INET6 };

	for (size_t i = 0; i < N_ELEMENTS(families); i++) {
		r->name = ruleset_refused_set(families[i]);
		if (ask(r, &set) < 0)
			return -1;
	}
	return 0;
}

static int verify_sets(struct reader *r)
{
	for (size_t i = 0; i < r->ruleset->n_sets; i++)
		if (verify_set(r, &r->ruleset->sets[i]) < 0)
			return -1;
	return 0;
}

static int verify_chains(struct reader *r)
{
	static const struct nft_question table = {
		"read table", NFT_MSG_GETTABLE, NLM_F_ACK, NFTA_TABLE_NAME, 0, see_table,
	};
	static const struct nft_question chains = {
		"read chains", NFT_MSG_GETCHAIN, NLM_F_DUMP, 0, 0, see_chain,
	};
	size_t planned = 0;

	if (ask(r, &table) < 0 || ask(r, &chains) < 0)
		return -1;
	for (enum ruleset_chain c = 0; c < RULESET_CHAINS; c++)
		planned += egress_has_chain(r->ruleset, c);
	if (r->seen != planned) /* the names of all were compared */
		return differs(r, "number of chains of", EGRESS_TABLE);
	for (enum ruleset_chain c = 0; c < RULESET_CHAINS; c++)
		if (egress_has_chain(r->ruleset, c) && verify_rules(r, c) < 0)
			return -1;
	return 0;
}

/**
 * egress_verify() - Compare the table of the current network namespace with a ruleset
 * @r:		Ruleset that egress_commit() was called with
 * @e:		Set on failure: what is missing or different
 *
 * Return: 0 if the kernel has what was planned, -1 if it does not or cannot tell
 */
int egress_verify(const struct ruleset *r, struct err *e)
{
	CLEANUP(reader_done) struct reader reader = { .ruleset = r };

	if (nft_asker_open(&reader.asker, e) < 0 || verify_chains(&reader) < 0 ||
	    verify_refused(&reader) < 0)
		return -1;
	return verify_sets(&reader);
}

static int see_any(const struct nlmsghdr *nlh, void *data)
{
	struct reader *r = data;

	(void)nlh;
	r->seen++;
	return MNL_CB_OK;
}

/**
 * egress_state() - Say what the current network namespace has of a ruleset
 * @ret:	Filled on success
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int egress_state(enum egress_state *ret, struct err *e)
{
	static const struct nft_question table = {
		"read table", NFT_MSG_GETTABLE, NLM_F_ACK, NFTA_TABLE_NAME, 0, see_any,
	};
	static const struct nft_question rules = {
		"read rules",    NFT_MSG_GETRULE, NLM_F_DUMP,
		NFTA_RULE_TABLE, NFTA_RULE_CHAIN, see_any,
	};
	CLEANUP(reader_done) struct reader reader = { 0 };

	if (nft_asker_open(&reader.asker, e) < 0)
		return -1;
	if (ask(&reader, &table) < 0) {
		*ret = EGRESS_NONE;
		return e->code == ENOENT ? 0 : -1;
	}
	reader.name = ruleset_chain_name(RULESET_UNFINISHED);
	if (ask(&reader, &rules) < 0)
		return -1;
	*ret = reader.seen > 0 ? EGRESS_UNFINISHED : EGRESS_FINISHED;
	return 0;
}

static int see_for_agents(const struct nlmsghdr *nlh, void *data)
{
	struct reader *r = data;
	CLEANUP(table_p) struct nftnl_table *t = nftnl_table_alloc();

	if (t == NULL || nftnl_table_nlmsg_parse(nlh, t) < 0)
		return MNL_CB_ERROR;
	r->seen += is_for_agents(t);
	return MNL_CB_OK;
}

/**
 * egress_forwards() - Say whether the current network namespace forwards for others than agents
 * @forwards:	That it forwards; false if it does so for the agents of a container before alone
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int egress_forwards(bool *forwards, struct err *e)
{
	static const struct nft_question table = {
		"read table", NFT_MSG_GETTABLE, NLM_F_ACK, NFTA_TABLE_NAME, 0, see_for_agents,
	};
	CLEANUP(reader_done) struct reader reader = { 0 };

	if (nft_asker_open(&reader.asker, e) < 0 || (ask(&reader, &table) < 0 && e->code != ENOENT))
		return -1;
	*forwards = *forwards && reader.seen == 0;
	return 0;
}

/**
 * egress_verify_finished() - Read back what egress_finish() did
 * @r:		Ruleset that it was called with
 * @e:		Set on failure: what is missing or different
 *
 * Return: 0 if the kernel has what was planned, -1 if it does not or cannot tell
 */
int egress_verify_finished(const struct ruleset *r, struct err *e)
{
	CLEANUP(reader_done) struct reader reader = { .ruleset = r };

	if (nft_asker_open(&reader.asker, e) < 0 || verify_sets(&reader) < 0)
		return -1;
	return verify_rules(&reader, RULESET_UNFINISHED);
}
