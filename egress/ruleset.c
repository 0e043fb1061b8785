/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What a container may reach, as data
 *
 * Everything public and nothing internal, but for what the policy says.  The first rule that fits
 * a packet decides.  Nothing in this file acts: egress_commit() does.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "denied.h"
#include "err.h"
#include "ruleset.h"

#define PORT_DNS 53
#define PORT_DNS_TLS 853 /* RFC 7858, and over QUIC RFC 9250 */

/* A policy's allow-ip and deny-ip may name so many different services; each is a rule. */
#define SERVICES_MAX 1000

/* ---- building ---- */

static struct ruleset_rule *add_rule(struct ruleset *r, enum ruleset_chain chain,
				     enum ruleset_verdict verdict, struct err *e)
{
	struct ruleset_rule *v;

	/* doubles at each power of two */
	if ((r->n_rules & (r->n_rules - 1)) == 0) {
		v = reallocarray(r->rules, r->n_rules == 0 ? 1 : r->n_rules * 2, sizeof(*v));
		if (v == NULL) {
			(void)err_set(e, ENOMEM, "allocate rules");
			return NULL;
		}
		r->rules = v;
	}
	v = &r->rules[r->n_rules++];
	*v = (struct ruleset_rule){ .chain = chain, .verdict = verdict, .set = RULESET_NO_SET };
	return v;
}

__attribute__((format(printf, 2, 3))) static void name_rule(struct ruleset_rule *rule,
							    const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(rule->name, sizeof(rule->name), fmt, ap);
	va_end(ap);
	assert(n > 0 && (size_t)n < sizeof(rule->name));
}

static int add_plain(struct ruleset *r, enum ruleset_chain chain, enum ruleset_verdict verdict,
		     const char *name, struct err *e)
{
	struct ruleset_rule *rule = add_rule(r, chain, verdict, e);

	if (rule == NULL)
		return -1;
	name_rule(rule, "%s", name);
	return 0;
}

static int add_jump(struct ruleset *r, enum ruleset_chain chain, enum ruleset_chain target,
		    struct err *e)
{
	struct ruleset_rule *rule = add_rule(r, chain, RULESET_JUMP, e);

	if (rule == NULL)
		return -1;
	name_rule(rule, "chain %s", ruleset_chain_name(target));
	rule->target = target;
	return 0;
}

/**
 * struct list - prefixes of both families, and what of them
 * @v:		Prefixes
 * @n:		How many
 * @protocol:	IPPROTO_*, 0: all
 * @first:	First port, 0: all
 * @last:	Last port
 */
struct list {
	const struct ip_prefix *v;
	size_t n;
	uint8_t protocol;
	uint16_t first;
	uint16_t last;
};

/* The set of one family: NAME4, NAME6, NAME4-tcp, NAME4-tcp-443, NAME4-tcp-80-90 */
static int add_set(struct ruleset *r, const char *name, int family, const struct list *l,
		   struct err *e)
{
	struct ruleset_set *v = r->sets;
	char ports[sizeof("-65535-65535")] = "";

	if ((r->n_sets & (r->n_sets - 1)) == 0) {
		v = reallocarray(r->sets, r->n_sets == 0 ? 1 : r->n_sets * 2, sizeof(*v));
		if (v == NULL)
			return err_set(e, ENOMEM, "allocate sets");
		r->sets = v;
	}
	if (l->first != 0 && l->first == l->last)
		(void)snprintf(ports, sizeof(ports), "-%u", l->first);
	else if (l->first != 0)
		(void)snprintf(ports, sizeof(ports), "-%u-%u", l->first, l->last);
	v += r->n_sets;
	*v = (struct ruleset_set){ 0 };
	(void)snprintf(v->name, sizeof(v->name), "%s%d%s%s%s", name, family == AF_INET ? 4 : 6,
		       l->protocol != 0 ? "-" : "", ip_protocol_name(l->protocol), ports);
	if (ip_set_build(family, l->v, l->n, &v->ip, e) < 0)
		return err_wrap(e, "set %s", v->name);
	r->n_sets++;
	return 0;
}

