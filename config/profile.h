/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_PROFILE_H
#define CONFIG_PROFILE_H

#include <stdint.h>

#include "strlist.h"

struct err;

/**
 * struct profile - what the sandbox has to know of one agent
 * @name:	Of the profile: lower-case letters, digits and "-", at most 32
 * @commands:	Names that the agent is launched by; each becomes the shim in the container
 * @candidates:	Where the real agent may be: absolute, or below the home as "~/..."
 * @state:	Folder below the home that holds the agent's state, relative
 * @import:	What a new store gets from the developer's own state: relative to @state, or to the
 *		home as "~/...".  profile_import_target() says where it goes.
 * @mask:	Folders that each launch has an empty one of its own for, relative to @state
 * @state_env:	Variable that names that folder to the agent; NULL: none
 * @skills:	Folder below @state where the agent looks for skills, relative; NULL: none
 * @arguments:	What the agent is given before what the developer types
 * @set_env:	NAME=VALUE
 * @pass_env:	Variables that reach this agent: its own login
 * @local_model_port: TCP port of the container's loopback where this agent looks for a model,
 *		unless the policy has another; 0: none
 *
 * Owned by the caller; profile_done() releases it.
 */
struct profile {
	char *name;
	struct strlist commands;
	struct strlist candidates;
	char *state;
	struct strlist import;
	struct strlist mask;
	char *state_env;
	char *skills;
	struct strlist arguments;
	struct strlist set_env;
	struct strlist pass_env;
	uint32_t local_model_port;
};

int profile_name_check(const char *name, struct err *e);
int profile_parse(char *text, const char *file, const char *name, struct profile *ret,
		  struct err *e);
const char *profile_import_target(const char *import);
void profile_done(struct profile *p);

#define cleanup_profile CLEANUP(profile_done)

#endif
