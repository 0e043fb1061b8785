/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What a container may reach, as data
 *
 * Everything public and nothing internal, but for what the policy allows.  Rules and sets are
 * tables here, so that what is printed and what the kernel gets cannot differ.  Nothing in this
 * file acts: egress_commit() does.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "cleanup.h"
#include "err.h"
#include "ruleset.h"

/**
 * struct denied - a prefix that is internal, or never a public destination
 * @prefix:	As text
 * @why:	What lives there, and who says so
 */
struct denied {
	const char *prefix;
	const char *why;
};

static const struct denied denied4[] = {
	{ "0.0.0.0/8",
	  "this host on this network, RFC 1122 3.2.1.3; Linux sends 0.0.0.0 to itself" },
	{ "10.0.0.0/8", "private, RFC 1918" },
	{ "100.64.0.0/10", "shared by carriers and VPNs, RFC 6598" },
	{ "127.0.0.0/8", "loopback that leaves by another interface (route_localnet), RFC 1122" },
	{ "169.254.0.0/16", "link-local, RFC 3927; clouds hand out credentials there" },
	{ "172.16.0.0/12", "private, RFC 1918" },
	{ "192.0.0.0/24",
	  "protocol assignments, RFC 6890; some clouds hand out credentials there" },
	{ "192.168.0.0/16", "private, RFC 1918" },
	{ "198.18.0.0/15", "benchmarks, RFC 2544; used like private addresses" },
	{ "224.0.0.0/4", "multicast, RFC 5771" },
	{ "240.0.0.0/4", "reserved, RFC 1112 4; broadcast, RFC 919" },
};

/*
 * Those that carry an IPv4 address are whole where it is not at a fixed place, or where such a
 * packet never belongs on the wire.
 */
static const struct denied denied6[] = {
	{ "::/96", "IPv4-compatible, deprecated, RFC 4291 2.5.5.1; unspecified and loopback" },
	{ "::ffff:0:0/96", "IPv4-mapped, for sockets and never on the wire, RFC 4291 2.5.5.2" },
	{ "64:ff9b:1::/48", "local NAT64 with prefixes of any length, RFC 8215" },
	{ "2001::/32", "Teredo, servers' addresses and clients' in disguise, RFC 4380 4" },
	{ "fc00::/7", "unique local, RFC 4193" },
	{ "fe80::/10", "link-local, RFC 4291 2.5.6" },
	{ "fec0::/10", "site-local, deprecated, RFC 3879" },
	{ "ff00::/8", "multicast, RFC 4291 2.7" },
};

/* IPv6 prefixes directly followed by an IPv4 address: denied where that address is. */
static const struct denied carriers[] = {
	{ "64:ff9b::/96", "NAT64's well-known prefix, RFC 6052 2.1" },
	{ "2002::/16", "6to4, RFC 3056 2" },
};

#define N_DENIED (N_ELEMENTS(denied6) + N_ELEMENTS(denied4) * (1 + N_ELEMENTS(carriers)))

/* In the order in which the kernel asks. */
static const struct ruleset_rule rules[] = {
	{ "loopback", RULESET_ACCEPT, RULESET_MATCH_LOOPBACK },
	{ "established and related", RULESET_ACCEPT, RULESET_MATCH_CONNECTION },
	/* Neighbour discovery, RFC 4861: without it there is no IPv6 at all. */
	{ "ICMPv6 router solicitation", RULESET_ACCEPT, RULESET_MATCH_ICMPV6, 133 },
	{ "ICMPv6 neighbour solicitation", RULESET_ACCEPT, RULESET_MATCH_ICMPV6, 135 },
	{ "ICMPv6 neighbour advertisement", RULESET_ACCEPT, RULESET_MATCH_ICMPV6, 136 },
	/* RFC 3810: bridges that snoop deliver solicitations only to who has reported its group. */
	{ "ICMPv6 multicast listener report", RULESET_ACCEPT, RULESET_MATCH_ICMPV6, 143 },
	{ "resolver, UDP port 53", RULESET_ACCEPT, RULESET_MATCH_DNS, IPPROTO_UDP,
	  RULESET_RESOLVE4 },
	{ "resolver, TCP port 53", RULESET_ACCEPT, RULESET_MATCH_DNS, IPPROTO_TCP,
	  RULESET_RESOLVE4 },
	{ "resolver, UDP port 53", RULESET_ACCEPT, RULESET_MATCH_DNS, IPPROTO_UDP,
	  RULESET_RESOLVE6 },
	{ "resolver, TCP port 53", RULESET_ACCEPT, RULESET_MATCH_DNS, IPPROTO_TCP,
	  RULESET_RESOLVE6 },
	{ "allow-ip", RULESET_ACCEPT, RULESET_MATCH_SET, 0, RULESET_ALLOW4 },
	{ "allow-ip", RULESET_ACCEPT, RULESET_MATCH_SET, 0, RULESET_ALLOW6 },
	{ "internal", RULESET_REFUSE, RULESET_MATCH_SET, 0, RULESET_DENY4 },
	{ "internal", RULESET_REFUSE, RULESET_MATCH_SET, 0, RULESET_DENY6 },
	{ "everything else", RULESET_ACCEPT, RULESET_MATCH_ALL },
};

