/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Which users' agents get a network namespace, and which addresses
 *
 * Pure.  An agent's namespace is connected with the container's by a pair of interfaces, whose
 * addresses must be no part of a network that the container knows.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent_nets.h"
#include "err.h"
#include "id_map.h"
#include "links.h"
#include "oci_config.h"
#include "policy.h"
#include "ruleset.h"

#define UID_OF_DEVCONTAINERS 1000

/* Four digits: the name of an interface has room for no more */
#define PAIRS_MAX 10000

#define PAIR_LEN4 31
#define PAIR_LEN6 127

/* What agents' IPv6 addresses are of: fd3c:9a61:b2d7::/48, by the recipe of RFC 4193 */
const struct ip_prefix agent_nets_subnet6 = {
	.family = AF_INET6,
	.len = 48,
	.addr = { 0xfd, 0x3c, 0x9a, 0x61, 0xb2, 0xd7 },
};

/* ---- users ---- */

static bool has_uid(const struct agent_nets *n, uid_t uid)
{
	for (size_t i = 0; i < n->n; i++)
		if (n->v[i].uid == uid)
			return true;
	return false;
}

static bool has(const char *map, uint32_t id)
{
	uint32_t outside;

	return id_map_outside(map, id, &outside);
}

/* The number in field @n of a line of passwd(5), which may have empty ones */
static bool passwd_number(const char *line, unsigned n, uint32_t *ret)
{
	for (; n > 0; n--) {
		line += strcspn(line, ":\n");
		if (*line != ':')
			return false;
		line++;
	}
	return *line >= '0' && *line <= '9' && sscanf(line, "%" SCNu32, ret) == 1;
}

