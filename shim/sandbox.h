/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_SANDBOX_H
#define SHIM_SANDBOX_H

#include <stdbool.h>

#include "launch.h"
#include "plan.h"
#include "terminals.h"

struct err;

/**
 * struct sandbox - what the sandbox's first process needs, ready before it is made
 * @launch:	The launch
 * @plan:	The mounts
 * @argv:	The agent's arguments, NULL at the end
 * @env:	The agent's environment
 * @warn:	Told of what the agent lacks
 * @terminals:	Terminals that the launch was started with
 * @attached:	The first of them is the agent's from the start
 *
 * Everything is borrowed.
 */
struct sandbox {
	const struct launch *launch;
	const struct plan *plan;
	char *const *argv;
	char *const *env;
	launch_warn warn;
	struct terminals *terminals;
	bool attached;
};

int sandbox_run(const struct sandbox *s, int *ret_status, struct err *e);

#endif
