/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_CONTAINER_H
#define HOOK_CONTAINER_H

#include <stdbool.h>

#include "load.h"
#include "oci_config.h"
#include "policy.h"

struct err;
struct hook_paths;

/**
 * struct container - what is known of a container before anyone looks into it
 * @bundle:	Folder of its config.json, absolute, borrowed
 * @id:		What the runtime calls it, borrowed; NULL if it has not said so
 * @config:	Its config.json
 * @policy:	Policy; empty if there is none
 * @policy_path: Where that is, owned
 * @profiles:	Profiles that the policy names; empty if the container is not ours
 * @why:	Why it is ours, a constant; NULL if it isn't
 *
 * Owned by the caller; container_done() releases it.
 */
struct container {
	const char *bundle;
	const char *id;
	struct oci_config config;
	struct policy policy;
	char *policy_path;
	struct loaded_profiles profiles;
	const char *why;
};

int container_load(const struct hook_paths *paths, const char *bundle, struct container *ret,
		   struct err *e);
int container_open_root(const struct container *c, struct err *e);
int container_check_mounted(int root, struct err *e);
void container_done(struct container *c);

#define cleanup_container CLEANUP(container_done)

#endif
