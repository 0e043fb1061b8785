/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_ARGUMENTS_H
#define SHIM_ARGUMENTS_H

#include <stdbool.h>

#include "strlist.h"

struct err;

/**
 * struct arguments - what a launch was asked for on the command line
 * @agent:	Command of the agent, as it was given
 * @argv:	The agent's arguments, after a name of it, NULL at the end
 * @workspace:	Folder that the agent may write; NULL: as the policy has it
 * @egress:	What is reached, no more than by the policy; NULL: as the policy has it
 * @local_port:	TCP ports of the container that the agent reaches, besides the policy's
 * @callback_port: TCP ports of the agent that the container reaches, likewise
 * @pass_env:	Variables that the agent gets, likewise
 * @no_forge:	Keep the forges' logins out
 * @print_plan:	Print what the launch would do, and do nothing
 * @json:	Print it as JSON
 *
 * Words are borrowed from the command line, lists are owned: arguments_done() releases them.
 */
struct arguments {
	const char *agent;
	char **argv;
	const char *workspace;
	const char *egress;
	struct strlist local_port;
	struct strlist callback_port;
	struct strlist pass_env;
	bool no_forge;
	bool print_plan;
	bool json;
};

int arguments_parse_run(char **argv, struct arguments *ret, struct err *e);
void arguments_done(struct arguments *a);

#define cleanup_arguments CLEANUP(arguments_done)

#endif
