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

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sysexits.h>

#include "agent_nets.h"
#include "agent_ns.h"
#include "apply.h"
#include "bind.h"
#include "container.h"
#include "create.h"
#include "err.h"
#include "forwarding.h"
#include "hook.h"
#include "libexec.h"
#include "links.h"
#include "namespaces.h"
#include "nft.h"
#include "plan.h"
#include "scratch.h"
#include "state.h"
#include "survey.h"

/**
 * struct host - what was looked at in the host's namespaces
 * @libexec:	Detached mount of the programs
 * @shim:	Which file the shim is
 * @own:	The host's addresses
 */
struct host {
	int libexec;
	struct survey_id shim;
	struct links own;
};

static void host_done(struct host *h)
{
	close_p(&h->libexec);
	links_done(&h->own);
}

/**
 * struct findings - what is known of a container once someone has looked into it
 * @survey:	What it has
 * @forwarding:	What its network namespace forwards
 * @nets:	Agents' networks
 * @plan:	What to do; borrows from @survey
 */
struct findings {
	struct survey survey;
	struct forwarding forwarding;
	struct agent_nets nets;
	struct hook_plan plan;
};

static void findings_done(struct findings *f)
{
	hook_plan_done(&f->plan);
	agent_nets_done(&f->nets);
	survey_done(&f->survey);
}

static int survey_container(const struct container *c, const struct container_ids *ids, int root,
			    struct survey *ret, struct err *e)
{
	const struct survey_input in = {
		.root = root,
		.root_uid = ids->owner.uid,
		.config = &c->config,
		.profiles = &c->profiles,
	};

	return survey_make(&in, ret, e);
}

/*
 * Where the engine has set the network up by now and there is none, agents need none; with a user
 * namespace it may come later.
 */
static bool agents_have_network(const struct container *c, const struct container_ids *ids,
				const struct networks *networks)
{
	return c->policy.egress != POLICY_EGRESS_NONE && (!networks->late || ids->own_user_ns);
}

/* In the container's network namespace: which networks it is part of, it knows. */
static int build_plan(const struct container *c, const struct container_ids *ids,
		      const struct host *host, struct findings *ret, struct err *e)
{
	cleanup_networks struct networks networks = { 0 };
	const struct agent_nets_input nets = {
		.policy = &c->policy,
		.config = &c->config,
		.uid_map = ids->uid_map,
		.gid_map = ids->gid_map,
		.passwd = ret->survey.passwd,
		.networks = &networks,
	};
	struct hook_plan_input in = {
		.config = &c->config,
		.policy = &c->policy,
		.profiles = &c->profiles,
		.survey = &ret->survey,
		.shim = host->shim,
		.host = &host->own,
		.networks = &networks,
		.nets = &ret->nets,
		.host_network = ids->host_network,
	};

	if (ids->host_network)
		return hook_plan_build(&in, &ret->plan, e);
	if (networks_read(&networks, e) < 0 || forwarding_read(&ret->forwarding, e) < 0)
		return -1;
	in.forwards = ret->forwarding.ipv4;
	if (egress_forwards(&in.forwards, e) < 0)
		return -1;
	if (agents_have_network(c, ids, &networks) && agent_nets_plan(&nets, &ret->nets, e) < 0)
		return -1;
	return hook_plan_build(&in, &ret->plan, e);
}

/* What the plan can't know */
static int name_container(struct hook_plan *ret, const struct container *c,
			  const struct container_ids *ids, struct err *e)
{
	ret->manifest.id = strdup(c->id);
	ret->manifest.policy = strdup(c->policy_path);
	if (ret->manifest.id == NULL || ret->manifest.policy == NULL)
		return err_set(e, ENOMEM, "allocate a name");
	ret->manifest.user_ns = ids->user_ns;
	ret->manifest.mnt_ns = ids->mnt_ns;
	ret->manifest.pid_ns = ids->pid_ns;
	ret->manifest.net_ns = ids->net_ns;
	return 0;
}

static int make_namespaces(const struct container_ids *ids, const struct findings *f, int root,
			   const char *mountinfo, struct err *e)
{
	const struct agent_ns_input in = {
		.nets = &f->nets,
		.ids = ids,
		.root = root,
		.mountinfo = mountinfo,
		.ipv6 = forwarding_takes_ipv6(&f->forwarding),
	};

	if (f->nets.n == 0)
		return 0;
	if (forwarding_switch_on(&f->forwarding, e) < 0 || forwarding_keep_requests(e) < 0)
		return -1;
	if (agent_ns_make(&in, e) < 0)
		return -1;
	return forwarding_switch_links_on(&f->forwarding, e);
}

