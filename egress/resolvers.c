/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The resolvers of a container
 *
 * What this file returns is opened on port 53, whatever range it lies in.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "resolvers.h"

#define MAX_RESOLVERS 3 /* MAXNS in resolv.conf(5): the C library asks no more */

/* "nameserver ADDRESS[%SCOPE]", and what follows after white space is ignored as libc does. */
static bool parse_line(const char *line, size_t len, struct ip_prefix *ret)
{
	static const char key[] = "nameserver";
	char addr[INET6_ADDRSTRLEN] = { 0 };
	struct err e = { 0 };
	size_t n;

	if (len <= strlen(key) || strncmp(line, key, strlen(key)) != 0)
		return false;
	line += strlen(key);
	if (*line != ' ' && *line != '\t')
		return false;
	line += strspn(line, " \t");
	n = strcspn(line, " \t\r\n%");
	if (n >= sizeof(addr))
		return false;
	memcpy(addr, line, n);
	/* A resolver is one address: "0.0.0.0/0" would be every one. */
	return strchr(addr, '/') == NULL && ip_prefix_parse(addr, ret, &e) == 0;
}

/**
 * resolvers_parse() - Find the resolvers in a resolv.conf
 * @resolv_conf: Text of the file.  It must be one that the engine made: each address in it is
 *		opened on port 53, and an image's own file must not open anything
 * @ret:	Filled on success with full-length prefixes, the caller frees it; at most 3,
 *		which is MAXNS of resolv.conf(5).  Untouched on failure
 * @ret_n:	How many, 0 is no error
 * @e:		Set on failure: memory
 *
 * What is not a "nameserver" line with one IP address is ignored, as libc does.
 *
 * Return: 0 on success, -1 on failure
 */
int resolvers_parse(const char *resolv_conf, struct ip_prefix **ret, size_t *ret_n, struct err *e)
{
	struct ip_prefix *v = calloc(MAX_RESOLVERS, sizeof(*v));
	size_t n = 0;

	if (v == NULL)
		return err_set(e, ENOMEM, "allocate the list of resolvers");
	for (const char *line = resolv_conf; *line != '\0' && n < MAX_RESOLVERS;) {
		size_t len = strcspn(line, "\n");

		if (parse_line(line, len, &v[n]))
			n++;
		line += len;
		line += *line == '\n';
	}

	*ret = v;
	*ret_n = n;
	return 0;
}
