/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_CHILD_H
#define SHIM_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "cleanup.h"
#include "pasta.h"

struct err;
struct sandbox;

/**
 * struct child - the sandbox's first process, as the supervisor has it
 * @pid:	The process
 * @go:		Write end of a pipe: a byte once the id maps are written, another one once the
 *		relays are there
 * @report:	Read end of a pipe: why the sandbox could not be built
 * @sock:	Socket to it, which relays.h is about
 * @job:	Socket to it, which job.h is about; the masters of the ptys come by it first
 * @holder:	Process that keeps the launch's own network until it is connected; 0: none
 * @hold:	Write end of a pipe: a byte once the holder's id maps are written, closed when it
 *		is to end
 * @pasta:	What connects that network
 *
 * Owned by the caller; child_done() releases it.
 */
struct child {
	pid_t pid;
	int go;
	int report;
	int sock;
	int job;
	pid_t holder;
	int hold;
	struct pasta pasta;
};

#define CHILD_NONE                                                                             \
	{                                                                                      \
		.go = -1, .report = -1, .sock = -1, .job = -1, .hold = -1, .pasta = PASTA_NONE \
	}

int child_make(const struct sandbox *s, struct child *ret, struct err *e);
int child_connect(struct child *c, struct err *e);
int child_reap(pid_t pid, bool block);
void child_kill(struct child *c);
void child_done(struct child *c);

#define cleanup_child CLEANUP(child_done)

#endif
