/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What is known of a container, for people and for programs
 */
#include "config.h"

#include <stdbool.h>

#include "facts.h"
#include "json_out.h"
#include "printable.h"
#include "run_dir.h"

/**
 * facts_print_text() - Write text of a container for people
 * @f:		Where to
 * @text:	Text; none of it may move a terminal's cursor
 */
void facts_print_text(FILE *f, const char *text)
{
	printable_put(f, text);
}

/**
 * facts_print_head() - Begin a line that says what something is
 * @f:		Where to
 * @name:	What it is about
 */
void facts_print_head(FILE *f, const char *name)
{
	(void)fprintf(f, "%-12s ", name);
}

/**
 * facts_egress() - What a container reaches besides what is allowed
 * @r:		Container
 *
 * Return: word of the policy, static
 */
const char *facts_egress(const struct run_dir *r)
{
	return policy_egress_name(r->policy.egress);
}

/**
 * facts_scope() - Whom that is about
 * @r:		Container
 *
 * Return: word of the policy, static
 */
const char *facts_scope(const struct run_dir *r)
{
	return policy_scope_name(r->policy.egress_scope);
}

/* Where the image had it when the container was created; NULL if it did not have it */
static const char *program_of(const struct run_dir *r, const char *command)
{
	const struct manifest_agent *a = manifest_agent(&r->manifest, command);

	if (a == NULL)
		return NULL;
	return a->origin != NULL ? a->origin : a->path;
}

static void print_agents(FILE *f, const struct run_dir *r)
{
	bool none = true;

	for (size_t i = 0; i < r->n_profiles; i++) {
		const struct strlist *commands = &r->profiles[i].commands;

		for (size_t c = 0; c < commands->n; c++, none = false) {
			const char *program = program_of(r, commands->v[c]);

			facts_print_head(f, none ? "agents" : "");
			(void)fprintf(f, "%s ", commands->v[c]);
			if (program == NULL) {
				(void)fputs("(not in the image; looked for at its launch)", f);
			} else {
				(void)fputs("is ", f);
				facts_print_text(f, program);
			}
			(void)fputc('\n', f);
		}
	}
	if (none) {
		facts_print_head(f, "agents");
		(void)fputs("none\n", f);
	}
}

static void print_network(FILE *f, const struct run_dir *r)
{
	facts_print_head(f, "network");
	switch (r->manifest.network) {
	case MANIFEST_NETWORK_NONE:
		(void)fputs("agents have none\n", f);
		return;
	case MANIFEST_NETWORK_PASTA:
		(void)fputs("each launch makes one, which pasta connects\n", f);
		return;
	case MANIFEST_NETWORK_NAMESPACE:
		break;
	}
	(void)fputs("agents of these users have one: uid", f);
	for (size_t i = 0; i < r->manifest.n_users; i++)
		(void)fprintf(f, "%s %u", i > 0 ? "," : "", r->manifest.users[i].uid);
	(void)fputc('\n', f);
}

/**
 * facts_print() - Write what is known of a container, a line each
 * @f:		Where to; the caller looks for its errors
 * @r:		Container
 */
void facts_print(FILE *f, const struct run_dir *r)
{
	facts_print_head(f, "container");
	facts_print_text(f, r->manifest.id != NULL ? r->manifest.id : "(no id)");
	(void)fputc('\n', f);
	facts_print_head(f, "policy");
	facts_print_text(f, r->manifest.policy != NULL ? r->manifest.policy : "(not known)");
	(void)fputc('\n', f);
	facts_print_head(f, "egress");
	(void)fprintf(f, "%s, of %s\n", facts_egress(r),
		      r->policy.egress_scope == POLICY_SCOPE_AGENT ? "agents alone"
								   : "the whole container");
	print_network(f, r);
	print_agents(f, r);
	for (size_t i = 0; i < r->manifest.capabilities.n; i++) {
		facts_print_head(f, i == 0 ? "warning" : "");
		(void)fprintf(f, "container root has %s, which undoes a part of this\n",
			      r->manifest.capabilities.v[i]);
	}
}

static void add_string(struct json_out *o, const char *key, const char *value)
{
	if (value == NULL)
		return;
	json_out_key(o, key);
	json_out_string(o, value);
}

static void add_agents(struct json_out *o, const struct run_dir *r)
{
	json_out_key(o, "agents");
	json_out_open(o, '[');
	for (size_t i = 0; i < r->n_profiles; i++)
		for (size_t c = 0; c < r->profiles[i].commands.n; c++) {
			const char *command = r->profiles[i].commands.v[c];

			json_out_open(o, '{');
			add_string(o, "profile", r->profiles[i].name);
			add_string(o, "command", command);
			add_string(o, "program", program_of(r, command));
			json_out_close(o, '}');
		}
	json_out_close(o, ']');
}

static void add_users(struct json_out *o, const struct manifest *m)
{
	json_out_key(o, "users");
	json_out_open(o, '[');
	for (size_t i = 0; i < m->n_users; i++) {
		json_out_open(o, '{');
		json_out_key(o, "uid");
		json_out_integer(o, m->users[i].uid);
		json_out_key(o, "gid");
		json_out_integer(o, m->users[i].gid);
		json_out_close(o, '}');
	}
	json_out_close(o, ']');
}

/**
 * facts_add_json() - Add what is known of a container, as docs/status.schema.json has it
 * @o:		JSON, within an object
 * @r:		Container
 */
void facts_add_json(struct json_out *o, const struct run_dir *r)
{
	add_string(o, "id", r->manifest.id);
	add_string(o, "policy", r->manifest.policy);
	add_string(o, "egress", facts_egress(r));
	add_string(o, "scope", facts_scope(r));
	add_string(o, "network", manifest_network_name(r->manifest.network));
	add_users(o, &r->manifest);
	add_agents(o, r);
	json_out_key(o, "capabilities");
	json_out_open(o, '[');
	for (size_t i = 0; i < r->manifest.capabilities.n; i++)
		json_out_string(o, r->manifest.capabilities.v[i]);
	json_out_close(o, ']');
}
