/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_RESULTS_H
#define HOOK_RESULTS_H

#include <stddef.h>
#include <stdio.h>

#include "cleanup.h"

struct err;

/* How good it looks; the values are the statuses of --check */
enum host_level {
	HOST_OK,
	HOST_WARNING,
	HOST_PROBLEM,
};

/**
 * struct result - what came of one thing that was looked at
 * @name:	What it is, a constant
 * @level:	How good it looks
 * @found:	What was found out; owned
 * @advice:	What to do about it; owned, NULL if HOST_OK
 */
struct result {
	const char *name;
	enum host_level level;
	char *found;
	char *advice;
};

/**
 * struct results - what came of all
 * @v:	In order
 * @n:	How many
 *
 * Owned by the caller; results_done() releases it.
 */
struct results {
	struct result *v;
	size_t n;
};

int results_add(struct results *r, struct result take, struct err *e);
enum host_level results_worst(const struct results *r);
void results_print(const struct results *r, FILE *out);
int results_print_json(const struct results *r, FILE *out, struct err *e);
void results_done(struct results *r);

#define cleanup_results CLEANUP(results_done)

#endif
