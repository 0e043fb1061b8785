/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Addresses that are internal, or never a public destination
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "cleanup.h"
#include "denied.h"
#include "err.h"
#include "ip.h"

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

_Static_assert(N_ELEMENTS(denied4) + N_ELEMENTS(denied6) <= DENIED_INTERNAL_MAX, "room for all");
_Static_assert(1 + N_ELEMENTS(carriers) <= DENIED_FORMS, "room for all");

/* A table that does not parse must not become a ruleset with a hole. */
static struct ip_prefix from_table(const struct denied *d)
{
	struct ip_prefix p = { 0 };
	struct err e = { 0 };
	int bad = ip_prefix_parse(d->prefix, &p, &e);

	assert(bad == 0);
	return p;
}

/**
 * denied_internal() - List what is internal
 * @ret:	Filled
 *
 * Return: how many; denied_forms() has the other forms of each
 */
size_t denied_internal(struct ip_prefix ret[DENIED_INTERNAL_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < N_ELEMENTS(denied4); i++)
		ret[n++] = from_table(&denied4[i]);
	for (size_t i = 0; i < N_ELEMENTS(denied6); i++)
		ret[n++] = from_table(&denied6[i]);
	return n;
}

/* 64:ff9b::/96 and 10.0.0.0/8 make 64:ff9b::a00:0/104. */
static struct ip_prefix carry(const struct ip_prefix *carrier, const struct ip_prefix *p)
{
	struct ip_prefix in = *carrier;

	memcpy(in.addr + carrier->len / 8, p->addr, 4);
	in.len = carrier->len + p->len;
	return in;
}

/**
 * denied_forms() - All forms in which what is denied may be written
 * @p:		What is denied
 * @ret:	Filled: @p, and the IPv6 prefixes that carry it if it is IPv4
 *
 * Return: how many
 */
size_t denied_forms(const struct ip_prefix *p, struct ip_prefix ret[DENIED_FORMS])
{
	size_t n = 0;

	ret[n++] = *p;
	for (size_t c = 0; p->family == AF_INET && c < N_ELEMENTS(carriers); c++) {
		const struct ip_prefix carrier = from_table(&carriers[c]);

		ret[n++] = carry(&carrier, p);
	}
	return n;
}
