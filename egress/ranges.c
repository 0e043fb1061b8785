/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: From prefixes to ranges
 *
 * The kernel's interval sets refuse elements that overlap, and people write lists that do.
 * Sorting and merging costs O(n log n), once.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "ranges.h"

/**
 * ip_family_bytes() - Length of an address
 * @family:	AF_INET or AF_INET6
 *
 * Return: 4 or 16
 */
size_t ip_family_bytes(int family)
{
	return family == AF_INET ? 4 : 16;
}

/**
 * ip_next() - The address after another
 * @family:	AF_INET or AF_INET6
 * @addr:	Network byte order
 * @ret:	Filled, unused bytes zero
 *
 * Return: false if @addr is the family's last address; @ret is then untouched
 */
bool ip_next(int family, const uint8_t addr[16], uint8_t ret[16])
{
	size_t i = ip_family_bytes(family);
	uint8_t next[16] = { 0 };

	memcpy(next, addr, i);
	while (i > 0 && ++next[i - 1] == 0)
		i--;
	if (i == 0)
		return false;
	memcpy(ret, next, sizeof(next));
	return true;
}

static struct ip_range from_prefix(const struct ip_prefix *p)
{
	struct ip_range r = { 0 };
	unsigned bits = (unsigned)ip_family_bytes(p->family) * 8;

	memcpy(r.first, p->addr, bits / 8);
	memcpy(r.last, p->addr, bits / 8);
	for (unsigned bit = p->len; bit < bits; bit++)
		r.last[bit / 8] |= (uint8_t)(0x80 >> (bit % 8));
	return r;
}

/* Unused bytes are zero, so the same comparison serves both families. */
static int compare(const void *a, const void *b)
{
	const struct ip_range *x = a;
	const struct ip_range *y = b;

	return memcmp(x->first, y->first, sizeof(x->first));
}

/* Whether @next starts within @r or directly after it, given that it does not start before. */
static bool touches(int family, const struct ip_range *r, const struct ip_range *next)
{
	uint8_t after[16];

	if (!ip_next(family, r->last, after))
		return true;
	return memcmp(next->first, after, sizeof(after)) <= 0;
}

static size_t merge(int family, struct ip_range *v, size_t n)
{
	size_t out = 0;

	for (size_t i = 1; i < n; i++) {
		if (!touches(family, &v[out], &v[i]))
			v[++out] = v[i];
		else if (memcmp(v[i].last, v[out].last, sizeof(v[i].last)) > 0)
			memcpy(v[out].last, v[i].last, sizeof(v[i].last));
	}
	return n == 0 ? 0 : out + 1;
}

/**
 * ip_set_build() - Make a set of the prefixes of one family
 * @family:	AF_INET or AF_INET6; prefixes of the other one are passed over
 * @v:		Prefixes in any order, overlapping or not
 * @n:		How many
 * @ret:	Filled on success, untouched on failure; ip_set_done() releases it
 * @e:		Set on failure: memory
 *
 * Return: 0 on success, -1 on failure
 */
int ip_set_build(int family, const struct ip_prefix *v, size_t n, struct ip_set *ret, struct err *e)
{
	struct ip_range *ranges = calloc(n + 1, sizeof(*ranges)); /* never of size 0 */
	size_t used = 0;

	if (ranges == NULL)
		return err_set(e, ENOMEM, "allocate %zu address ranges", n);
	for (size_t i = 0; i < n; i++)
		if (v[i].family == family)
			ranges[used++] = from_prefix(&v[i]);
	qsort(ranges, used, sizeof(*ranges), compare);

	*ret = (struct ip_set){
		.family = family,
		.v = ranges,
		.n = merge(family, ranges, used),
	};
	return 0;
}

/* The length of the prefix that is the same range, or -1 if there is none. */
static int prefix_len(int family, const struct ip_range *r)
{
	int bits = (int)ip_family_bytes(family) * 8;
	int len = 0;

	while (len < bits && ((r->first[len / 8] ^ r->last[len / 8]) & (0x80 >> (len % 8))) == 0)
		len++;
	for (int bit = len; bit < bits; bit++) {
		int mask = 0x80 >> (bit % 8);

		if ((r->first[bit / 8] & mask) != 0 || (r->last[bit / 8] & mask) == 0)
			return -1;
	}
	return len;
}

/**
 * ip_range_format() - Write a range as text
 * @family:	AF_INET or AF_INET6
 * @r:		Range
 * @buf:	Filled: ADDRESS, ADDRESS/LEN or ADDRESS-ADDRESS, the first one that says it
 *
 * Return: @buf
 */
const char *ip_range_format(int family, const struct ip_range *r, char buf[IP_RANGE_STRLEN])
{
	char first[INET6_ADDRSTRLEN];
	char last[INET6_ADDRSTRLEN];
	int len = prefix_len(family, r);

	(void)inet_ntop(family, r->first, first, sizeof(first));
	(void)inet_ntop(family, r->last, last, sizeof(last));
	if (len == (int)ip_family_bytes(family) * 8)
		(void)snprintf(buf, IP_RANGE_STRLEN, "%s", first);
	else if (len >= 0)
		(void)snprintf(buf, IP_RANGE_STRLEN, "%s/%d", first, len);
	else
		(void)snprintf(buf, IP_RANGE_STRLEN, "%s-%s", first, last);
	return buf;
}

/**
 * ip_set_done() - Release a set
 * @s:		Set, empty afterwards
 */
void ip_set_done(struct ip_set *s)
{
	free(s->v);
	s->v = NULL;
	s->n = 0;
}
