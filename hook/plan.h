/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_PLAN_H
#define HOOK_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleanup.h"
#include "manifest.h"
#include "ruleset.h"
#include "survey.h"

struct err;
struct agent_nets;
struct links;
struct networks;
struct loaded_profiles;
struct oci_config;
struct policy;
struct steps;

/* What is mounted; the values are the order of execution */
enum hook_op_kind {
	HOOK_OP_LIBEXEC, /* the host's folder of programs */
	HOOK_OP_RUN,     /* the tmpfs with policy and manifest */
	HOOK_OP_AGENT,   /* an agent of the image, at its place in the tmpfs */
	HOOK_OP_COVER,   /* a program of ours, over something that is there */
	HOOK_OP_NAME,    /* a program of ours, over an empty file that is made */
};

/**
 * struct hook_op - one mount
 * @kind:	What is mounted
 * @target:	Where: path in the container, owned
 * @command:	Name of the agent, borrowed from the profile, or CLI_COMMAND; NULL if it is of none
 * @program:	COVER, NAME: which of LIBEXEC_*
 * @fd:		AGENT: what is mounted.  COVER: what is covered.  NAME: the folder of the name.
 *		Borrowed from the survey; else -1
 * @source:	AGENT: path of it in the container, for people; owned, else NULL
 */
struct hook_op {
	enum hook_op_kind kind;
	char *target;
	const char *command;
	const char *program;
	int fd;
	char *source;
};

/**
 * struct hook_plan - what the hook is going to do to a container
 * @rules:	What the container may reach, carried out first
 * @ops:	Mounts, in order
 * @n_ops:	How many
 * @manifest:	What the shim is told
 *
 * Owned by the caller; hook_plan_done() releases it.  Borrows from the profiles and the survey.
 */
struct hook_plan {
	struct ruleset rules;
	struct hook_op *ops;
	size_t n_ops;
	struct manifest manifest;
};

/**
 * struct hook_plan_input - what a plan is made from
 * @config:	Container's configuration
 * @policy:	Policy
 * @profiles:	Profiles that it names
 * @survey:	What the container has
 * @shim:	Which file the host's shim is
 * @host:	The host's own addresses
 * @networks:	Those that the container is part of
 * @nets:	Agents' networks; none: agents have no network
 * @forwards:	The container's network namespace forwards
 * @host_network: It is the host's: there are no rules, and agents make networks of their own
 */
struct hook_plan_input {
	const struct oci_config *config;
	const struct policy *policy;
	const struct loaded_profiles *profiles;
	const struct survey *survey;
	struct survey_id shim;
	const struct links *host;
	const struct networks *networks;
	const struct agent_nets *nets;
	bool forwards;
	bool host_network;
};

int hook_plan_build(const struct hook_plan_input *in, struct hook_plan *ret, struct err *e);
int hook_plan_steps(const struct hook_plan *p, struct steps *ret, struct err *e);
void hook_plan_done(struct hook_plan *p);

#define cleanup_hook_plan CLEANUP(hook_plan_done)

#endif
