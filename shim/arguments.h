/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_ARGUMENTS_H
#define SHIM_ARGUMENTS_H

#include <stdbool.h>

struct err;

/**
 * struct arguments - what a launch was asked for on the command line
 * @agent:	Command of the agent, as it was given
 * @argv:	The agent's arguments, after a name of it, NULL at the end
 * @workspace:	Folder that the agent may write; NULL: as the policy has it
 * @no_forge:	Keep the forges' logins out
 * @print_plan:	Print what the launch would do, and do nothing
 * @json:	Print it as JSON
 *
 * Everything is borrowed from the command line.
 */
struct arguments {
	const char *agent;
	char **argv;
	const char *workspace;
	bool no_forge;
	bool print_plan;
	bool json;
};

int arguments_parse_run(char **argv, struct arguments *ret, struct err *e);

#endif
