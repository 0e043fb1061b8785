/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What the hook does to a container, as data
 *
 * Pure: nothing here asks or changes anything, so that a plan can be printed and tested.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "agent_nets.h"
#include "capabilities.h"
#include "err.h"
#include "from_policy.h"
#include "libexec.h"
#include "links.h"
#include "load.h"
#include "oci_config.h"
#include "path.h"
#include "plan.h"
#include "policy.h"
#include "resolvers.h"
#include "steps.h"
#include "survey.h"

#define NO_DIR ((size_t)-1)

/* ---- mounts ---- */

/* Takes over what @op owns, also on failure. */
static int add_op(struct hook_plan *p, struct hook_op op, struct err *e)
{
	struct hook_op *v = reallocarray(p->ops, p->n_ops + 1, sizeof(*v));

	if (v != NULL)
		p->ops = v;
	if (v == NULL || op.target == NULL) {
		free(op.target);
		free(op.source);
		return err_set(e, ENOMEM, "allocate the plan");
	}
	v[p->n_ops++] = op;
	return 0;
}

static int add_fixed(struct hook_plan *p, enum hook_op_kind kind, const char *target, struct err *e)
{
	return add_op(p, (struct hook_op){ .kind = kind, .target = strdup(target), .fd = -1 }, e);
}

static char *found_path(const struct survey *s, const struct survey_found *f, struct err *e)
{
	return path_join(s->dirs[f->dir].path, f->command, e);
}

static bool is_command(const struct survey_found *f, const char *command)
{
	return strcmp(f->command, command) == 0;
}

/* Is the end of this symlink itself covered?  Then its path leads to the shim. */
static bool target_is_covered(const struct survey *s, const struct survey_found *f)
{
	for (size_t i = 0; i < s->n_found; i++)
		if (s->found[i].type == S_IFREG && survey_same(&s->found[i].id, &f->target_id))
			return true;
	return false;
}

/*
 * The first on PATH that can be run is the agent.  A symlink keeps its real path, because
 * programs of npm look for their modules beside themselves; what is covered moves.
 */
static int plan_agent(const struct survey *s, const char *command, struct hook_plan *p,
		      struct err *e)
{
	const struct survey_found *f = NULL;
	cleanup_free char *moved = NULL, *origin = NULL;
	bool link;

	for (size_t i = 0; f == NULL && i < s->n_found; i++)
		if (is_command(&s->found[i], command) && s->found[i].runnable)
			f = &s->found[i];
	if (f == NULL)
		return 0;

	link = f->type == S_IFLNK;
	if (link && !target_is_covered(s, f))
		return manifest_add_agent(&p->manifest, command, f->real, NULL, e);
	origin = link ? strdup(f->real) : found_path(s, f, e);
	moved = path_join(RUN_AGENTS, command, e);
	if (moved == NULL || origin == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	if (manifest_add_agent(&p->manifest, command, moved, origin, e) < 0)
		return -1;
	return add_op(p,
		      (struct hook_op){ .kind = HOOK_OP_AGENT,
					.target = steal_ptr(&moved),
					.command = command,
					.fd = link ? f->target : f->fd,
					.source = steal_ptr(&origin) },
		      e);
}

static bool is_cli(const char *command)
{
	return strcmp(command, CLI_COMMAND) == 0;
}

/* What is typed by an agent's name is the shim. */
static const char *program_of(const char *command)
{
	return is_cli(command) ? LIBEXEC_CLI : LIBEXEC_SHIM;
}

static int plan_covers(const struct survey *s, const char *command, struct hook_plan *p,
		       struct err *e)
{
	for (size_t i = 0; i < s->n_found; i++) {
		const struct survey_found *f = &s->found[i];
		char *path;

		if (!is_command(f, command))
			continue;
		if (is_cli(command) && f->type != S_IFREG && f->type != S_IFLNK)
			continue; /* nobody can run it, and the container does without ours */
		path = found_path(s, f, e);
		if (path == NULL)
			return -1;
		if (f->type != S_IFREG && f->type != S_IFLNK) {
			(void)err_set(e, 0,
				      "the container has %s, which is neither a file nor a symlink "
				      "(no agent of that name can be confined)",
				      path);
			free(path);
			return -1;
		}
		if (add_op(p,
			   (struct hook_op){ .kind = HOOK_OP_COVER,
					     .target = path,
					     .command = command,
					     .program = program_of(command),
					     .fd = f->fd },
			   e) < 0)
			return -1;
	}
	return 0;
}

/* The folder that agents' names go to: whoever can write it could replace them. */
static size_t name_dir(const struct survey *s)
{
	for (size_t i = 0; i < s->n_dirs; i++)
		if (s->dirs[i].owned)
			return i;
	return NO_DIR;
}

static int plan_name(const struct survey *s, const char *command, struct hook_plan *p,
		     struct err *e)
{
	size_t dir = name_dir(s);

