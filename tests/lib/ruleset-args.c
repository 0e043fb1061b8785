/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "err.h"
#include "io.h"
#include "resolvers.h"
#include "ruleset-args.h"
#include "ruleset.h"

#define MAX_LIST (64 * 1024 * 1024)

/**
 * struct list - prefixes, owned
 */
struct list {
	struct ip_prefix *v;
	size_t n;
	size_t size;
};

static void list_p(struct list *l)
{
	free(l->v);
}

static int add(struct list *l, const char *text, struct err *e)
{
	if (l->n == l->size) {
		size_t size = 2 * l->size + 16;
		struct ip_prefix *v = realloc(l->v, size * sizeof(*v));

		if (v == NULL)
			return err_set(e, ENOMEM, "allocate prefixes");
		l->v = v;
		l->size = size;
	}
	if (ip_prefix_parse(text, &l->v[l->n], e) < 0)
		return -1;
	l->n++;
	return 0;
}

static int add_file(struct list *l, const char *path, struct err *e)
{
	cleanup_free char *text = read_path(path, MAX_LIST, e);
	char *save = NULL;

	if (text == NULL)
		return -1;
	for (char *w = strtok_r(text, "\n", &save); w != NULL; w = strtok_r(NULL, "\n", &save))
		if (add(l, w, e) < 0)
			return -1;
	return 0;
}

/**
 * ruleset_from_args() - Compile what a test asks for
 * @args:	NULL-terminated: [--resolv-conf FILE] [--list FILE] [PREFIX...]; FILE of --list has
 *		one prefix a line
 * @ret:	Filled on success
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int ruleset_from_args(char **args, struct ruleset *ret, struct err *e)
{
	CLEANUP(list_p) struct list allow = { 0 };
	cleanup_free struct ip_prefix *resolvers = NULL;
	cleanup_free char *resolv_conf = NULL;
	struct ruleset_input in = { 0 };

	if (args[0] != NULL && args[1] != NULL && strcmp(args[0], "--resolv-conf") == 0) {
		resolv_conf = read_path(args[1], MAX_LIST, e);
		if (resolv_conf == NULL ||
		    resolvers_parse(resolv_conf, &resolvers, &in.n_resolvers, e) < 0)
			return -1;
		args += 2;
	}
	if (args[0] != NULL && args[1] != NULL && strcmp(args[0], "--list") == 0) {
		if (add_file(&allow, args[1], e) < 0)
			return -1;
		args += 2;
	}
	for (; *args != NULL; args++)
		if (add(&allow, *args, e) < 0)
			return -1;
	in.allow = allow.v;
	in.n_allow = allow.n;
	in.resolvers = resolvers;
	return ruleset_compile(&in, ret, e);
}
