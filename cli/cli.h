/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>

struct err;

/**
 * struct cli_arguments - the command line
 * @libexec:	Host: the folder of programs that containers of ours have
 * @json:	Write JSON
 * @operand:	What the subcommand is about; NULL: not given
 */
struct cli_arguments {
	const char *libexec;
	bool json;
	const char *operand;
};

/**
 * struct cli_place - what differs between the host's program and the container's
 * @usage:	What --help says
 * @operands:	Subcommands may have one
 * @status:	Subcommand status.  Returns an exit status; if that is not 0, @e is set or there
 *		is nothing to be said.
 */
struct cli_place {
	const char *usage;
	bool operands;
	int (*status)(const struct cli_arguments *a, struct err *e);
};

/* Of the program that is being run */
extern const struct cli_place cli_place;

#endif
