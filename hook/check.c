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

#include "check.h"
#include "container.h"
#include "err.h"
#include "hook.h"
#include "libexec.h"
#include "links.h"
#include "namespaces.h"
#include "plan.h"
#include "survey.h"

static bool has_namespace(const struct oci_config *c, const char *type)
{
	for (size_t i = 0; i < c->namespaces.n; i++)
		if (strcmp(c->namespaces.v[i], type) == 0)
			return true;
	return false;
}

static int check_namespaces(const struct oci_config *c, struct err *e)
{
	if (!has_namespace(c, "mount"))
		return container_refuse_mount_ns(e);
	if (!has_namespace(c, "network"))
		return container_refuse_net_ns(e);
	return 0;
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

static int print_plan(const struct container *c, const struct survey_id *shim, FILE *out,
		      struct err *e)
{
	cleanup_survey struct survey survey = { 0 };
	cleanup_hook_plan struct hook_plan plan = { 0 };
	cleanup_links struct links host = { 0 };
	const struct links unknown = { 0 };
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
		.on_link = &unknown,
	};

	if (root < 0 || links_read_own(&host, e) < 0 ||
	    root_uid(&c->config, &look.root_uid, e) < 0 || survey_make(&look, &survey, e) < 0 ||
	    hook_plan_build(&in, &plan, e) < 0)
		return -1;
	(void)fputs("note: networks that the container is part of are refused as well; they are "
		    "known when it has its network\n",
		    out);
	if (hook_plan_print(out, &plan) < 0)
		return err_set(e, 0, "print the plan: write error");
	return 0;
}

/**
 * check_bundle() - Print what the hook would do to a container, and change nothing
 * @paths:	Where things are on the host
 * @bundle:	Folder of config.json
 * @out:	Where to print to
 * @e:		Set on failure: why the hook would refuse
 *
 * Return: 0 on success, also if the container is not ours; -1 on failure
 */
int check_bundle(const struct hook_paths *paths, const char *bundle, FILE *out, struct err *e)
{
	cleanup_container struct container c = { 0 };
	cleanup_fd int libexec = -1;
	struct survey_id shim;

	if (container_load(paths, bundle, &c, e) != 0)
		return -1;
	if (c.why == NULL) {
		(void)fputs("not ours: the container does not ask, and the policy does not say "
			    "match = always\n",
			    out);
		return 0;
	}
	(void)fprintf(out, "ours: %s\n", c.why);

	libexec = libexec_open(paths->libexec, &shim, e);
	if (libexec < 0 || check_namespaces(&c.config, e) < 0)
		return -1;
	return print_plan(&c, &shim, out, e);
}
