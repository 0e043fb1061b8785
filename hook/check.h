/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_CHECK_H
#define HOOK_CHECK_H

#include <stdbool.h>
#include <stdio.h>

#include "cleanup.h"
#include "steps.h"

struct err;
struct hook_paths;

/**
 * struct bundle_check - what is known of a container
 * @decided:	Whether it is ours could be told
 * @why:	Why it is ours, a constant; NULL if it isn't
 * @steps:	What the hook would do; none if it is not ours, or is refused
 *
 * Owned by the caller; bundle_check_done() releases it.
 */
struct bundle_check {
	bool decided;
	const char *why;
	struct steps steps;
};

int check_bundle(const struct hook_paths *paths, const char *bundle, struct bundle_check *ret,
		 struct err *e);
void bundle_check_print(const struct bundle_check *c, const char *refused, FILE *out);
int bundle_check_print_json(const struct bundle_check *c, const char *refused, FILE *out,
			    struct err *e);
void bundle_check_done(struct bundle_check *c);

#define cleanup_bundle_check CLEANUP(bundle_check_done)

#endif
