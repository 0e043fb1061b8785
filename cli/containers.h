/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CONTAINERS_H
#define CLI_CONTAINERS_H

#include <stddef.h>
#include <sys/types.h>

#include "cleanup.h"
#include "counters.h"
#include "err.h"
#include "run_dir.h"

/**
 * struct container - one that is under protection
 * @pid:	A process of it, by which it was found
 * @proc:	That process' folder of /proc, O_PATH: leads to no other one; owned
 * @run:	What the hook has left in it
 * @counters:	What the kernel has counted for it
 * @unread:	Why @counters are not known; its message is empty if they are
 */
struct container {
	pid_t pid;
	int proc;
	struct run_dir run;
	struct counters counters;
	struct err unread;
};

/**
 * struct unknown - what looks like one, and can't be told
 * @pid:	A process of it
 * @dev:	The file system that it has at RUN_DIR
 * @why:	Why it can't be told, owned
 */
struct unknown {
	pid_t pid;
	dev_t dev;
	char *why;
};

/**
 * struct containers - those of this machine, as far as who asks may see them
 * @v:		Containers, by their processes
 * @n:		How many
 * @unknown:	What can't be told
 * @n_unknown:	How many
 *
 * Owned by the caller; containers_done() releases it.
 */
struct containers {
	struct container *v;
	size_t n;
	struct unknown *unknown;
	size_t n_unknown;
};

int containers_find(const char *libexec, struct containers *ret, struct err *e);
void containers_count(struct container *c);
void containers_done(struct containers *c);

#define cleanup_containers CLEANUP(containers_done)

#endif