/* The group of a user by passwd(5): the image's word, which is good for no more than a number */
static gid_t find_gid(const struct agent_nets_input *in, uid_t uid)
{
	const char *line = in->passwd != NULL ? in->passwd : "";
	uint32_t u, g;

	if (uid == in->config->uid)
		return in->config->gid;
	for (; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n')
		if (passwd_number(line, 2, &u) && u == uid && passwd_number(line, 3, &g) &&
		    has(in->gid_map, g))
			return g;
	return uid;
}

static int add_user(const struct agent_nets_input *in, struct agent_nets *n, uid_t uid,
		    struct err *e)
{
	struct agent_net *v;

	if (has_uid(n, uid))
		return 0;
	v = reallocarray(n->v, n->n + 1, sizeof(*v));
	if (v == NULL)
		return err_set(e, ENOMEM, "allocate agents' networks");
	n->v = v;
	v[n->n++] = (struct agent_net){ .uid = uid, .gid = find_gid(in, uid) };
	return 0;
}

static int add_users(const struct agent_nets_input *in, struct agent_nets *n, struct err *e)
{
	const struct policy_numbers *named = &in->policy->agent_uid;
	const uid_t defaults[] = { 0, in->config->uid, UID_OF_DEVCONTAINERS };

	for (size_t i = 0; i < named->n; i++) {
		if (!has(in->uid_map, named->v[i]))
			return err_set(e, 0,
				       "agent-uid: the container's user namespace does not have "
				       "uid %u",
				       named->v[i]);
		if (add_user(in, n, named->v[i], e) < 0)
			return -1;
	}
	for (size_t i = 0; named->n == 0 && i < N_ELEMENTS(defaults); i++)
		if (has(in->uid_map, defaults[i]) && add_user(in, n, defaults[i], e) < 0)
			return -1;
	return 0;
}

/* ---- addresses ---- */

static bool overlap(const struct ip_prefix *a, const struct ip_prefix *b)
{
	unsigned len = a->len < b->len ? a->len : b->len;
	unsigned whole = len / 8, bits = len % 8;

	return a->family == b->family && memcmp(a->addr, b->addr, whole) == 0 &&
	       (bits == 0 || (a->addr[whole] ^ b->addr[whole]) >> (8 - bits) == 0);
}

static bool overlaps_one_of(const struct links *l, const struct ip_prefix *p)
{
	for (size_t i = 0; i < l->n; i++)
		if (overlap(&l->v[i], p))
			return true;
	return false;
}

static bool is_taken(const struct networks *n, const struct ip_prefix *p)
{
	return overlaps_one_of(&n->taken, p) || overlaps_one_of(&n->agents, p);
}

/* Pair number @i: the container's end, the agent's, and both as a network */
static struct ip_prefix pair(int family, const uint8_t *subnet, unsigned i, bool agent)
{
	struct ip_prefix p = { .family = family };
	size_t bytes = family == AF_INET ? 4 : 16;
	uint32_t low;

	p.len = family == AF_INET ? PAIR_LEN4 : PAIR_LEN6;
	memcpy(p.addr, subnet, bytes);
	low = (uint32_t)p.addr[bytes - 4] << 24 | (uint32_t)p.addr[bytes - 3] << 16 |
	      (uint32_t)p.addr[bytes - 2] << 8 | p.addr[bytes - 1];
	low += 2 * i + agent;
	for (size_t k = 0; k < 4; k++)
		p.addr[bytes - 1 - k] = (uint8_t)(low >> (8 * k));
	return p;
}

static void take_pair(struct agent_net *n, const uint8_t *subnet4, unsigned i)
{
	(void)snprintf(n->link, sizeof(n->link), RULESET_AGENT_LINK "%u", i % PAIRS_MAX);
	n->container.v4 = pair(AF_INET, subnet4, i, false);
	n->container.v6 = pair(AF_INET6, agent_nets_subnet6.addr, i, false);
	n->agent.v4 = pair(AF_INET, subnet4, i, true);
	n->agent.v6 = pair(AF_INET6, agent_nets_subnet6.addr, i, true);
}

/* One pair after the other, from the first that is free; false if there are not enough. */
static bool add_pairs(const struct networks *known, const struct ip_prefix *subnet,
		      struct agent_nets *n)
{
	unsigned max = 1U << (PAIR_LEN4 - subnet->len), i = 0;

	if (max > PAIRS_MAX)
		max = PAIRS_MAX;
	for (size_t k = 0; k < n->n; k++, i++) {
		for (; i < max; i++) {
			struct ip_prefix v4 = pair(AF_INET, subnet->addr, i, false);
			struct ip_prefix v6 = pair(AF_INET6, agent_nets_subnet6.addr, i, false);

			if (!is_taken(known, &v4) && !is_taken(known, &v6))
				break;
		}
		if (i == max)
			return false;
		take_pair(&n->v[k], subnet->addr, i);
	}
	n->subnet4 = *subnet;
	return true;
}

/* A company's network may be all of 10.0.0.0/8: then there is another one. */
static int find_pairs(const struct agent_nets_input *in, struct agent_nets *n, struct err *e)
{
	static const struct ip_prefix defaults[] = {
		{ .family = AF_INET, .len = 16, .addr = { 10, 213 } },
		{ .family = AF_INET, .len = 24, .addr = { 172, 30, 213 } },
		{ .family = AF_INET, .len = 24, .addr = { 192, 168, 213 } },
	};
	const struct ip_prefix *named = &in->policy->agent_subnet;
	char buf[IP_PREFIX_STRLEN];

	if (named->family != 0) {
		if (add_pairs(in->networks, named, n))
			return 0;
		return err_set(e, 0,
			       "agent-subnet %s: no addresses that are no part of a network of the "
			       "container's are left (name another one)",
			       ip_prefix_format(named, buf));
	}
	for (size_t i = 0; i < N_ELEMENTS(defaults); i++)
		if (add_pairs(in->networks, &defaults[i], n))
			return 0;
	return err_set(e, 0,
		       "no addresses for agents' links are left that are no part of a network of "
		       "the container's (name a network that is free: agent-subnet)");
}

/**
 * agent_nets_plan() - Say which agents' networks a container gets
 * @in:		What they are made from
 * @ret:	Filled on success, untouched on failure
 * @e:		Set on failure: a uid that the container does not have, or no free addresses
 *
 * Return: 0 on success, -1 on failure
 */
int agent_nets_plan(const struct agent_nets_input *in, struct agent_nets *ret, struct err *e)
{
	cleanup_agent_nets struct agent_nets n = { 0 };

	if (add_users(in, &n, e) < 0 || find_pairs(in, &n, e) < 0)
		return -1;
	*ret = n;
	n = (struct agent_nets){ 0 };
	return 0;
}

/* Each link has these of its own. */
static bool is_everywhere(const struct ip_prefix *p)
{
	const struct in6_addr *a = (const void *)p->addr;

	return p->family == AF_INET6 && (IN6_IS_ADDR_LINKLOCAL(a) || IN6_IS_ADDR_MULTICAST(a));
}

/**
 * agent_nets_check() - Make sure that a network which came late has no address of agents' links
 * @now:	Networks that the container has routes to by now
 * @e:		Set if one has
 *
 * Return: 0 if none has, -1 if one has
 */
int agent_nets_check(const struct networks *now, struct err *e)
{
	char buf[IP_PREFIX_STRLEN];

	for (size_t i = 0; i < now->taken.n; i++)
		if (!is_everywhere(&now->taken.v[i]) &&
		    overlaps_one_of(&now->agents, &now->taken.v[i]))
			return err_set(e, 0,
				       "the container's network %s has an address of agents' links "
				       "(name a network that is free: agent-subnet)",
				       ip_prefix_format(&now->taken.v[i], buf));
	return 0;
}

/**
 * agent_nets_done() - Release agents' networks; there are none afterwards
 * @n:		Networks
 */
void agent_nets_done(struct agent_nets *n)
{
	free(n->v);
	*n = (struct agent_nets){ 0 };
}
