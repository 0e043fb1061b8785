/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_RUN_DIR_H
#define CLI_RUN_DIR_H

#include <stddef.h>
#include <sys/types.h>

#include "cleanup.h"
#include "manifest.h"
#include "policy.h"
#include "profile.h"

struct err;

#define RUN_DIR_ANY_OWNER ((uid_t)-1)

/**
 * struct run_dir - what the hook has left in a container, as far as people ask for it
 * @manifest:	What it knew of the container
 * @policy:	Policy
 * @profiles:	Those that the policy names
 * @n_profiles:	How many
 *
 * Owned by the caller; run_dir_done() releases it.
 */
struct run_dir {
	struct manifest manifest;
	struct policy policy;
	struct profile *profiles;
	size_t n_profiles;
};

int run_dir_open(int root, uid_t owner, struct err *e);
int run_dir_read_manifest(int dir, struct run_dir *ret, struct err *e);
int run_dir_read_policy(int dir, struct run_dir *ret, struct err *e);
void run_dir_done(struct run_dir *r);

#define cleanup_run_dir CLEANUP(run_dir_done)

#endif
