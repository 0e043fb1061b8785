/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stddef.h>

struct err;

#define CLI_MAX_OPERANDS 2

/* Options */
enum {
	CLI_JSON = 1,
	CLI_FORCE = 2,
	CLI_LIBEXEC = 4,
	CLI_REST = 8, /* of a subcommand: what follows it is another program's to understand */
};

/**
 * struct cli_arguments - the command line
 * @options:	CLI_... that were given
 * @libexec:	Host: the folder of programs that containers of ours have
 * @operands:	What the subcommand is about; NULL: not given
 * @n_operands:	How many there are
 * @rest:	The subcommand and all that follows it, NULL at the end
 */
struct cli_arguments {
	unsigned options;
	const char *libexec;
	const char *operands[CLI_MAX_OPERANDS];
	size_t n_operands;
	char **rest;
};

/**
 * struct cli_subcommand - a word that says what to do
 * @name:	Word
 * @options:	CLI_... that it knows
 * @min:	How many operands it needs
 * @max:	How many it may have, at most CLI_MAX_OPERANDS
 * @run:	Returns an exit status; if that is not 0, @e is set or there is nothing to be said.
 */
struct cli_subcommand {
	const char *name;
	unsigned options;
	size_t min;
	size_t max;
	int (*run)(const struct cli_arguments *a, struct err *e);
};

/**
 * struct cli_place - what differs between the host's program and the container's
 * @usage:		What --help says
 * @subcommands:	Besides help and version
 * @n_subcommands:	How many there are
 */
struct cli_place {
	const char *usage;
	const struct cli_subcommand *subcommands;
	size_t n_subcommands;
};

/* Of the program that is being run */
extern const struct cli_place cli_place;

#endif