static void name_service(struct ruleset_rule *rule, const char *name, const struct list *l)
{
	if (l->protocol == 0)
		name_rule(rule, "%s", name);
	else if (l->first == 0)
		name_rule(rule, "%s, %s", name, ip_protocol_name(l->protocol));
	else if (l->first == l->last)
		name_rule(rule, "%s, %s port %u", name, ip_protocol_name(l->protocol), l->first);
	else
		name_rule(rule, "%s, %s ports %u-%u", name, ip_protocol_name(l->protocol), l->first,
			  l->last);
}

/* A rule about the last set that was added. */
static int add_set_rule(struct ruleset *r, enum ruleset_chain chain, enum ruleset_verdict verdict,
			const char *name, const struct list *l, struct err *e)
{
	struct ruleset_rule *rule = add_rule(r, chain, verdict, e);

	if (rule == NULL)
		return -1;
	name_service(rule, name, l);
	rule->protocol = l->protocol;
	rule->first = l->first;
	rule->last = l->last;
	rule->set = r->n_sets - 1;
	return 0;
}

static const int families[] = { AF_INET, AF_INET6 };

/* Sets and rules for both families; @set begins their names, @name is for people. */
static int add_list(struct ruleset *r, enum ruleset_verdict verdict, const char *set,
		    const char *name, const struct list *l, struct err *e)
{
	for (size_t i = 0; i < N_ELEMENTS(families); i++)
		if (add_set(r, set, families[i], l, e) < 0 ||
		    add_set_rule(r, RULESET_DESTINATIONS, verdict, name, l, e) < 0)
			return -1;
	return 0;
}

static bool has_family(const struct list *l, int family)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].family == family)
			return true;
	return false;
}

/* ---- what is refused ---- */

static struct ip_prefix *alloc_denied(size_t n, struct err *e)
{
	struct ip_prefix *v = calloc(n + 1, DENIED_FORMS * sizeof(*v));

	if (v == NULL)
		(void)err_set(e, ENOMEM, "allocate %zu addresses", n);
	return v;
}

/* Refuses @v, and the IPv6 forms that carry what of it is IPv4. */
static int refuse_list(struct ruleset *r, const char *set, const char *name,
		       const struct ip_prefix *v, size_t n, struct err *e)
{
	cleanup_free struct ip_prefix *all = alloc_denied(n, e);
	struct list l = { .v = all };

	if (all == NULL)
		return -1;
	for (size_t i = 0; i < n; i++)
		l.n += denied_forms(&v[i], all + l.n);
	return add_list(r, RULESET_REFUSE, set, name, &l, e);
}

static int add_on_link(struct ruleset *r, enum ruleset_verdict verdict, const struct ip_prefix *v,
		       size_t n, struct err *e)
{
	const struct list l = { .v = v, .n = n };

	if (verdict == RULESET_REFUSE)
		return refuse_list(r, "on-link", "on-link", v, n, e);
	return add_list(r, verdict, "on-link", "on-link", &l, e);
}

static int refuse_gateways(struct ruleset *r, const struct ip_prefix *v, size_t n, struct err *e)
{
	return refuse_list(r, "gateway", "gateway", v, n, e);
}

static int refuse_host(struct ruleset *r, const struct ruleset_input *in, struct err *e)
{
	return refuse_list(r, "host", "the host's own", in->host, in->n_host, e);
}

static int refuse_internal(struct ruleset *r, struct err *e)
{
	struct ip_prefix v[DENIED_INTERNAL_MAX];

	return refuse_list(r, "internal", "internal", v, denied_internal(v), e);
}

/* ---- the policy's destinations: a rule and a set for each service ---- */

static int compare_services(const void *a, const void *b)
{
	const struct ip_destination *x = a, *y = b;

	if (x->protocol != y->protocol)
		return x->protocol < y->protocol ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return (x->last > y->last) - (x->last < y->last);
}

/* Those at the start of @v that are of one service.  Return: how many, 0 on failure */
static size_t add_service(struct ruleset *r, enum ruleset_verdict verdict, const char *name,
			  const struct ip_destination *v, size_t n, struct ip_prefix *room,
			  struct err *e)
{
	struct list l = { room, 0, v->protocol, v->first, v->last };
	size_t used = 0;

	for (; used < n && compare_services(v, &v[used]) == 0; used++)
		if (verdict == RULESET_REFUSE)
			l.n += denied_forms(&v[used].prefix, room + l.n);
		else
			room[l.n++] = v[used].prefix;
	for (size_t i = 0; i < N_ELEMENTS(families); i++)
		if (has_family(&l, families[i]) &&
		    (add_set(r, name, families[i], &l, e) < 0 ||
		     add_set_rule(r, RULESET_DESTINATIONS, verdict, name, &l, e) < 0))
			return 0;
	return used;
}

