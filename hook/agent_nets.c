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

/* The group of a user by passwd(5): the image's word, which is good for no more than a number */
static gid_t find_gid(const struct agent_nets_input *in, uid_t uid)
{
	const char *line = in->passwd != NULL ? in->passwd : "";
	uint32_t u, g;

	if (uid == in->config->uid)
		return in->config->gid;
	for (; *line != '\0'; line += strcspn(line, "\n"), line += *line == '\n')
		if (sscanf(line, "%*[^:\n]:%*[^:\n]:%" SCNu32 ":%" SCNu32 ":", &u, &g) == 2 &&
		    u == uid && has(in->gid_map, g))
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

static bool is_taken(const struct links *taken, const struct ip_prefix *p)
{
	for (size_t i = 0; i < taken->n; i++)
		if (overlap(&taken->v[i], p))
			return true;
	return false;
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

/* One pair after the other, from the first that is free. */
static int add_pairs(const struct agent_nets_input *in, struct agent_nets *n, struct err *e)
{
	const struct ip_prefix *subnet = &in->policy->agent_subnet;
	unsigned max = 1U << (PAIR_LEN4 - subnet->len), i = 0;
	char buf[IP_PREFIX_STRLEN];

	if (max > PAIRS_MAX)
		max = PAIRS_MAX;
	for (size_t k = 0; k < n->n; k++, i++) {
		for (; i < max; i++) {
			struct ip_prefix v4 = pair(AF_INET, subnet->addr, i, false);
			struct ip_prefix v6 = pair(AF_INET6, agent_nets_subnet6.addr, i, false);

			if (!is_taken(in->taken, &v4) && !is_taken(in->taken, &v6))
				break;
		}
		if (i == max)
			return err_set(e, 0,
				       "agent-subnet %s: no addresses that are no part of a "
				       "network of the container's are left (name another one)",
				       ip_prefix_format(subnet, buf));
		take_pair(&n->v[k], subnet->addr, i);
	}
	return 0;
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

	if (add_users(in, &n, e) < 0 || add_pairs(in, &n, e) < 0)
		return -1;
	*ret = n;
	n = (struct agent_nets){ 0 };
	return 0;
}

/**
 * agent_nets_check() - Make sure that a network which came late is none of agents' pairs
 * @subnet:	The policy's agent-subnet
 * @taken:	Networks that the container has routes to by now, the pairs among them
 * @e:		Set if two overlap
 *
 * Return: 0 if none does, -1 if two do
 */
int agent_nets_check(const struct ip_prefix *subnet, const struct links *taken, struct err *e)
{
	char buf[IP_PREFIX_STRLEN];

	for (size_t i = 0; i < taken->n; i++) {
		const struct ip_prefix *p = &taken->v[i];

		if (p->family != AF_INET || p->len != PAIR_LEN4 || !overlap(p, subnet))
			continue;
		for (size_t k = 0; k < taken->n; k++)
			if (taken->v[k].len < PAIR_LEN4 && overlap(&taken->v[k], p))
				return err_set(e, 0,
					       "the container's network %s has addresses of "
					       "agent-subnet (name another one in the policy)",
					       ip_prefix_format(&taken->v[k], buf));
	}
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
