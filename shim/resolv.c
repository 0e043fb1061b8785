/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: resolv.conf(5): whom the relay asks, and what the agent's C library gets to see
 *
 * The agent's own names the relay; search domains and options stay.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "err.h"
#include "resolv.h"

#define PORT_DNS 53

/* ADDRESS or ADDRESS%INTERFACE; false if the C library would not take it, either. */
static bool parse_address(const char *text, struct sockaddr_storage *ret)
{
	struct sockaddr_in *v4 = (void *)ret;
	struct sockaddr_in6 *v6 = (void *)ret;
	char address[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];
	char *scope;

	if (strlen(text) >= sizeof(address))
		return false;
	*ret = (struct sockaddr_storage){ 0 };
	strcpy(address, text);
	if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(PORT_DNS);
		return true;
	}
	scope = strchr(address, '%');
	if (scope != NULL)
		*scope++ = '\0';
	if (inet_pton(AF_INET6, address, &v6->sin6_addr) != 1)
		return false;
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(PORT_DNS);
	if (scope != NULL)
		v6->sin6_scope_id = if_nametoindex(scope);
	return true;
}

/* Is it a nameserver line?  The first few that can be understood count. */
static bool take_nameserver(struct resolv *r, const char *line)
{
	static const char key[] = "nameserver";
	const char *value = line + strlen(key);
	char address[INET6_ADDRSTRLEN + IF_NAMESIZE + 1];
	size_t n;

	if (strncmp(line, key, strlen(key)) != 0 || (*value != ' ' && *value != '\t'))
		return false;
	value += strspn(value, " \t");
	n = strcspn(value, " \t\r\n");
	if (n < sizeof(address) && r->n < DNS_RESOLVERS_MAX) {
		memcpy(address, value, n);
		address[n] = '\0';
		r->n += parse_address(address, &r->resolvers[r->n]);
	}
	return true;
}

/**
 * resolv_parse() - Read a container's resolv.conf
 * @text:	Its text; "" if there is none
 * @ret:	Filled on success, untouched on failure
 * @e:		Set on failure: memory
 *
 * Without a nameserver it is the container's own, as resolv.conf(5) has it.
 *
 * Return: 0 on success, -1 on failure
 */
int resolv_parse(const char *text, struct resolv *ret, struct err *e)
{
	CLEANUP(resolv_done) struct resolv r = { 0 };
	size_t size;
	FILE *f = open_memstream(&r.others, &size);

	if (f == NULL)
		return err_set(e, ENOMEM, "allocate resolv.conf");
	for (const char *line = text; *line != '\0';) {
		size_t n = strcspn(line, "\n");

		if (!take_nameserver(&r, line))
			(void)fprintf(f, "%.*s\n", (int)n, line);
		line += n + (line[n] == '\n');
	}
	if (fclose(f) != 0)
		return err_set(e, ENOMEM, "allocate resolv.conf");
	if (r.n == 0)
		r.n = parse_address("127.0.0.1", &r.resolvers[0]);

	*ret = r;
	r = (struct resolv){ 0 };
	return 0;
}

/**
 * resolv_print_address() - Write whom a relay asks
 * @a:		Resolver
 * @ret:	Its address, without the port
 */
void resolv_print_address(const struct sockaddr_storage *a, char ret[RESOLV_ADDRESS_MAX])
{
	const struct sockaddr_in *v4 = (const void *)a;
	const struct sockaddr_in6 *v6 = (const void *)a;
	const void *address =
		a->ss_family == AF_INET ? (const void *)&v4->sin_addr : &v6->sin6_addr;
	size_t n;

	if (inet_ntop(a->ss_family, address, ret, RESOLV_ADDRESS_MAX) == NULL)
		ret[0] = '\0';
	n = strlen(ret);
	if (a->ss_family == AF_INET6 && v6->sin6_scope_id != 0)
		(void)snprintf(ret + n, RESOLV_ADDRESS_MAX - n, "%%%u", v6->sin6_scope_id);
}

/**
 * resolv_done() - Release what resolv_parse() filled; it is empty afterwards
 * @r:		What it filled
 */
void resolv_done(struct resolv *r)
{
	free(r->others);
	*r = (struct resolv){ 0 };
}