static int add_destinations(struct ruleset *r, enum ruleset_verdict verdict, const char *name,
			    const struct ip_destination *v, size_t n, struct err *e)
{
	cleanup_free struct ip_destination *sorted = calloc(n + 1, sizeof(*sorted));
	cleanup_free struct ip_prefix *room = alloc_denied(n, e);
	size_t services = 0;

	if (room == NULL)
		return -1;
	if (sorted == NULL)
		return err_set(e, ENOMEM, "allocate %zu addresses", n);
	if (n > 0)
		memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*sorted), compare_services);
	for (size_t i = 0; i < n;) {
		size_t used = add_service(r, verdict, name, &sorted[i], n - i, room, e);

		if (used == 0)
			return -1;
		i += used;
		if (++services > SERVICES_MAX)
			return err_set(e, 0,
				       "%s: more than %d different protocols and ports: join some "
				       "to ranges",
				       name, SERVICES_MAX);
	}
	return 0;
}

/* ---- the whole ---- */

static const struct {
	uint8_t type;
	const char *name;
} icmpv6[] = {
	{ 133, "ICMPv6 router solicitation" },
	{ 135, "ICMPv6 neighbour solicitation" },
	{ 136, "ICMPv6 neighbour advertisement" },
	/* RFC 3810: bridges that snoop deliver solicitations only to who has reported its group. */
	{ 143, "ICMPv6 multicast listener report" },
};

static int add_connection(struct ruleset *r, enum ruleset_chain chain, struct err *e)
{
	if (add_plain(r, chain, RULESET_ACCEPT, "established and related", e) < 0)
		return -1;
	r->rules[r->n_rules - 1].connection = true;
	return 0;
}

static int add_neighbours(struct ruleset *r, enum ruleset_chain chain, bool from_agent,
			  struct err *e)
{
	for (size_t i = 0; i < N_ELEMENTS(icmpv6); i++) {
		if (add_plain(r, chain, RULESET_ACCEPT, icmpv6[i].name, e) < 0)
			return -1;
		r->rules[r->n_rules - 1].icmpv6 = icmpv6[i].type;
		r->rules[r->n_rules - 1].from_agent = from_agent;
	}
	return 0;
}

/* The container's own services are on the other end of an agent's link: they stay out of reach. */
static int add_input(struct ruleset *r, struct err *e)
{
	if (add_connection(r, RULESET_INPUT, e) < 0 ||
	    add_neighbours(r, RULESET_INPUT, true, e) < 0 ||
	    add_plain(r, RULESET_INPUT, RULESET_REFUSE, "from an agent to the container", e) < 0)
		return -1;
	r->rules[r->n_rules - 1].from_agent = true;
	return 0;
}

/* What only the container itself may send: neighbour discovery, RFC 4861, is not forwarded. */
static int add_output(struct ruleset *r, struct err *e)
{
	if (add_connection(r, RULESET_OUTPUT, e) < 0 ||
	    add_plain(r, RULESET_OUTPUT, RULESET_ACCEPT, "loopback", e) < 0)
		return -1;
	r->rules[r->n_rules - 1].loopback = true;
	if (add_neighbours(r, RULESET_OUTPUT, false, e) < 0)
		return -1;
	return add_jump(r, RULESET_OUTPUT, RULESET_EGRESS, e);
}

static int add_agents_forward(struct ruleset *r, struct err *e)
{
	if (add_plain(r, RULESET_FORWARD, RULESET_REFUSE, "to an agent", e) < 0)
		return -1;
	r->rules[r->n_rules - 1].to_agent = true;
	if (add_jump(r, RULESET_FORWARD, RULESET_DESTINATIONS, e) < 0)
		return -1;
	r->rules[r->n_rules - 1].from_agent = true;
	return 0;
}

