/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_HOST_H
#define HOOK_HOST_H

#include <stdio.h>

struct hook_paths;

/* How good it looks; the values are the statuses of --check */
enum host_level {
	HOST_OK,
	HOST_WARNING,
	HOST_PROBLEM,
};

enum host_level host_check(const struct hook_paths *paths, FILE *out);

#endif
