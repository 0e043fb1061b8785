/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What the hook would do to a bundle
 *
 * The same steps as at createRuntime, but for those that need a running container: namespaces
 * are read from config.json, and the root file system is looked at before the engine's mounts.
 */
#include "config.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent_nets.h"
#include "check.h"
#include "container.h"
#include "err.h"
#include "hook.h"
#include "json_out.h"
#include "libexec.h"
#include "links.h"
#include "namespaces.h"
#include "oci_config.h"
#include "plan.h"
#include "scratch.h"
#include "steps.h"
#include "survey.h"

static bool has_namespace(const struct oci_config *c, const char *type)
{
	for (size_t i = 0; i < c->namespaces.n; i++)
		if (strcmp(c->namespaces.v[i], type) == 0)
			return true;
	return false;
}

static bool has_host_network(const struct container *c)
{
	return !has_namespace(&c->config, "network");
}

static int check_namespaces(const struct container *c, struct err *e)
{
	if (!has_namespace(&c->config, "mount"))
		return container_refuse_mount_ns(e);
	return has_host_network(c) ? container_check_host_network(&c->policy, e) : 0;
}

/* Without a map, container root is who runs the engine. */
static int root_uid(const struct oci_config *c, uid_t *ret, struct err *e)
{
	for (size_t i = 0; i < c->uid_maps.n; i++)
		if (c->uid_maps.v[i].container == 0 && c->uid_maps.v[i].size > 0) {
			*ret = c->uid_maps.v[i].host;
			return 0;
		}
	if (c->uid_maps.n > 0)
		return err_set(e, 0, "config.json: linux: uidMappings: id 0 is not mapped");
	*ret = geteuid();
	return 0;
}

static int enter_steps(const struct container *c, struct steps *ret, struct err *e)
{
	if (!has_host_network(c) &&
	    steps_add(ret, STEP_NOTE,
		      "networks that the container is part of are refused as well; they are known "
		      "when it has its network",
		      e) < 0)
		return -1;
	if (steps_add(ret, STEP_NAMESPACE, "the container's mount namespace", e) < 0)
		return -1;
	return has_host_network(c)
		       ? 0
		       : steps_add(ret, STEP_NAMESPACE, "the container's network namespace", e);
}

static char *print_map(const struct oci_id_maps *maps, struct err *e)
{
	static const struct oci_id_map all = { .size = UINT32_MAX };
	cleanup_free char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (f == NULL) {
		(void)err_set(e, ENOMEM, "allocate an id map");
		return NULL;
	}
	for (size_t i = 0; i < maps->n || i == 0; i++) {
		const struct oci_id_map *m = maps->n == 0 ? &all : &maps->v[i];

		(void)fprintf(f, "%u %u %u\n", m->container, m->host, m->size);
	}
	if (fclose(f) != 0) {
		(void)err_set(e, ENOMEM, "allocate an id map");
		return NULL;
	}
	return steal_ptr(&text);
}

/* Which networks the container has is not known, so it is taken to have one. */
static int plan_nets(const struct container *c, const struct survey *survey, struct agent_nets *ret,
		     struct err *e)
{
	cleanup_free char *uids = print_map(&c->config.uid_maps, e);
	cleanup_free char *gids = uids == NULL ? NULL : print_map(&c->config.gid_maps, e);
	const struct networks unknown = { 0 };
	const struct agent_nets_input in = {
		.policy = &c->policy,
		.config = &c->config,
		.uid_map = uids,
		.gid_map = gids,
		.passwd = survey->passwd,
		.networks = &unknown,
	};

	if (gids == NULL)
		return -1;
	if (c->policy.egress == POLICY_EGRESS_NONE || has_host_network(c))
		return 0;
	return agent_nets_plan(&in, ret, e);
}

