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
 * struct list - destinations, owned
 */
struct list {
	struct ip_destination *v;
	size_t n;
	size_t size;
};

/**
 * struct wanted - what the arguments ask for
 * @allow:	As allow-ip
 * @deny:	As deny-ip
 * @host:	The host's own addresses, owned
 * @on_link:	Networks without a gateway, owned
 * @gateway:	Gateways, owned
 * @agents:	Agents' addresses, owned
 * @resolvers:	From the file of --resolv-conf, owned
 */
struct wanted {
	struct list allow;
	struct list deny;
	struct ip_prefix *host;
	struct ip_prefix *on_link;
	struct ip_prefix *gateway;
	struct ip_prefix *agents;
	struct ip_prefix *resolvers;
};

static void wanted_done(struct wanted *w)
{
	free(w->allow.v);
	free(w->deny.v);
	free(w->host);
	free(w->on_link);
	free(w->gateway);
	free(w->agents);
	free(w->resolvers);
}

static int add(struct list *l, const char *text, struct err *e)
{
	if (l->n == l->size) {
		size_t size = 2 * l->size + 16;
		struct ip_destination *v = realloc(l->v, size * sizeof(*v));

		if (v == NULL)
			return err_set(e, ENOMEM, "allocate destinations");
		l->v = v;
		l->size = size;
	}
	if (ip_destination_parse(text, &l->v[l->n], e) < 0)
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

static int add_prefix(struct ip_prefix **v, size_t *n, const char *text, struct err *e)
{
	struct ip_prefix *grown = reallocarray(*v, *n + 1, sizeof(*grown));

	if (grown == NULL)
		return err_set(e, ENOMEM, "allocate prefixes");
	*v = grown;
	return ip_prefix_parse(text, &grown[(*n)++], e);
}

static int add_resolvers(struct wanted *w, struct ruleset_input *in, const char *path,
			 struct err *e)
{
	cleanup_free char *text = read_path(path, MAX_LIST, e);

	return text == NULL ? -1 : resolvers_parse(text, &w->resolvers, &in->n_resolvers, e);
}

static int set_mode(struct ruleset_input *in, const char *value, struct err *e)
{
	static const char *const modes[] = {
		[RULESET_INTERNET] = "internet",
		[RULESET_ALLOWLIST] = "allowlist",
		[RULESET_NONE] = "none",
		[RULESET_OPEN] = "open",
	};

	for (size_t i = 0; i < N_ELEMENTS(modes); i++)
		if (strcmp(value, modes[i]) == 0) {
			in->mode = (enum ruleset_mode)i;
			return 0;
		}
	return err_set(e, 0, "--mode: %s: unknown", value);
}

static bool *find_flag(struct ruleset_input *in, const char *option)
{
	if (strcmp(option, "--unfinished") == 0)
		return &in->unfinished;
	if (strcmp(option, "--only-agents") == 0)
		return &in->only_agents;
	if (strcmp(option, "--forwards") == 0)
		return &in->forwards;
	return strcmp(option, "--connected") == 0 ? &in->connected : NULL;
}

static int add_option(struct wanted *w, struct ruleset_input *in, const char *option,
		      const char *value, struct err *e)
{
	if (strcmp(option, "--resolv-conf") == 0)
		return add_resolvers(w, in, value, e);
	if (strcmp(option, "--list") == 0)
		return add_file(&w->allow, value, e);
	if (strcmp(option, "--deny") == 0)
		return add(&w->deny, value, e);
	if (strcmp(option, "--host") == 0)
		return add_prefix(&w->host, &in->n_host, value, e);
	if (strcmp(option, "--on-link") == 0)
		return add_prefix(&w->on_link, &in->n_on_link, value, e);
	if (strcmp(option, "--gateway") == 0)
		return add_prefix(&w->gateway, &in->n_gateway, value, e);
	if (strcmp(option, "--agent") == 0)
		return add_prefix(&w->agents, &in->n_agents, value, e);
	if (strcmp(option, "--mode") == 0)
		return set_mode(in, value, e);
	return err_set(e, 0, "%s: unknown option", option);
}

/**
 * ruleset_from_args() - Compile what a test asks for
 * @args:	NULL-terminated.  DESTINATION: as allow-ip; --list FILE: the same, one a line;
 *		--deny DESTINATION, --host ADDRESS, --on-link PREFIX, --gateway ADDRESS,
 *		--agent ADDRESS, --mode internet|allowlist|none|open, --resolv-conf FILE;
 *		--connected, --only-agents, --forwards;
 *		--unfinished: the network is not there yet
 * @ret:	Filled on success
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int ruleset_from_args(char **args, struct ruleset *ret, struct err *e)
{
	CLEANUP(wanted_done) struct wanted w = { 0 };
	struct ruleset_input in = { 0 };

	for (; *args != NULL; args++) {
		if (find_flag(&in, *args) != NULL) {
			*find_flag(&in, *args) = true;
		} else if (strncmp(*args, "--", 2) != 0) {
			if (add(&w.allow, *args, e) < 0)
				return -1;
		} else if (args[1] == NULL) {
			return err_set(e, 0, "%s: no value", *args);
		} else {
			if (add_option(&w, &in, args[0], args[1], e) < 0)
				return -1;
			args++;
		}
	}
	in.allow = w.allow.v;
	in.n_allow = w.allow.n;
	in.deny = w.deny.v;
	in.n_deny = w.deny.n;
	in.host = w.host;
	in.on_link = w.on_link;
	in.gateway = w.gateway;
	in.agents = w.agents;
	in.resolvers = w.resolvers;
	return ruleset_compile(&in, ret, e);
}