static const struct {
	const char *name;
	int family;
} sets[RULESET_SETS] = {
	[RULESET_RESOLVE4] = { "resolve4", AF_INET }, [RULESET_RESOLVE6] = { "resolve6", AF_INET6 },
	[RULESET_ALLOW4] = { "allow4", AF_INET },     [RULESET_ALLOW6] = { "allow6", AF_INET6 },
	[RULESET_DENY4] = { "deny4", AF_INET },       [RULESET_DENY6] = { "deny6", AF_INET6 },
};

/**
 * ruleset_rule() - A rule of chain "egress"
 * @i:		Its place, from 0, in the order in which the kernel asks
 *
 * Return: the rule, NULL after the last one
 */
const struct ruleset_rule *ruleset_rule(size_t i)
{
	return i < N_ELEMENTS(rules) ? &rules[i] : NULL;
}

/**
 * ruleset_set_name() - What the kernel calls a set
 * @set:	Set
 *
 * Return: a static string
 */
const char *ruleset_set_name(enum ruleset_set set)
{
	return sets[set].name;
}

/**
 * ruleset_set_family() - What a set holds
 * @set:	Set
 *
 * Return: AF_INET or AF_INET6
 */
int ruleset_set_family(enum ruleset_set set)
{
	return sets[set].family;
}

/* A table that does not parse must not become a ruleset with a hole. */
static struct ip_prefix from_table(const struct denied *d)
{
	struct ip_prefix p = { 0 };
	struct err e = { 0 };
	int bad = ip_prefix_parse(d->prefix, &p, &e);

	assert(bad == 0);
	return p;
}

/* 64:ff9b::/96 and 10.0.0.0/8 make 64:ff9b::a00:0/104. */
static struct ip_prefix carry(const struct ip_prefix *carrier, const struct ip_prefix *p)
{
	struct ip_prefix in = *carrier;

	memcpy(in.addr + carrier->len / 8, p->addr, 4);
	in.len = carrier->len + p->len;
	return in;
}

static void list_denied(struct ip_prefix *v)
{
	size_t n = 0;

	for (size_t i = 0; i < N_ELEMENTS(denied6); i++)
		v[n++] = from_table(&denied6[i]);
	for (size_t i = 0; i < N_ELEMENTS(denied4); i++) {
		struct ip_prefix p = from_table(&denied4[i]);

		v[n++] = p;
		for (size_t c = 0; c < N_ELEMENTS(carriers); c++) {
			struct ip_prefix carrier = from_table(&carriers[c]);

			v[n++] = carry(&carrier, &p);
		}
	}
	assert(n == N_DENIED);
}

/**
 * ruleset_compile() - Make a ruleset of policy and resolvers
 * @in:		What is allowed beyond the public internet
 * @ret:	Filled on success, untouched on failure; ruleset_done() releases it
 * @e:		Set on failure: memory
 *
 * Return: 0 on success, -1 on failure
 */
int ruleset_compile(const struct ruleset_input *in, struct ruleset *ret, struct err *e)
{
	struct ip_prefix denied[N_DENIED];
	cleanup_ruleset struct ruleset r = { 0 };
	const struct {
		const struct ip_prefix *v;
		size_t n;
	} from[RULESET_SETS] = {
		[RULESET_RESOLVE4] = { in->resolvers, in->n_resolvers },
		[RULESET_RESOLVE6] = { in->resolvers, in->n_resolvers },
		[RULESET_ALLOW4] = { in->allow, in->n_allow },
		[RULESET_ALLOW6] = { in->allow, in->n_allow },
		[RULESET_DENY4] = { denied, N_DENIED },
		[RULESET_DENY6] = { denied, N_DENIED },
	};

	list_denied(denied);
	for (size_t i = 0; i < RULESET_SETS; i++)
		if (ip_set_build(sets[i].family, from[i].v, from[i].n, &r.sets[i], e) < 0)
			return err_wrap(e, "egress rules: set %s", sets[i].name);

	*ret = r;
	r = (struct ruleset){ 0 };
	return 0;
}

/**
 * ruleset_print() - Write a ruleset for people
 * @f:		Where to; borrowed
 * @r:		Ruleset
 *
 * One line for each rule, or for each range of the set that a rule asks, in the order in which
 * the kernel asks.  The first line that fits a packet decides.
 *
 * Return: 0 on success, -1 if @f has an error
 */
int ruleset_print(FILE *f, const struct ruleset *r)
{
	static const char *const verdicts[] = {
		[RULESET_ACCEPT] = "accept",
		[RULESET_REFUSE] = "refuse",
	};
	char buf[IP_RANGE_STRLEN];

	for (size_t i = 0; i < N_ELEMENTS(rules); i++) {
		const struct ruleset_rule *rule = &rules[i];
		const struct ip_set *set = &r->sets[rule->set];

		if (rule->match != RULESET_MATCH_SET && rule->match != RULESET_MATCH_DNS) {
			(void)fprintf(f, "%s %s\n", verdicts[rule->verdict], rule->name);
			continue;
		}
		for (size_t k = 0; k < set->n; k++)
			(void)fprintf(f, "%s %s: %s\n", verdicts[rule->verdict], rule->name,
				      ip_range_format(set->family, &set->v[k], buf));
	}
	return ferror(f) != 0 ? -1 : 0;
}

/**
 * ruleset_done() - Release a ruleset
 * @r:		Ruleset, empty afterwards
 */
void ruleset_done(struct ruleset *r)
{
	for (size_t i = 0; i < RULESET_SETS; i++)
		ip_set_done(&r->sets[i]);
}
