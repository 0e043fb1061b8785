/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: A launch as --print-plan --json writes it: docs/plan.schema.json
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "confinement.h"
#include "environment.h"
#include "err.h"
#include "json_out.h"
#include "launch.h"
#include "prepared.h"

static void add_string(struct json_out *o, const char *key, const char *text)
{
	json_out_key(o, key);
	json_out_string(o, text);
}

static void add_integer(struct json_out *o, const char *key, long long value)
{
	json_out_key(o, key);
	json_out_integer(o, value);
}

static void add_bool(struct json_out *o, const char *key, bool value)
{
	json_out_key(o, key);
	json_out_bool(o, value);
}

static void open_at(struct json_out *o, const char *key, char bracket)
{
	json_out_key(o, key);
	json_out_open(o, bracket);
}

static void add_list(struct json_out *o, const char *key, const struct strlist *l)
{
	open_at(o, key, '[');
	for (size_t i = 0; i < l->n; i++)
		json_out_string(o, l->v[i]);
	json_out_close(o, ']');
}

static void add_names(struct json_out *o, const char *key, const struct confinements *c)
{
	open_at(o, key, '[');
	for (size_t i = 0; i < c->n; i++)
		json_out_string(o, c->v[i].name);
	json_out_close(o, ']');
}

static void add_ports(struct json_out *o, const char *key, const struct policy_numbers *ports)
{
	open_at(o, key, '[');
	for (size_t i = 0; i < ports->n; i++)
		json_out_integer(o, ports->v[i]);
	json_out_close(o, ']');
}

static void add_head(struct json_out *o, const struct launch *l, bool nested)
{
	add_integer(o, "version", 1);
	add_bool(o, "nested", nested);
	add_string(o, "agent", l->command);
	add_string(o, "profile", l->profile.name);
}

static void add_launch(struct json_out *o, const struct launch *l)
{
	add_bool(o, "hook", l->hooked);
	if (!l->hooked)
		add_string(o, "policy", CONTAINER_CONFIG_DIR "/policy.conf");
	else if (l->manifest.policy != NULL)
		add_string(o, "policy", l->manifest.policy);
	open_at(o, "user", '{');
	add_string(o, "name", l->user);
	add_integer(o, "uid", l->uid);
	add_integer(o, "gid", l->gid);
	add_integer(o, "uid_inside", launch_id_inside(l, l->uid));
	add_integer(o, "gid_inside", launch_id_inside(l, l->gid));
	json_out_close(o, '}');
	add_string(o, "home", l->home);
	add_string(o, "workspace", l->workspace);
	if (l->git_common != NULL)
		add_string(o, "repository", l->git_common);
	add_string(o, "cwd", l->cwd);
}

static void add_first(struct json_out *o, const struct prepared *p)
{
	open_at(o, "first", '{');
	add_bool(o, "asks_git", p->launch->asks_git);
	add_list(o, "makes", &p->to_make);
	add_list(o, "imports", &p->to_import);
	add_list(o, "obstacles", &p->obstacles);
	json_out_close(o, '}');
	add_list(o, "messages", &p->messages);
}

static void add_path_of(struct json_out *o, const struct launch *l, const char *type)
{
	char path[sizeof(RUN_NS "/4294967295/user")];

	(void)snprintf(path, sizeof(path), RUN_NS "/%u/%s", l->uid, type);
	json_out_string(o, path);
}

static void add_namespaces(struct json_out *o, const struct launch *l)
{
	const struct confinements made = confinement_namespaces(l);

	open_at(o, "namespaces", '{');
	open_at(o, "joins", '[');
	if (l->manifest.network == MANIFEST_NETWORK_NAMESPACE) {
		add_path_of(o, l, "user");
		add_path_of(o, l, "net");
	}
	json_out_close(o, ']');
	add_names(o, "makes", &made);
	json_out_close(o, '}');
}

static void add_resolvers(struct json_out *o, const struct launch *l)
{
	open_at(o, "resolvers", '[');
	for (size_t i = 0; i < l->resolv.n && l->manifest.network != MANIFEST_NETWORK_NONE; i++) {
		char address[RESOLV_ADDRESS_MAX];

		resolv_print_address(&l->resolv.resolvers[i], address);
		json_out_string(o, address);
	}
	json_out_close(o, ']');
}

static void add_network(struct json_out *o, const struct launch *l)
{
	const bool connected = l->manifest.network != MANIFEST_NETWORK_NONE;

	open_at(o, "network", '{');
	add_string(o, "kind", manifest_network_name(l->manifest.network));
	add_string(o, "egress", connected ? policy_egress_name(l->policy.egress) : "none");
	add_resolvers(o, l);
	add_ports(o, "local_ports", &l->policy.local_port);
	if (launch_model_port(l) != 0)
		add_integer(o, "local_model_port", launch_model_port(l));
	add_ports(o, "callback_ports", &l->policy.callback_port);
	json_out_close(o, '}');
}

