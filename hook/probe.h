/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_PROBE_H
#define HOOK_PROBE_H

#include <sys/types.h>

struct err;

/**
 * struct probe - something that is being tried in a process of its own
 * @pid:	The process
 * @pidfd:	The same, owned
 * @report:	Where it says why it failed, owned
 */
struct probe {
	pid_t pid;
	int pidfd;
	int report;
};

/* Returns 0 on success, -1 on failure with @e set, or another status with @e set. */
typedef int (*probe_fn)(const void *arg, struct err *e);

int probe_start(struct probe *ret, probe_fn try, const void *arg, struct err *e);
int probe_finish(struct probe *p, struct err *e);
int probe_run(probe_fn try, const void *arg, struct err *e);

#endif
