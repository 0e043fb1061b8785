/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_SANDBOX_H
#define SHIM_SANDBOX_H

#include "launch.h"
#include "plan.h"

struct err;

/**
 * struct sandbox - what the sandbox's first process needs, ready before it is made
 * @launch:	The launch
 * @plan:	The mounts
 * @argv:	The agent's arguments, NULL at the end
 * @env:	The agent's environment
 * @warn:	Told of what the agent lacks
 *
 * Everything is borrowed.
 */
struct sandbox {
	const struct launch *launch;
	const struct plan *plan;
	char *const *argv;
	char *const *env;
	launch_warn warn;
};

int sandbox_run(const struct sandbox *s, int *ret_status, struct err *e);

#endif
