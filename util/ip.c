/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "err.h"
#include "ip.h"

/* One to three digits and nothing else: "08", "+8" and "8 " are typing errors. */
static bool parse_len(const char *text, unsigned max, unsigned *ret)
{
	unsigned n = 0;
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > 3 || text[digits] != '\0' || (text[0] == '0' && digits > 1))
		return false;
	for (size_t i = 0; i < digits; i++)
		n = n * 10 + (unsigned)(text[i] - '0');
	if (n > max)
		return false;
	*ret = n;
	return true;
}

static bool host_bits_set(const struct ip_prefix *p, unsigned max)
{
	for (unsigned bit = p->len; bit < max; bit++)
		if ((p->addr[bit / 8] & (0x80 >> (bit % 8))) != 0)
			return true;
	return false;
}

/**
 * ip_prefix_parse() - Read ADDRESS or ADDRESS/LEN
 * @text:	IPv4 in dotted-quad form, or IPv6 in the forms of RFC 4291
 * @ret:	Filled on success, untouched on failure
 * @e:		Set on failure
 *
 * A bare address gets the full length.  Bits set after the prefix are an error: the
 * person who wrote 10.1.2.3/8 meant either 10.1.2.3 or 10.0.0.0/8, and we can't know.
 *
 * Return: 0 on success, -1 on failure
 */
int ip_prefix_parse(const char *text, struct ip_prefix *ret, struct err *e)
{
	struct ip_prefix p = { 0 };
	char addr[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t n = slash != NULL ? (size_t)(slash - text) : strlen(text);
	unsigned max;

	if (n >= sizeof(addr))
		return err_set(e, 0, "`%.60s` is not an IP address", text);
	memcpy(addr, text, n);
	addr[n] = '\0';

	p.family = strchr(addr, ':') != NULL ? AF_INET6 : AF_INET;
	max = p.family == AF_INET ? 32 : 128;
	if (inet_pton(p.family, addr, p.addr) != 1)
		return err_set(e, 0, "`%.60s` is not an IP address", text);

	p.len = max;
	if (slash != NULL && !parse_len(slash + 1, max, &p.len))
		return err_set(e, 0, "`%.60s`: the prefix length is not a number from 0 to %u",
			       text, max);
	if (host_bits_set(&p, max))
		return err_set(e, 0, "`%.60s` has bits set after its prefix length", text);

	*ret = p;
	return 0;
}

/**
 * ip_prefix_format() - Write a prefix as text
 * @p:		Prefix
 * @buf:	Filled; without /LEN where the prefix is one address
 *
 * Return: @buf
 */
const char *ip_prefix_format(const struct ip_prefix *p, char buf[IP_PREFIX_STRLEN])
{
	char addr[INET6_ADDRSTRLEN];
	unsigned max = p->family == AF_INET ? 32 : 128;

	(void)inet_ntop(p->family, p->addr, addr, sizeof(addr));
	if (p->len == max)
		(void)snprintf(buf, IP_PREFIX_STRLEN, "%s", addr);
	else
		(void)snprintf(buf, IP_PREFIX_STRLEN, "%s/%u", addr, p->len);
	return buf;
}

/* ---- destinations ---- */

static const struct {
	const char *name;
	uint8_t number;
} protocols[] = {
	{ "tcp", IPPROTO_TCP },
	{ "udp", IPPROTO_UDP },
};

/**
 * ip_protocol_name() - Name of a protocol that a destination can have
 * @protocol:	IPPROTO_TCP or IPPROTO_UDP
 *
 * Return: as it is written in a policy, a static string; "" for all protocols
 */
const char *ip_protocol_name(uint8_t protocol)
{
	for (size_t i = 0; i < N_ELEMENTS(protocols); i++)
		if (protocols[i].number == protocol)
			return protocols[i].name;
	return "";
}

/* Digits up to @end.  Port 0 is none: ip_destination has it for all of them. */
static bool parse_port(const char *text, char end, uint16_t *ret, const char **rest)
{
	size_t digits = strspn(text, "0123456789");
	unsigned n = 0;

	if (digits == 0 || digits > 5 || text[0] == '0' || text[digits] != end)
		return false;
	for (size_t i = 0; i < digits; i++)
		n = n * 10 + (unsigned)(text[i] - '0');
	if (n > UINT16_MAX)
		return false;
	*ret = (uint16_t)n;
	*rest = text + digits + (end != '\0');
	return true;
}

/* PORT or PORT-PORT, and nothing after it. */
static bool parse_ports(const char *text, struct ip_destination *d)
{
	const char *rest;

	if (parse_port(text, '\0', &d->first, &rest)) {
		d->last = d->first;
		return true;
	}
	return parse_port(text, '-', &d->first, &rest) && parse_port(rest, '\0', &d->last, &rest) &&
	       d->first <= d->last;
}

/* tcp, udp, tcp/PORT, tcp/PORT-PORT, and the same for udp. */
static bool parse_service(const char *text, struct ip_destination *d)
{
	size_t n = strcspn(text, "/");

	for (size_t i = 0; i < N_ELEMENTS(protocols); i++)
		if (strlen(protocols[i].name) == n && memcmp(protocols[i].name, text, n) == 0)
			d->protocol = protocols[i].number;
	if (d->protocol == 0)
		return false;
	return text[n] == '\0' || parse_ports(text + n + 1, d);
}

/* Such a packet is never on the wire: a line with it would do nothing. */
static bool is_v4_mapped(const struct ip_prefix *p)
{
	return p->family == AF_INET6 && p->len >= 96 &&
	       IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)p->addr);
}