static int plan_steps(const struct container *c, const struct survey_id *shim, struct steps *ret,
		      struct err *e)
{
	cleanup_survey struct survey survey = { 0 };
	cleanup_hook_plan struct hook_plan plan = { 0 };
	cleanup_scratch struct scratch scratch = { 0 };
	cleanup_links struct links host = { 0 };
	cleanup_agent_nets struct agent_nets nets = { 0 };
	const struct networks unknown = { 0 };
	cleanup_fd int root = container_open_root(c, e);
	struct survey_input look = {
		.root = root,
		.config = &c->config,
		.profiles = &c->profiles,
		.bundle = c->bundle,
	};
	const struct hook_plan_input in = {
		.config = &c->config,
		.policy = &c->policy,
		.profiles = &c->profiles,
		.survey = &survey,
		.shim = *shim,
		.host = &host,
		.networks = &unknown,
		.nets = &nets,
		.host_network = has_host_network(c),
	};

	if (root < 0 || links_read_own(&host, e) < 0 ||
	    root_uid(&c->config, &look.root_uid, e) < 0 || survey_make(&look, &survey, e) < 0 ||
	    plan_nets(c, &survey, &nets, e) < 0 || hook_plan_build(&in, &plan, e) < 0 ||
	    (c->config.root_readonly && scratch_find(root, &plan, &scratch, e) < 0))
		return -1;
	if (enter_steps(c, ret, e) < 0 || scratch_steps(&scratch, ret, e) < 0)
		return -1;
	return hook_plan_steps(&plan, ret, e);
}

/**
 * check_bundle() - Find out what the hook would do to a container, and change nothing
 * @paths:	Where things are on the host
 * @bundle:	Folder of config.json
 * @ret:	Filled, also on failure, with what is known
 * @e:		Set on failure: why the hook would refuse
 *
 * Return: 0 on success, also if the container is not ours; -1 on failure
 */
int check_bundle(const struct hook_paths *paths, const char *bundle, struct bundle_check *ret,
		 struct err *e)
{
	cleanup_container struct container c = { 0 };
	cleanup_steps struct steps steps = { 0 };
	cleanup_fd int libexec = -1;
	struct survey_id shim;

	if (container_load(paths, bundle, &c, e) != 0)
		return -1;
	ret->decided = true;
	ret->why = c.why;
	if (c.why == NULL)
		return 0;
	libexec = libexec_open(paths->libexec, &shim, e);
	if (libexec < 0 || check_namespaces(&c, e) < 0 || plan_steps(&c, &shim, &steps, e) < 0)
		return -1;
	ret->steps = steps;
	steps = (struct steps){ 0 };
	return 0;
}

#define NOT_OURS "the container does not ask, and the policy does not mean it by match"

/**
 * bundle_check_print() - Write what is known of a container, for people
 * @c:		What check_bundle() found
 * @refused:	Why the hook would refuse it, NULL if it wouldn't
 * @out:	Where to; the caller looks for its errors
 */
void bundle_check_print(const struct bundle_check *c, const char *refused, FILE *out)
{
	if (c->decided && c->why != NULL)
		(void)fprintf(out, "ours: %s\n", c->why);
	else if (c->decided)
		(void)fputs("not ours: " NOT_OURS "\n", out);
	steps_print(&c->steps, out);
	if (refused != NULL)
		(void)fprintf(out, "refused: %s\n", refused);
}

/**
 * bundle_check_print_json() - The same for programs, as docs/check.schema.json has it
 * @c:		What check_bundle() found
 * @refused:	Why the hook would refuse it, NULL if it wouldn't
 * @out:	Where to; the caller looks for its errors
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int bundle_check_print_json(const struct bundle_check *c, const char *refused, FILE *out,
			    struct err *e)
{
	cleanup_json_out struct json_out *o = json_out_new();

	json_out_open(o, '{');
	json_out_key(o, "version");
	json_out_integer(o, 1);
	if (c->decided) {
		json_out_key(o, "ours");
		json_out_bool(o, c->why != NULL);
		json_out_key(o, "why");
		json_out_string(o, c->why != NULL ? c->why : NOT_OURS);
	}
	if (refused != NULL) {
		json_out_key(o, "refused");
		json_out_string(o, refused);
	}
	json_out_key(o, "steps");
	steps_add_json(&c->steps, o);
	json_out_close(o, '}');
	return json_out_print(o, out, e);
}

/**
 * bundle_check_done() - Release what is known of a container; it is empty afterwards
 * @c:		What check_bundle() found
 */
void bundle_check_done(struct bundle_check *c)
{
	steps_done(&c->steps);
	*c = (struct bundle_check){ 0 };
}
