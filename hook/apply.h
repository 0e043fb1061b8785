/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_APPLY_H
#define HOOK_APPLY_H

#include <sys/types.h>

#include "survey.h"

struct err;
struct hook_plan;
struct loaded_profiles;
struct policy;

/**
 * struct apply_input - what a plan is carried out with
 * @plan:	Plan
 * @policy:	Policy, as the shim gets to see it
 * @profiles:	Profiles, whose files the shim gets to see
 * @root:	Container's root folder, O_PATH; the hook is in its mount namespace
 * @owner:	Of what is made
 * @mountinfo:	What was mounted before, from bind_read_mountinfo()
 * @libexec:	Detached read-only mount of the host's folder of programs
 */
struct apply_input {
	const struct hook_plan *plan;
	const struct policy *policy;
	const struct loaded_profiles *profiles;
	int root;
	const struct root_owner *owner;
	const char *mountinfo;
	int libexec;
};

int apply_mounts(const struct apply_input *in, struct err *e);

#endif
