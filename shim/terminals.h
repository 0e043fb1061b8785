/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_TERMINALS_H
#define SHIM_TERMINALS_H

#include <stdbool.h>
#include <stddef.h>

#include "cleanup.h"
#include "tty.h"

struct err;

#define TERMINALS_MAX 3 /* standard input, output and error could be one each */

/**
 * struct terminals - the terminals that a launch was started with
 * @n:		How many; with a controlling terminal among them, that is the first
 * @of:		For standard input, output and error which terminal it is, -1: none
 * @tty:	The terminals
 *
 * Owned by the caller; terminals_done() releases it.
 */
struct terminals {
	size_t n;
	int of[3];
	struct tty tty[TERMINALS_MAX];
};

int terminals_look(struct terminals *ret, struct err *e);
bool terminals_are_all(const struct terminals *t);
bool terminals_are_in_foreground(const struct terminals *t);
void terminals_done(struct terminals *t);

#define cleanup_terminals CLEANUP(terminals_done)

/* In the sandbox */
int terminals_make_ptys(const struct terminals *t, int sock, int ret_ptys[TERMINALS_MAX],
			struct err *e);
int terminals_use_ptys(const struct terminals *t, const int ptys[TERMINALS_MAX], struct err *e);

/* In the supervisor */
int terminals_take_masters(const struct terminals *t, int sock, bool attached,
			   int ret_masters[TERMINALS_MAX], struct err *e);

#endif