	if (dir == NO_DIR)
		return err_set(
			e, 0,
			"no folder of the container's PATH belongs to its root and to nobody "
			"else (where `%s` could be put)",
			command);
	for (size_t i = 0; i < s->n_found; i++)
		if (is_command(&s->found[i], command) && s->found[i].dir == dir)
			return 0; /* covered */
	return add_op(p,
		      (struct hook_op){ .kind = HOOK_OP_NAME,
					.target = path_join(s->dirs[dir].path, command, e),
					.command = command,
					.program = program_of(command),
					.fd = s->dirs[dir].fd },
		      e);
}

/* Where no folder of PATH is root's, an agent's name was refused by now; this one can be missed. */
static int plan_cli(const struct hook_plan_input *in, struct hook_plan *p, struct err *e)
{
	if (plan_covers(in->survey, CLI_COMMAND, p, e) < 0)
		return -1;
	return name_dir(in->survey) == NO_DIR ? 0 : plan_name(in->survey, CLI_COMMAND, p, e);
}

/* Calls @plan for each command of each profile. */
static int each_command(const struct hook_plan_input *in, struct hook_plan *p,
			int (*plan)(const struct survey *, const char *, struct hook_plan *,
				    struct err *),
			struct err *e)
{
	for (size_t i = 0; i < in->profiles->n; i++) {
		const struct strlist *commands = &in->profiles->v[i].profile.commands;

		for (size_t c = 0; c < commands->n; c++)
			if (plan(in->survey, commands->v[c], p, e) < 0)
				return -1;
	}
	return 0;
}

/* ---- a container that has it all already ---- */

static bool same_file(const struct survey_id *a, const struct survey_id *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

/* A second run would take the shim of the first for the agent, which would start itself. */
static int check_shim(const struct hook_plan_input *in, struct err *e)
{
	for (size_t i = 0; i < in->survey->n_found; i++) {
		const struct survey_found *f = &in->survey->found[i];

		if (same_file(&f->id, &in->shim) ||
		    (f->real != NULL && same_file(&f->target_id, &in->shim)))
			return err_set(e, 0,
				       "the container's %s/%s is the shim already (is the hook "
				       "registered twice?)",
				       in->survey->dirs[f->dir].path, f->command);
	}
	return 0;
}

/* ---- network ---- */

static int plan_rules(const struct hook_plan_input *in, struct ruleset *ret, struct err *e)
{
	cleanup_free struct ip_prefix *resolvers = NULL;
	/* All of them: a network that containers share has the rules of the last one */
	const struct ip_prefix agents[] = { in->nets->subnet4, agent_nets_subnet6 };
	struct ruleset_input rules = {
		.agents = agents,
		.n_agents = in->nets->n > 0 ? N_ELEMENTS(agents) : 0,
		.only_agents = in->policy->egress_scope == POLICY_SCOPE_AGENT,
		.forwards = in->forwards,
		.gateway = in->networks->gateways.v,
		.n_gateway = in->networks->gateways.n,
		.host = in->host->v,
		.n_host = in->host->n,
		.on_link = in->networks->on_link.v,
		.n_on_link = in->networks->on_link.n,
		.unfinished = in->networks->late,
	};

	ruleset_input_from_policy(in->policy, &rules);
	if (in->survey->resolv_conf != NULL &&
	    resolvers_parse(in->survey->resolv_conf, &resolvers, &rules.n_resolvers, e) < 0)
		return err_wrap(e, "the container's /etc/resolv.conf");
	rules.resolvers = resolvers;
	return ruleset_compile(&rules, ret, e);
}

/* ---- manifest ---- */

static int plan_manifest(const struct oci_config *c, struct manifest *m, struct err *e)
{
	for (size_t i = 0; i < c->n_mounts; i++) {
		cleanup_free char *path = NULL;

		if (oci_mount_is_new(&c->mounts[i]))
			continue;
		path = path_clean(c->mounts[i].destination, e);
		if (path == NULL || strlist_add(&m->mounts, path, e) < 0)
			return err_wrap(e, "config.json: mounts: element %zu", i);
	}
	return 0;
}

static int plan_network(const struct hook_plan_input *in, struct manifest *m, struct err *e)
{
	const struct agent_nets *nets = in->nets;

	for (size_t i = 0; i < nets->n; i++)
		if (manifest_add_user(m, nets->v[i].uid, nets->v[i].gid, e) < 0)
			return -1;
	if (nets->n > 0)
		m->network = MANIFEST_NETWORK_NAMESPACE;
	else if (in->host_network && in->policy->egress != POLICY_EGRESS_NONE)
		m->network = MANIFEST_NETWORK_PASTA;
	return 0;
}

static int plan_capabilities(const struct oci_config *c, struct manifest *m, struct err *e)
{
	for (size_t i = 0; i < c->capabilities.n; i++) {
		const char *name = c->capabilities.v[i];

		if (capability_find(name) != NULL && !strlist_has(&m->capabilities, name) &&
		    strlist_add(&m->capabilities, name, e) < 0)
			return -1;
	}
	return 0;
}

/**
 * hook_plan_build() - Plan what to do to a container
 * @in:		What it is made from; the survey and the profiles must outlive the plan
 * @ret:	Filled on success, untouched on failure; the namespaces of its manifest and what
 *		names the container are the caller's to fill in
 * @e:		Set on failure: it can't be confined
 *
 * An agent is put aside before anything covers it.
 *
 * Return: 0 on success, -1 on failure
 */
int hook_plan_build(const struct hook_plan_input *in, struct hook_plan *ret, struct err *e)
{
	cleanup_hook_plan struct hook_plan p = { 0 };

	if (check_shim(in, e) < 0 || (!in->host_network && plan_rules(in, &p.rules, e) < 0) ||
	    plan_manifest(in->config, &p.manifest, e) < 0 ||
	    plan_capabilities(in->config, &p.manifest, e) < 0 ||
	    plan_network(in, &p.manifest, e) < 0 ||
	    add_fixed(&p, HOOK_OP_LIBEXEC, LIBEXEC_DIR, e) < 0 ||
	    add_fixed(&p, HOOK_OP_RUN, RUN_DIR, e) < 0 || each_command(in, &p, plan_agent, e) < 0 ||
	    each_command(in, &p, plan_covers, e) < 0 || each_command(in, &p, plan_name, e) < 0 ||
	    plan_cli(in, &p, e) < 0)
		return -1;

	*ret = p;
	p = (struct hook_plan){ 0 };
	return 0;
}

static int add_rules(const struct ruleset *r, struct steps *ret, struct err *e)
{
	cleanup_free char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	int failed;

	if (f == NULL)
		return err_set(e, errno, "allocate the rules");
	failed = ruleset_print(f, r);
	if (fclose(f) != 0 || failed < 0)
		return err_set(e, ENOMEM, "allocate the rules");
	for (char *line = text, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		*end = '\0';
		if (steps_add(ret, STEP_RULE, line, e) < 0)
			return -1;
	}
	return 0;
}

static int add_mounts(const struct hook_plan *p, struct steps *ret, struct err *e)
{
	static const char *const what[] = {
		[HOOK_OP_LIBEXEC] = "the host's programs at",
		[HOOK_OP_RUN] = "new tmpfs at",
		[HOOK_OP_AGENT] = "the agent at",
		[HOOK_OP_COVER] = "over",
		[HOOK_OP_NAME] = "as new",
	};

	for (size_t i = 0; i < p->n_ops; i++) {
		const struct hook_op *op = &p->ops[i];
		char text[64];

		(void)snprintf(text, sizeof(text), "%s%s%s", op->program != NULL ? op->program : "",
			       op->program != NULL ? " " : "", what[op->kind]);
		if (steps_add_path(ret, op->kind == HOOK_OP_NAME ? STEP_NAME : STEP_MOUNT, text,
				   op->target, op->source, e) < 0)
			return -1;
	}
	return 0;
}

static int add_warnings(const struct manifest *m, struct steps *ret, struct err *e)
{
	for (size_t i = 0; i < m->capabilities.n; i++) {
		const struct capability *c = capability_find(m->capabilities.v[i]);
		char what[128];

		(void)snprintf(what, sizeof(what), "container root has %s: it %s", c->name, c->so);
		if (steps_add(ret, STEP_WARNING, what, e) < 0)
			return -1;
	}
	return 0;
}

static int add_manifest(const struct manifest *m, struct steps *ret, struct err *e)
{
	for (size_t i = 0; i < m->n_agents; i++)
		if (steps_add_path(ret, STEP_AGENT, m->agents[i].command, m->agents[i].path, NULL,
				   e) < 0)
			return -1;
	for (size_t i = 0; i < m->mounts.n; i++)
		if (steps_add_path(ret, STEP_ENGINE_MOUNT, "mounted by the engine", m->mounts.v[i],
				   NULL, e) < 0)
			return -1;
	return add_warnings(m, ret, e);
}

static int add_namespaces(const struct manifest *m, struct steps *ret, struct err *e)
{
	char what[128];

	if (m->network == MANIFEST_NETWORK_PASTA)
		return steps_add(ret, STEP_NOTE,
				 "each launch makes a network for its agent, which pasta connects",
				 e);
	for (size_t i = 0; i < m->n_users; i++) {
		(void)snprintf(what, sizeof(what),
			       "new user and network namespaces for agents of uid %u",
			       m->users[i].uid);
		if (steps_add(ret, STEP_NAMESPACE, what, e) < 0)
			return -1;
	}
	return 0;
}

/**
 * hook_plan_steps() - Say what a plan does, in the order of execution
 * @p:		Plan
 * @ret:	Gets its steps
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int hook_plan_steps(const struct hook_plan *p, struct steps *ret, struct err *e)
{
	if ((p->rules.n_rules > 0 && add_rules(&p->rules, ret, e) < 0) ||
	    add_mounts(p, ret, e) < 0 || add_namespaces(&p->manifest, ret, e) < 0)
		return -1;
	return add_manifest(&p->manifest, ret, e);
}

/**
 * hook_plan_done() - Release what a plan owns; it is empty afterwards
 * @p:		Plan
 */
void hook_plan_done(struct hook_plan *p)
{
	for (size_t i = 0; i < p->n_ops; i++) {
		free(p->ops[i].target);
		free(p->ops[i].source);
	}
	free(p->ops);
	manifest_done(&p->manifest);
	ruleset_done(&p->rules);
	*p = (struct hook_plan){ 0 };
}
