/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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