/* As in the readable form, the text of a file is left out. */
static void add_step(struct json_out *o, const struct op *op)
{
	char mode[8];

	json_out_open(o, '{');
	add_string(o, "step", op_name(op->kind));
	add_string(o, "target", op->target);
	if (op->source != NULL && op->kind != OP_FILE)
		add_string(o, "source", op->source);
	if (op->store != NULL)
		add_string(o, "store", op->store);
	if (op->mode != 0) {
		(void)snprintf(mode, sizeof(mode), "%04o", (unsigned)op->mode & 07777U);
		add_string(o, "mode", mode);
	}
	add_bool(o, "optional", (op->flags & OP_OPTIONAL) != 0);
	json_out_close(o, '}');
}

static void add_mounts(struct json_out *o, const struct plan *p)
{
	open_at(o, "mounts", '[');
	for (size_t i = 0; i < p->n; i++)
		add_step(o, &p->v[i]);
	json_out_close(o, ']');
}

static void add_privileges(struct json_out *o, const struct launch *l)
{
	open_at(o, "privileges", '{');
	add_bool(o, "no_new_privs", true);
	open_at(o, "capabilities", '[');
	json_out_close(o, ']');
	add_names(o, "securebits", &confinement_securebits);
	add_names(o, "refused_calls", &confinement_refused_calls);
	add_names(o, "refused_ioctls", &confinement_refused_ioctls);
	add_names(o, "sockets", &confinement_sockets);
	add_bool(o, "nested_sandbox", l->policy.nested_sandbox);
	add_bool(o, "drops_groups", l->uid == 0);
	json_out_close(o, '}');
}

static int add_variable(struct json_out *o, const struct launch *l, const char *assignment,
			struct err *e)
{
	const size_t n = strcspn(assignment, "=");
	cleanup_free char *name = strndup(assignment, n);

	if (name == NULL)
		return err_set(e, ENOMEM, "allocate a string");
	json_out_open(o, '{');
	add_string(o, "name", name);
	if (!environment_is_secret(l, name))
		add_string(o, "value", assignment + n + 1);
	json_out_close(o, '}');
	return 0;
}

static int add_environment(struct json_out *o, const struct prepared *p, struct err *e)
{
	open_at(o, "environment", '[');
	for (size_t i = 0; i < p->env.n; i++)
		if (add_variable(o, p->launch, p->env.v[i], e) < 0)
			return -1;
	json_out_close(o, ']');
	return 0;
}

static void add_command(struct json_out *o, const struct launch *l, char *const argv[])
{
	open_at(o, "command", '{');
	add_string(o, "program", l->agent_at);
	open_at(o, "arguments", '[');
	for (size_t i = 0; argv[i] != NULL; i++)
		json_out_string(o, argv[i]);
	json_out_close(o, ']');
	json_out_close(o, '}');
}

/**
 * prepared_print_json() - Write a launch for programs
 * @f:		Where to; the caller looks for its errors
 * @p:		The launch
 * @e:		Set on failure: memory
 *
 * Return: 0 on success, -1 on failure
 */
int prepared_print_json(FILE *f, const struct prepared *p, struct err *e)
{
	cleanup_json_out struct json_out *o = json_out_new();

	json_out_open(o, '{');
	add_head(o, p->launch, false);
	add_launch(o, p->launch);
	add_first(o, p);
	add_namespaces(o, p->launch);
	add_network(o, p->launch);
	add_mounts(o, &p->mounts);
	add_privileges(o, p->launch);
	if (add_environment(o, p, e) < 0)
		return -1;
	add_command(o, p->launch, p->argv);
	add_list(o, "protected_missing", &p->missing);
	json_out_close(o, '}');
	return json_out_print(o, f, e);
}

/**
 * nested_print_json() - Write a launch in a sandbox for programs
 * @f:		Where to; the caller looks for its errors
 * @l:		The launch
 * @argv:	The agent's arguments, NULL at the end
 * @e:		Set on failure: memory
 *
 * Return: 0 on success, -1 on failure
 */
int nested_print_json(FILE *f, const struct launch *l, char *const argv[], struct err *e)
{
	cleanup_json_out struct json_out *o = json_out_new();

	json_out_open(o, '{');
	add_head(o, l, true);
	add_command(o, l, argv);
	json_out_close(o, '}');
	return json_out_print(o, f, e);
}
