/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_ADVICE_H
#define HOOK_ADVICE_H

#include <stdio.h>

struct err;
struct hook_paths;

void advice_sandbox(FILE *out, const struct hook_paths *paths, const struct err *why);

#endif
