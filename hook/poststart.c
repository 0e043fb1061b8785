/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: poststart: what had to wait for the network
 *
 * Where a container has a user namespace, podman sets its network up after createRuntime.  Until
 * this stage has told which networks it is part of, its rules let nothing out that is not named.
 *
 * The container's process runs by now, and all that it can write may be changed: only what the
 * kernel says of its network is asked here.
 * https://github.com/opencontainers/runtime-spec/blob/v1.3.0/config.md#poststart
 */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sysexits.h>
#include <unistd.h>

#include "agent_nets.h"
#include "container.h"
#include "err.h"
#include "forwarding.h"
#include "hook.h"
#include "links.h"
#include "nft.h"
#include "poststart.h"
#include "ruleset.h"
#include "state.h"

/*
 * Returns 1 if there is nothing to do: a short command is over before this stage comes, and where
 * only agents are confined the host's network has no rules.
 */
static int enter_network(const struct policy *p, pid_t pid, struct err *e)
{
	cleanup_fd int pidfd = -1;
	char path[32];
	struct stat own, its;

	if (pid == 0)
		return err_set(e, 0, "container state: pid: the runtime gave none");
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return errno == ESRCH ? 1 : err_set(e, errno, "open process %d", (int)pid);
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	if (stat("/proc/self/ns/net", &own) < 0)
		return err_set(e, errno, "look at this network namespace");
	if (stat(path, &its) < 0)
		return errno == ENOENT || errno == ESRCH ? 1
							 : err_set(e, errno, "look at %s", path);
	if (own.st_ino == its.st_ino && p->egress_scope == POLICY_SCOPE_AGENT)
		return 1;
	if (setns(pidfd, CLONE_NEWNET) < 0)
		return errno == ESRCH ? 1 : err_set(e, errno, "enter the network namespace");
	return 0;
}

/* Whosever network this is, it is only touched if it waits for it. */
static int finish(const struct policy *p, bool *ret_late, struct err *e)
{
	cleanup_networks struct networks now = { 0 };
	struct ruleset_late late = { .connected = p->allow_connected };
	struct forwarding forwarding;
	cleanup_ruleset struct ruleset rules = { 0 };
	enum egress_state state;

	if (egress_state(&state, e) < 0)
		return -1;
	if (state == EGRESS_NONE)
		return err_set(e, 0,
			       "the container has no rules, so the hook was not called at "
			       "createRuntime (register it again)");
	if (state == EGRESS_FINISHED)
		return 0;
	if (networks_read(&now, e) < 0 || agent_nets_check(&now, e) < 0)
		return -1;
	*ret_late = late.late = now.late;
	late.on_link = now.on_link.v;
	late.n_on_link = now.on_link.n;
	late.gateway = now.gateways.v;
	late.n_gateway = now.gateways.n;
	if (ruleset_compile_late(&late, &rules, e) < 0 || egress_finish(&rules, e) < 0)
		return -1;
	/* a link that came late does not know yet */
	if (now.agents.n > 0 &&
	    (forwarding_read(&forwarding, e) < 0 || forwarding_switch_links_on(&forwarding, e) < 0))
		return -1;
	return egress_verify_finished(&rules, e);
}

/**
 * hook_poststart() - Complete the rules of a container whose network came late, if it is ours
 * @paths:	Where things are on the host
 * @state:	Container state, JSON
 * @ret_late:	Set to whether it has no network even now: then it stays without
 * @e:		Set on failure: the rules stay as they were
 *
 * Return: 0 on success, also if there is nothing to do; a status of sysexits(3) on failure
 */
int hook_poststart(const struct hook_paths *paths, const char *state, bool *ret_late, struct err *e)
{
	cleanup_oci_state struct oci_state s = { 0 };
	cleanup_container struct container c = { 0 };
	int status;

	*ret_late = false;
	if (oci_state_parse(state, &s, e) < 0)
		return EX_DATAERR;
	status = container_load(paths, s.bundle, &c, e);
	if (status != 0 || c.why == NULL)
		return status;
	status = enter_network(&c.policy, s.pid, e);
	if (status != 0)
		return status < 0 ? EX_OSERR : 0;
	return finish(&c.policy, ret_late, e) < 0 ? EX_OSERR : 0;
}
