/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_TRUSTED_H
#define HOOK_TRUSTED_H

#include <sys/types.h>

struct err;

int trusted_open(const char *path, int flags, mode_t type, struct err *e);

#endif