/* Forwarding is switched on for agents: what was not forwarded before is not, either. */
static int add_forward(struct ruleset *r, const struct ruleset_input *in, struct err *e)
{
	if (add_connection(r, RULESET_FORWARD, e) < 0 ||
	    (in->n_agents > 0 && add_agents_forward(r, e) < 0))
		return -1;
	if (!in->only_agents)
		return add_jump(r, RULESET_FORWARD, RULESET_EGRESS, e);
	if (in->forwards)
		return add_plain(r, RULESET_FORWARD, RULESET_ACCEPT, "what is no agent's", e);
	return add_plain(r, RULESET_FORWARD, RULESET_DROP, "what is no agent's", e);
}

static int add_postrouting(struct ruleset *r, const struct ruleset_input *in, struct err *e)
{
	const struct list agents = { .v = in->agents, .n = in->n_agents };

	for (size_t f = 0; f < N_ELEMENTS(families); f++) {
		if (add_set(r, "agent", families[f], &agents, e) < 0 ||
		    add_set_rule(r, RULESET_POSTROUTING, RULESET_MASQUERADE, "agents", &agents, e) <
			    0)
			return -1;
		r->rules[r->n_rules - 1].source = true;
	}
	return 0;
}

static int add_resolvers(struct ruleset *r, const struct ruleset_input *in, struct err *e)
{
	static const struct {
		uint8_t protocol;
		uint16_t port;
	} services[] = {
		{ IPPROTO_UDP, PORT_DNS },
		{ IPPROTO_TCP, PORT_DNS },
		{ IPPROTO_UDP, PORT_DNS_TLS },
		{ IPPROTO_TCP, PORT_DNS_TLS },
	};
	const struct list all = { .v = in->resolvers, .n = in->n_resolvers };

	for (size_t f = 0; f < N_ELEMENTS(families); f++) {
		if (add_set(r, "resolver", families[f], &all, e) < 0)
			return -1;
		for (size_t i = 0; i < N_ELEMENTS(services); i++) {
			const struct list l = { .protocol = services[i].protocol,
						.first = services[i].port,
						.last = services[i].port };

			if (add_set_rule(r, RULESET_EGRESS, RULESET_ACCEPT, "resolver", &l, e) < 0)
				return -1;
		}
	}
	return 0;
}

static int add_egress(struct ruleset *r, const struct ruleset_input *in, struct err *e)
{
	if (in->mode != RULESET_NONE && add_resolvers(r, in, e) < 0)
		return -1;
	return add_jump(r, RULESET_EGRESS, RULESET_DESTINATIONS, e);
}

/* Without an answer: clients try again, and by then the network may be there. */
static int add_unfinished(struct ruleset *r, struct err *e)
{
	if (add_jump(r, RULESET_DESTINATIONS, RULESET_UNFINISHED, e) < 0)
		return -1;
	return add_plain(r, RULESET_UNFINISHED, RULESET_DROP, "the network is not there yet", e);
}

/* Nobody is going to try again. */
static int add_never_finished(struct ruleset *r, struct err *e)
{
	return add_plain(r, RULESET_UNFINISHED, RULESET_REFUSE,
			 "the network was not there at poststart", e);
}

/* The networks that the container is part of, but for what leads out of them */
static int add_connected(struct ruleset *r, const struct ruleset_input *in, struct err *e)
{
	if (refuse_host(r, in, e) < 0 || refuse_gateways(r, in->gateway, in->n_gateway, e) < 0)
		return -1;
	return add_on_link(r, RULESET_ACCEPT, in->on_link, in->n_on_link, e);
}

/* What is public */
static int add_internet(struct ruleset *r, const struct ruleset_input *in, struct err *e)
{
	if ((in->connected && add_connected(r, in, e) < 0) || refuse_internal(r, e) < 0)
		return -1;
	if (!in->connected && (refuse_host(r, in, e) < 0 ||
			       add_on_link(r, RULESET_REFUSE, in->on_link, in->n_on_link, e) < 0))
		return -1;
	return in->unfinished ? add_unfinished(r, e) : 0;
}

static int add_destination_rules(struct ruleset *r, const struct ruleset_input *in, struct err *e)
{
	enum ruleset_verdict others = in->mode == RULESET_ALLOWLIST || in->mode == RULESET_NONE
					      ? RULESET_REFUSE
					      : RULESET_ACCEPT;

	if (in->mode != RULESET_NONE &&
	    (add_destinations(r, RULESET_ACCEPT, "allow-ip", in->allow, in->n_allow, e) < 0 ||
	     add_destinations(r, RULESET_REFUSE, "deny-ip", in->deny, in->n_deny, e) < 0))
		return -1;
	if (in->mode == RULESET_INTERNET && add_internet(r, in, e) < 0)
		return -1;
	return add_plain(r, RULESET_DESTINATIONS, others, "everything else", e);
}

