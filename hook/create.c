/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: createRuntime, and prestart for old runtimes
 *
 * The order is the point.  What needs the host's mount namespace is opened first, then the hook
 * moves into the container's, and only looks until the whole plan stands.  The network comes
 * before the mounts: what fails later leaves a container that reaches nothing.
 * https://github.com/opencontainers/runtime-spec/blob/v1.3.0/config.md#createRuntime-hooks
 */
#include "config.h"

#include <sched.h>

#include "apply.h"
#include "bind.h"
#include "container.h"
#include "create.h"
#include "err.h"
#include "hook.h"
#include "libexec.h"
#include "namespaces.h"
#include "nft.h"
#include "plan.h"
#include "state.h"
#include "survey.h"

/**
 * struct host - what was opened in the host's mount namespace
 * @libexec:	Detached mount of the programs
 * @shim:	Which file the shim is
 */
struct host {
	int libexec;
	struct survey_id shim;
};

static int survey_container(const struct container *c, const struct container_ids *ids, int root,
			    struct survey *ret, struct err *e)
{
	const struct survey_input in = {
		.root = root,
		.root_uid = ids->root_uid,
		.config = &c->config,
		.profiles = &c->profiles,
	};

	return survey_make(&in, ret, e);
}

static int build_plan(const struct container *c, const struct survey *survey,
		      const struct survey_id *shim, struct hook_plan *ret, struct err *e)
{
	const struct hook_plan_input in = {
		.config = &c->config,
		.policy = &c->policy,
		.profiles = &c->profiles,
		.survey = survey,
		.shim = *shim,
	};

	return hook_plan_build(&in, ret, e);
}

static void name_namespaces(struct hook_plan *ret, const struct container_ids *ids)
{
	ret->manifest.user_ns = ids->user_ns;
	ret->manifest.mnt_ns = ids->mnt_ns;
	ret->manifest.pid_ns = ids->pid_ns;
	ret->manifest.net_ns = ids->net_ns;
}

/* From here on the hook is in the container's namespaces, and stays there. */
static int confine(const struct container *c, const struct container_ids *ids,
		   const struct host *host, struct err *e)
{
	cleanup_survey struct survey survey = { 0 };
	cleanup_hook_plan struct hook_plan plan = { 0 };
	cleanup_free char *mountinfo = NULL;
	cleanup_fd int root = -1;
	struct apply_input in = {
		.plan = &plan,
		.policy = &c->policy,
		.profiles = &c->profiles,
		.root_uid = ids->root_uid,
		.root_gid = ids->root_gid,
		.libexec = host->libexec,
	};

	if (container_enter(ids, CLONE_NEWNS, e) < 0)
		return -1;
	mountinfo = bind_read_mountinfo(e);
	if (mountinfo == NULL)
		return -1;
	root = container_open_root(c, e);
	if (root < 0 || survey_container(c, ids, root, &survey, e) < 0 ||
	    build_plan(c, &survey, &host->shim, &plan, e) < 0)
		return -1;
	name_namespaces(&plan, ids);

	if (container_enter(ids, CLONE_NEWNET, e) < 0 || egress_commit(&plan.rules, e) < 0 ||
	    egress_verify(&plan.rules, e) < 0)
		return -1;
	in.root = root;
	in.mountinfo = mountinfo;
	return apply_mounts(&in, e);
}

/**
 * hook_create() - Confine a container that is being created, if it is ours
 * @paths:	Where things are on the host
 * @state:	Container state, JSON
 * @e:		Set on failure: the container must not start
 *
 * On success and if the container is ours, the caller is in its namespaces.
 *
 * Return: 0 on success, also if the container is not ours; -1 on failure
 */
int hook_create(const struct hook_paths *paths, const char *state, struct err *e)
{
	cleanup_oci_state struct oci_state s = { 0 };
	cleanup_container struct container c = { 0 };
	cleanup_container_ids struct container_ids ids = { .pidfd = -1 };
	cleanup_fd int libexec = -1, mnt = -1;
	struct host host = { .libexec = -1 };

	if (oci_state_parse(state, &s, e) < 0 || container_load(paths, s.bundle, &c, e) < 0)
		return -1;
	if (c.why == NULL)
		return 0;
	libexec = libexec_open(paths->libexec, &host.shim, e);
	if (libexec < 0 || container_ids_read(s.pid, &ids, e) < 0)
		return -1;
	mnt = bind_clone(libexec, e);
	if (mnt < 0)
		return -1;
	host.libexec = mnt;
	return confine(&c, &ids, &host, e);
}
