/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_COMMAND_H
#define UTIL_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#define COMMAND_OUTPUT_BYTES 4096

/**
 * struct command - a program to run
 * @argv:	Its arguments; argv[0] is looked for in PATH
 * @signals:	signalfd(2) of the signals that end it, which the caller has blocked
 * @until:	CLOCK_MONOTONIC in milliseconds: when it is ended
 */
struct command {
	char *const *argv;
	int signals;
	int64_t until;
};

/**
 * struct command_result - how it ended
 * @status:	As wait(2) has it
 * @output:	The end of what it wrote to standard output and error, NUL-terminated
 * @n:		Bytes of it
 */
struct command_result {
	int status;
	char output[COMMAND_OUTPUT_BYTES];
	size_t n;
};

int64_t command_now(void);
void command_end_orphans(void);
int command_run(const struct command *c, struct command_result *ret, struct err *e);
bool command_succeeded(const struct command_result *r);
const char *command_last_line(struct command_result *r);

#endif
