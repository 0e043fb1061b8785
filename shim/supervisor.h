/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_SUPERVISOR_H
#define SHIM_SUPERVISOR_H

#include <signal.h>

#include "loop.h"
#include "terminals.h"

struct child;
struct err;
struct sandbox;

void supervisor_block_signals(sigset_t *ret);
int supervisor_run(const struct sandbox *s, struct relay_loop *loop, struct child *c,
		   const int masters[TERMINALS_MAX], const sigset_t *signals, struct err *e);

#endif
