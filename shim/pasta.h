/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_PASTA_H
#define SHIM_PASTA_H

#include <stdbool.h>
#include <sys/types.h>

struct err;
struct launch;

/**
 * struct program - one that the supervisor has started
 * @pid:	Process; 0: there is none, or it has been waited for
 * @pidfd:	Of the same process
 * @out:	Read end of its standard output
 * @says:	What it wrote to its standard error, a memfd
 */
struct program {
	pid_t pid;
	int pidfd;
	int out;
	int says;
};

/**
 * struct pasta - what connects a network that a launch made for itself
 * @rules:	egress, which ends when the rules are in force
 * @pasta:	pasta(1), which does not end
 *
 * Owned by the caller; pasta_done() releases it.
 */
struct pasta {
	struct program rules;
	struct program pasta;
};

#define PROGRAM_NONE                               \
	{                                          \
		.pidfd = -1, .out = -1, .says = -1 \
	}
#define PASTA_NONE                                            \
	{                                                     \
		.rules = PROGRAM_NONE, .pasta = PROGRAM_NONE, \
	}

int pasta_check(struct err *e);
int pasta_start(const struct launch *l, pid_t holder, struct pasta *ret, struct err *e);
int pasta_wait(struct pasta *p, struct err *e);
bool pasta_has_ended(struct pasta *p);
void pasta_done(struct pasta *p);

#endif
