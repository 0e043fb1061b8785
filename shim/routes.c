/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The text of /proc/net/route and /proc/net/ipv6_route
 */
#include "config.h"

#include <linux/route.h>
#include <stdio.h>
#include <string.h>

#include "routes.h"

static const char *next_line(const char *p)
{
	p += strcspn(p, "\n");
	return *p == '\n' ? p + 1 : p;
}

/* "Iface Destination Gateway Flags RefCnt Use Metric Mask ...", numbers in hex */
static bool is_default4(const char *line)
{
	unsigned to, flags, mask;

	return sscanf(line, "%*s %x %*x %x %*s %*s %*s %x", &to, &flags, &mask) == 3 && to == 0 &&
	       mask == 0 && (flags & (RTF_UP | RTF_REJECT)) == RTF_UP;
}

/* "destination length source length gateway metric refcnt use flags device" */
static bool is_default6(const char *line)
{
	unsigned len, flags;
	char to[33];

	return sscanf(line, "%32[0-9a-f] %x %*s %*s %*s %*s %*s %*s %x", to, &len, &flags) == 3 &&
	       strspn(to, "0") == 32 && len == 0 && (flags & (RTF_UP | RTF_REJECT)) == RTF_UP;
}

/**
 * routes_lead_out() - Say whether there is a default route
 * @ipv4:	Text of /proc/net/route; NULL: there is none
 * @ipv6:	Text of /proc/net/ipv6_route; NULL: there is none
 *
 * Return: true if there is
 */
bool routes_lead_out(const char *ipv4, const char *ipv6)
{
	for (const char *p = ipv4; p != NULL && *p != '\0'; p = next_line(p))
		if (is_default4(p))
			return true;
	for (const char *p = ipv6; p != NULL && *p != '\0'; p = next_line(p))
		if (is_default6(p))
			return true;
	return false;
}