/* The rules come before what they are about: agents' links lead nowhere without. */
static int apply(const struct container *c, const struct container_ids *ids,
		 const struct host *host, const struct findings *f, int root, const char *mountinfo,
		 struct err *e)
{
	const struct apply_input in = {
		.plan = &f->plan,
		.policy = &c->policy,
		.profiles = &c->profiles,
		.root = root,
		.owner = &ids->owner,
		.libexec = host->libexec,
		.mountinfo = mountinfo,
	};

	if (!ids->host_network &&
	    (egress_commit(&f->plan.rules, e) < 0 || egress_verify(&f->plan.rules, e) < 0))
		return -1;
	if (apply_mounts(&in, e) < 0)
		return -1;
	return make_namespaces(ids, f, root, mountinfo, e);
}

static int look(const struct container *c, const struct container_ids *ids, const struct host *host,
		int root, struct findings *ret, struct err *e)
{
	if (survey_container(c, ids, root, &ret->survey, e) < 0 ||
	    build_plan(c, ids, host, ret, e) < 0)
		return EX_UNAVAILABLE;
	return name_container(&ret->plan, c, ids, e) < 0 ? EX_OSERR : 0;
}

/* What was seen below a folder that has an overlay now is looked for again. */
static int spare_root(const struct container *c, const struct container_ids *ids,
		      const struct host *host, int root, const char *mountinfo, struct findings *f,
		      struct err *e)
{
	cleanup_scratch struct scratch scratch = { 0 };
	const struct scratch_input in = {
		.root = root,
		.root_uid = ids->owner.uid,
		.root_gid = ids->owner.gid,
		.mountinfo = mountinfo,
	};

	if (scratch_find(root, &f->plan, &scratch, e) < 0)
		return EX_UNAVAILABLE;
	if (scratch.n == 0)
		return 0;
	if (scratch_apply(&scratch, &in, e) < 0)
		return EX_OSERR;
	findings_done(f);
	return look(c, ids, host, root, f, e);
}

/* From here on the hook is in the container's namespaces, and stays there. */
static int confine(const struct container *c, const struct container_ids *ids,
		   const struct host *host, struct err *e)
{
	CLEANUP(findings_done) struct findings f = { 0 };
	cleanup_free char *mountinfo = NULL;
	cleanup_fd int root = -1;
	int status;

	if (container_enter(ids, CLONE_NEWNS, e) < 0)
		return EX_OSERR;
	mountinfo = bind_read_mountinfo(e);
	if (mountinfo == NULL)
		return EX_OSERR;
	root = container_open_root(c, e);
	if (root < 0 || container_check_mounted(root, e) < 0)
		return EX_UNAVAILABLE;
	if (!ids->host_network && container_enter(ids, CLONE_NEWNET, e) < 0)
		return EX_OSERR;
	status = look(c, ids, host, root, &f, e);
	if (status == 0 && c->config.root_readonly)
		status = spare_root(c, ids, host, root, mountinfo, &f, e);
	if (status != 0)
		return status;
	return apply(c, ids, host, &f, root, mountinfo, e) < 0 ? EX_OSERR : 0;
}

static int look_at_host(const struct hook_paths *paths, struct host *ret, struct err *e)
{
	cleanup_fd int libexec = libexec_open(paths->libexec, &ret->shim, e);

	if (libexec < 0)
		return EX_OSFILE;
	ret->libexec = bind_clone(libexec, e);
	if (ret->libexec < 0 || links_read_own(&ret->own, e) < 0)
		return EX_OSERR;
	return 0;
}

/**
 * hook_create() - Confine a container that is being created, if it is ours
 * @paths:	Where things are on the host
 * @state:	Container state, JSON
 * @e:		Set on failure: the container must not start
 *
 * On success and if the container is ours, the caller is in its namespaces.
 *
 * Return: 0 on success, also if the container is not ours; a status of sysexits(3) on failure
 */
int hook_create(const struct hook_paths *paths, const char *state, struct err *e)
{
	cleanup_oci_state struct oci_state s = { 0 };
	cleanup_container struct container c = { 0 };
	cleanup_container_ids struct container_ids ids = { .pidfd = -1 };
	CLEANUP(host_done) struct host host = { .libexec = -1 };
	int status;

	if (oci_state_parse(state, &s, e) < 0)
		return EX_DATAERR;
	status = container_load(paths, s.bundle, &c, e);
	if (status != 0 || c.why == NULL)
		return status;
	c.id = s.id;
	if (container_ids_read(s.pid, &ids, e) < 0 ||
	    (ids.host_network && container_check_host_network(&c.policy, e) < 0))
		return EX_UNAVAILABLE;
	status = look_at_host(paths, &host, e);
	return status != 0 ? status : confine(&c, &ids, &host, e);
}
