/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_POSTSTART_H
#define HOOK_POSTSTART_H

#include <stdbool.h>

struct err;
struct hook_paths;

int hook_poststart(const struct hook_paths *paths, const char *state, bool *ret_late,
		   struct err *e);

#endif
