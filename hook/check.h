/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_CHECK_H
#define HOOK_CHECK_H

#include <stdio.h>

struct err;
struct hook_paths;

int check_bundle(const struct hook_paths *paths, const char *bundle, FILE *out, struct err *e);

#endif
