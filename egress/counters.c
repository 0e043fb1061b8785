/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What the kernel counts
 *
 * Reads, and changes nothing.  What it reads is what is there, whoever made it: nothing of it has
 * to be as the hook planned it.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <libnftnl/expr.h>
#include <libnftnl/rule.h>
#include <libnftnl/set.h>
#include <libnftnl/udata.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include "ask.h"
#include "batch.h"
#include "counters.h"
#include "err.h"
#include "nft.h"

/* More than that is not ours: SERVICES_MAX allows some 4,000 rules. */
#define RULES_MAX 10000

/**
 * struct reading - counters while they are read
 * @asker:	What is asked with
 * @c:		What is known by now
 * @family:	Of the set that is asked for
 * @in_set:	Elements of it so far
 */
struct reading {
	struct nft_asker asker;
	struct counters c;
	int family;
	size_t in_set;
};

static void reading_done(struct reading *r)
{
	nft_asker_done(&r->asker);
	counters_done(&r->c);
}

static void rule_p(struct nftnl_rule **r)
{
	if (*r != NULL)
		nftnl_rule_free(*r);
}

static void expr_iter_p(struct nftnl_expr_iter **i)
{
	if (*i != NULL)
		nftnl_expr_iter_destroy(*i);
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

/**
 * counters_verdict() - What a rule does, in a word
 * @verdict:	Verdict
 *
 * Return: a static string
 */
const char *counters_verdict(enum ruleset_verdict verdict)
{
	static const char *const words[] = {
		[RULESET_ACCEPT] = "accept",
		[RULESET_REFUSE] = "refuse",
		[RULESET_REJECT] = "reject",
		[RULESET_RECORD] = "record",
		[RULESET_DROP] = "drop",
		[RULESET_JUMP] = "jump",
		[RULESET_MASQUERADE] = "masquerade",
	};

	return words[verdict];
}

static int no_room(struct reading *r)
{
	r->asker.wrong = true;
	(void)err_set(r->asker.e, ENOMEM, "table inet " EGRESS_TABLE ": allocate counters");
	return MNL_CB_ERROR;
}

/* ---- rules ---- */

static void copy(char to[COUNTER_NAME_MAX], const char *from)
{
	(void)snprintf(to, COUNTER_NAME_MAX, "%s", from != NULL ? from : "");
}

static int see_udata(const struct nftnl_udata *attr, void *data)
{
	if (nftnl_udata_type(attr) == NFTNL_UDATA_RULE_COMMENT)
		(void)snprintf(data, COUNTER_NAME_MAX, "%.*s", (int)nftnl_udata_len(attr),
			       (const char *)nftnl_udata_get(attr));
	return 0;
}

static enum ruleset_verdict read_immediate(const struct nftnl_expr *x,
					   enum ruleset_verdict otherwise)
{
	if (!nftnl_expr_is_set(x, NFTNL_EXPR_IMM_VERDICT))
		return otherwise; /* a value */
	switch ((int)nftnl_expr_get_u32(x, NFTNL_EXPR_IMM_VERDICT)) {
	case NF_ACCEPT:
		return RULESET_ACCEPT;
	case NF_DROP:
		return RULESET_DROP;
	case NFT_GOTO:
		return RULESET_REFUSE;
	default:
		return RULESET_JUMP;
	}
}

static int see_expr(struct nftnl_expr *x, struct counter_rule *rule)
{
	const char *name = nftnl_expr_get_str(x, NFTNL_EXPR_NAME);

	if (strcmp(name, "counter") == 0) {
		rule->packets = nftnl_expr_get_u64(x, NFTNL_EXPR_CTR_PACKETS);
		rule->bytes = nftnl_expr_get_u64(x, NFTNL_EXPR_CTR_BYTES);
	} else if (strcmp(name, "lookup") == 0) {
		copy(rule->set, nftnl_expr_get_str(x, NFTNL_EXPR_LOOKUP_SET));
	} else if (strcmp(name, "immediate") == 0) {
		rule->verdict = read_immediate(x, rule->verdict);
	} else if (strcmp(name, "reject") == 0) {
		rule->verdict = RULESET_REJECT;
	} else if (strcmp(name, "dynset") == 0) {
		rule->verdict = RULESET_RECORD;
	} else if (strcmp(name, "masq") == 0) {
		rule->verdict = RULESET_MASQUERADE;
	}
	return 0;
}

static struct counter_rule *add_rule(struct counters *c)
{
	struct counter_rule *v = c->rules;

	if ((c->n_rules & (c->n_rules - 1)) == 0) {
		v = reallocarray(v, c->n_rules == 0 ? 1 : 2 * c->n_rules, sizeof(*v));
		if (v == NULL || c->n_rules > RULES_MAX)
			return NULL;
		c->rules = v;
	}
	v = &c->rules[c->n_rules++];
	*v = (struct counter_rule){ .verdict = RULESET_JUMP };
	return v;
}

static int see_rule(const struct nlmsghdr *nlh, void *data)
{
	struct reading *r = data;
	CLEANUP(rule_p) struct nftnl_rule *rule = nftnl_rule_alloc();
	CLEANUP(expr_iter_p) struct nftnl_expr_iter *iter = NULL;
	struct counter_rule *ret;
	struct nftnl_expr *x;
	const void *udata;
	uint32_t bytes = 0;

	if (rule == NULL || nftnl_rule_nlmsg_parse(nlh, rule) < 0)
		return MNL_CB_ERROR;
	ret = add_rule(&r->c);
	if (ret == NULL)
		return no_room(r);
	copy(ret->chain, nftnl_rule_get_str(rule, NFTNL_RULE_CHAIN));
	udata = nftnl_rule_get_data(rule, NFTNL_RULE_USERDATA, &bytes);
	if (udata != NULL)
		(void)nftnl_udata_parse(udata, bytes, see_udata, ret->name);
	iter = nftnl_expr_iter_create(rule);
	while (iter != NULL && (x = nftnl_expr_iter_next(iter)) != NULL)
		(void)see_expr(x, ret);
	return MNL_CB_OK;
}

/* ---- refusals ---- */

static struct counter_refusal *add_refusal(struct counters *c)
{
	struct counter_refusal *v = c->refusals;

	if ((c->n_refusals & (c->n_refusals - 1)) == 0) {
		v = reallocarray(v, c->n_refusals == 0 ? 1 : 2 * c->n_refusals, sizeof(*v));
		if (v == NULL)
			return NULL;
		c->refusals = v;
	}
	return &v[c->n_refusals++];
}

static uint64_t seconds_ago(const struct nftnl_set_elem *elem)
{
	uint64_t left =
		nftnl_set_elem_get_u64((struct nftnl_set_elem *)elem, NFTNL_SET_ELEM_EXPIRATION) /
		1000;

	return left < RULESET_REFUSED_SECONDS ? RULESET_REFUSED_SECONDS - left : 0;
}

/* Address, protocol, port, as egress_refused_key() has it */
static int see_element(struct reading *r, struct nftnl_set_elem *elem)
{
	const size_t addr = (size_t)ip_family_bytes(r->family);
	struct counter_refusal *ret;
	const struct nftnl_expr *counter;
	const uint8_t *key;
	uint32_t bytes = 0;

	key = nftnl_set_elem_get(elem, NFTNL_SET_ELEM_KEY, &bytes);
	if (key == NULL || bytes != addr + 8 || r->in_set++ > 2 * RULESET_REFUSED_MAX)
		return MNL_CB_OK; /* not ours */
	ret = add_refusal(&r->c);
	if (ret == NULL)
		return no_room(r);
	*ret = (struct counter_refusal){
		.family = r->family,
		.protocol = key[addr],
		.port = (uint16_t)(key[addr + 4] << 8 | key[addr + 5]),
		.seconds = seconds_ago(elem),
	};
	memcpy(ret->addr, key, addr);
	counter = nftnl_set_elem_get(elem, NFTNL_SET_ELEM_EXPR, &bytes);
	if (counter != NULL &&
	    strcmp(nftnl_expr_get_str(counter, NFTNL_EXPR_NAME), "counter") == 0) {
		ret->packets = nftnl_expr_get_u64(counter, NFTNL_EXPR_CTR_PACKETS);
		ret->bytes = nftnl_expr_get_u64(counter, NFTNL_EXPR_CTR_BYTES);
	}
	return MNL_CB_OK;
}

static int see_elements(const struct nlmsghdr *nlh, void *data)
{
	CLEANUP(set_p) struct nftnl_set *s = nftnl_set_alloc();
	CLEANUP(elems_iter_p) struct nftnl_set_elems_iter *iter = NULL;
	struct nftnl_set_elem *elem;

	if (s == NULL || nftnl_set_elems_nlmsg_parse(nlh, s) < 0)
		return MNL_CB_ERROR;
	iter = nftnl_set_elems_iter_create(s);
	if (iter == NULL)
		return MNL_CB_ERROR;
	while ((elem = nftnl_set_elems_iter_next(iter)) != NULL)
		if (see_element(data, elem) != MNL_CB_OK)
			return MNL_CB_ERROR;
	return MNL_CB_OK;
}

/* A container that an older hook prepared has no such sets. */
static int read_refused(struct reading *r, int family)
{
	static const struct nft_question elements = {
		"read refusals",          NFT_MSG_GETSETELEM,     NLM_F_DUMP,
		NFTA_SET_ELEM_LIST_TABLE, NFTA_SET_ELEM_LIST_SET, see_elements,
	};

	r->family = family;
	r->in_set = 0;
	if (nft_ask(&r->asker, &elements, ruleset_refused_set(family), r) < 0)
		return r->asker.e->code == ENOENT ? 0 : -1;
	if (r->in_set >= RULESET_REFUSED_MAX)
		r->c.full = true;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct counter_refusal *x = a, *y = b;
	int addr = memcmp(x->addr, y->addr, sizeof(x->addr));

	if (x->seconds != y->seconds)
		return x->seconds < y->seconds ? -1 : 1;
	if (x->packets != y->packets)
		return x->packets > y->packets ? -1 : 1;
	return addr != 0 ? addr : (x->port > y->port) - (x->port < y->port);
}

/**
 * counters_read() - Read what was counted in the current network namespace
 * @ret:	Filled on success, untouched on failure; counters_done() releases it
 * @e:		Set on failure; its code is ENOENT if there are no rules of ours
 *
 * Return: 0 on success, -1 on failure
 */
int counters_read(struct counters *ret, struct err *e)
{
	static const struct nft_question rules = {
		"read rules", NFT_MSG_GETRULE, NLM_F_DUMP, NFTA_RULE_TABLE, 0, see_rule,
	};
	CLEANUP(reading_done) struct reading r = { 0 };

	if (nft_asker_open(&r.asker, e) < 0 || nft_ask(&r.asker, &rules, NULL, &r) < 0)
		return -1;
	if (r.c.n_rules == 0)
		return err_set(e, ENOENT, "the network has no table inet " EGRESS_TABLE);
	if (read_refused(&r, AF_INET) < 0 || read_refused(&r, AF_INET6) < 0)
		return -1;
	if (r.c.n_refusals > 0)
		qsort(r.c.refusals, r.c.n_refusals, sizeof(*r.c.refusals), compare);
	*ret = r.c;
	r.c = (struct counters){ 0 };
	return 0;
}

/**
 * counters_done() - Release counters; they are empty afterwards
 * @c:		Counters
 */
void counters_done(struct counters *c)
{
	free(c->rules);
	free(c->refusals);
	*c = (struct counters){ 0 };
}
