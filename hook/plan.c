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

#include "capabilities.h"
#include "err.h"
#include "links.h"
#include "load.h"
#include "oci_config.h"
#include "path.h"
#include "plan.h"
#include "policy.h"
#include "resolvers.h"
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
	cleanup_free char *moved = NULL;
	bool link;

	for (size_t i = 0; f == NULL && i < s->n_found; i++)
		if (is_command(&s->found[i], command) && s->found[i].runnable)
			f = &s->found[i];
	if (f == NULL)
		return 0;

	link = f->type == S_IFLNK;
	if (link && !target_is_covered(s, f))
		return manifest_add_agent(&p->manifest, command, f->real, e);
	moved = path_join(RUN_AGENTS, command, e);
	if (moved == NULL || manifest_add_agent(&p->manifest, command, moved, e) < 0)
		return -1;
	return add_op(p,
		      (struct hook_op){ .kind = HOOK_OP_AGENT,
					.target = steal_ptr(&moved),
					.command = command,
					.fd = link ? f->target : f->fd,
					.source = link ? strdup(f->real) : found_path(s, f, e) },
		      e);
}

static int plan_covers(const struct survey *s, const char *command, struct hook_plan *p,
		       struct err *e)
{
	for (size_t i = 0; i < s->n_found; i++) {
		const struct survey_found *f = &s->found[i];
		char *path;

		if (!is_command(f, command))
			continue;
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
					.fd = s->dirs[dir].fd },
		      e);
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
	struct ruleset_input rules = {
		.allow = in->policy->allow_ip,
		.n_allow = in->policy->n_allow_ip,
		.deny = in->policy->deny_ip,
		.n_deny = in->policy->n_deny_ip,
		.host = in->host->v,
		.n_host = in->host->n,
		.on_link = in->on_link->v,
		.n_on_link = in->on_link->n,
		.unfinished = in->late,
	};

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
 * @ret:	Filled on success, untouched on failure; the namespaces of its manifest are the
 *		caller's to fill in
 * @e:		Set on failure: it can't be confined
 *
 * An agent is put aside before anything covers it.
 *
 * Return: 0 on success, -1 on failure
 */
int hook_plan_build(const struct hook_plan_input *in, struct hook_plan *ret, struct err *e)
{
	cleanup_hook_plan struct hook_plan p = { 0 };

	if (check_shim(in, e) < 0 || plan_rules(in, &p.rules, e) < 0 ||
	    plan_manifest(in->config, &p.manifest, e) < 0 ||
	    plan_capabilities(in->config, &p.manifest, e) < 0 ||
	    add_fixed(&p, HOOK_OP_LIBEXEC, LIBEXEC_DIR, e) < 0 ||
	    add_fixed(&p, HOOK_OP_RUN, RUN_DIR, e) < 0 || each_command(in, &p, plan_agent, e) < 0 ||
	    each_command(in, &p, plan_covers, e) < 0 || each_command(in, &p, plan_name, e) < 0)
		return -1;

	*ret = p;
	p = (struct hook_plan){ 0 };
	return 0;
}

/* Paths are the image's to choose: none may move a terminal's cursor. */
static void print_path(FILE *f, const char *path)
{
	for (; *path != '\0'; path++) {
		unsigned char c = (unsigned char)*path;

		if (c < 0x20 || c == 0x7f || c == '\\')
			(void)fprintf(f, "\\%03o", c);
		else
			(void)fputc(c, f);
	}
}

static void print_op(FILE *f, const struct hook_op *op)
{
	static const char *const what[] = {
		[HOOK_OP_LIBEXEC] = "the host's programs at",
		[HOOK_OP_RUN] = "new tmpfs at",
		[HOOK_OP_AGENT] = "the agent at",
		[HOOK_OP_COVER] = "shim over",
		[HOOK_OP_NAME] = "shim as new",
	};

	(void)fprintf(f, "mount: %s ", what[op->kind]);
	print_path(f, op->target);
	if (op->source != NULL) {
		(void)fputs(" from ", f);
		print_path(f, op->source);
	}
	(void)fputc('\n', f);
}

static void print_manifest(FILE *f, const struct manifest *m)
{
	for (size_t i = 0; i < m->n_agents; i++) {
		(void)fprintf(f, "agent: %s is ", m->agents[i].command);
		print_path(f, m->agents[i].path);
		(void)fputc('\n', f);
	}
	for (size_t i = 0; i < m->mounts.n; i++) {
		(void)fputs("engine's mount: ", f);
		print_path(f, m->mounts.v[i]);
		(void)fputc('\n', f);
	}
	for (size_t i = 0; i < m->capabilities.n; i++)
		(void)fprintf(f, "warning: container root has %s: it %s\n", m->capabilities.v[i],
			      capability_find(m->capabilities.v[i])->so);
}

/**
 * hook_plan_print() - Write a plan for people, in the order of execution
 * @f:		Where to
 * @p:		Plan
 *
 * Return: 0 on success, -1 if @f has an error
 */
int hook_plan_print(FILE *f, const struct hook_plan *p)
{
	if (ruleset_print(f, &p->rules) < 0)
		return -1;
	for (size_t i = 0; i < p->n_ops; i++)
		print_op(f, &p->ops[i]);
	print_manifest(f, &p->manifest);
	return ferror(f) ? -1 : 0;
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