/**
 * ip_destination_parse() - Read ADDRESS[/LEN] [tcp|udp[/PORT[-PORT]]]
 * @text:	Address and service, with blanks between them and nowhere else
 * @ret:	Filled on success, untouched on failure
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int ip_destination_parse(const char *text, struct ip_destination *ret, struct err *e)
{
	struct ip_destination d = { 0 };
	char address[IP_PREFIX_STRLEN];
	size_t n = strcspn(text, " \t");
	const char *service = text + n + strspn(text + n, " \t");

	if (n >= sizeof(address))
		return err_set(e, 0, "`%.60s` is not an IP address", text);
	memcpy(address, text, n);
	address[n] = '\0';
	if (ip_prefix_parse(address, &d.prefix, e) < 0)
		return -1;
	if (is_v4_mapped(&d.prefix))
		return err_set(e, 0, "`%.60s` is an IPv4 address: write it as one", text);
	if (text[n] != '\0' && !parse_service(service, &d))
		return err_set(e, 0,
			       "`%.60s` is none of tcp, udp, tcp/PORT, tcp/PORT-PORT, udp/PORT, "
			       "udp/PORT-PORT, with ports from 1 to 65535",
			       service);

	*ret = d;
	return 0;
}

/**
 * ip_destination_format() - Write a destination as ip_destination_parse() reads it
 * @d:		Destination
 * @buf:	Filled
 *
 * Return: @buf
 */
const char *ip_destination_format(const struct ip_destination *d, char buf[IP_DESTINATION_STRLEN])
{
	char prefix[IP_PREFIX_STRLEN], ports[sizeof("/65535-65535")] = "";

	if (d->first != 0 && d->first == d->last)
		(void)snprintf(ports, sizeof(ports), "/%u", d->first);
	else if (d->first != 0)
		(void)snprintf(ports, sizeof(ports), "/%u-%u", d->first, d->last);
	(void)snprintf(buf, IP_DESTINATION_STRLEN, "%s%s%s%s", ip_prefix_format(&d->prefix, prefix),
		       d->protocol != 0 ? " " : "", ip_protocol_name(d->protocol), ports);
	return buf;
}