static int add_record(struct ruleset *r, int family, uint8_t protocol, struct err *e)
{
	struct ruleset_rule *rule = add_rule(r, RULESET_REFUSED, RULESET_RECORD, e);

	if (rule == NULL)
		return -1;
	name_rule(rule, "record IPv%d, %s", family == AF_INET ? 4 : 6,
		  protocol != 0 ? ip_protocol_name(protocol) : "no port");
	rule->family = family;
	rule->protocol = protocol;
	rule->portless = protocol == 0;
	return 0;
}

/* What records may fail, so it is no condition of what rejects. */
static int add_refused(struct ruleset *r, struct err *e)
{
	static const uint8_t protocols[] = { IPPROTO_TCP, IPPROTO_UDP, 0 };

	for (size_t f = 0; f < N_ELEMENTS(families); f++)
		for (size_t i = 0; i < N_ELEMENTS(protocols); i++)
			if (add_record(r, families[f], protocols[i], e) < 0)
				return -1;
	return add_plain(r, RULESET_REFUSED, RULESET_REJECT, "refused", e);
}

/**
 * ruleset_rule() - A rule of a chain
 * @r:		Ruleset
 * @chain:	Chain
 * @i:		Its place, from 0, in the order in which the kernel asks
 *
 * Return: the rule, owned by @r, NULL after the last one
 */
const struct ruleset_rule *ruleset_rule(const struct ruleset *r, enum ruleset_chain chain, size_t i)
{
	for (size_t k = 0; k < r->n_rules; k++)
		if (r->rules[k].chain == chain && i-- == 0)
			return &r->rules[k];
	return NULL;
}

/**
 * ruleset_compile() - Make a ruleset of policy, resolvers and what is known of the networks
 * @in:		What it is made of
 * @ret:	Filled on success, untouched on failure; ruleset_done() releases it
 * @e:		Set on failure: memory, or more services than there can be rules
 *
 * Return: 0 on success, -1 on failure
 */
int ruleset_compile(const struct ruleset_input *in, struct ruleset *ret, struct err *e)
{
	cleanup_ruleset struct ruleset r = { .forwards = in->forwards };

	if ((in->n_agents > 0 && (add_input(&r, e) < 0 || add_postrouting(&r, in, e) < 0)) ||
	    (!in->only_agents && (add_output(&r, e) < 0 || add_egress(&r, in, e) < 0)) ||
	    add_forward(&r, in, e) < 0 || add_destination_rules(&r, in, e) < 0 ||
	    add_refused(&r, e) < 0)
		return err_wrap(e, "egress rules");

	*ret = r;
	r = (struct ruleset){ 0 };
	return 0;
}

/**
 * ruleset_compile_late() - Make that part of a ruleset which completes an unfinished one
 * @in:		What is known now
 * @ret:	Filled on success, untouched on failure: the sets that change, the rules that ask
 *		them, and what is to be in RULESET_UNFINISHED
 * @e:		Set on failure: memory
 *
 * Return: 0 on success, -1 on failure
 */
int ruleset_compile_late(const struct ruleset_late *in, struct ruleset *ret, struct err *e)
{
	cleanup_ruleset struct ruleset r = { 0 };

	const enum ruleset_verdict verdict = in->connected ? RULESET_ACCEPT : RULESET_REFUSE;

	if ((in->connected && refuse_gateways(&r, in->gateway, in->n_gateway, e) < 0) ||
	    add_on_link(&r, verdict, in->on_link, in->n_on_link, e) < 0 ||
	    (in->late && add_never_finished(&r, e) < 0))
		return err_wrap(e, "egress rules");

	*ret = r;
	r = (struct ruleset){ 0 };
	return 0;
}

/**
 * ruleset_done() - Release a ruleset
 * @r:		Ruleset, empty afterwards
 */
void ruleset_done(struct ruleset *r)
{
	for (size_t i = 0; i < r->n_sets; i++)
		ip_set_done(&r->sets[i].ip);
	free(r->sets);
	free(r->rules);
	*r = (struct ruleset){ 0 };
}
