/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_TRUSTED_H
#define UTIL_TRUSTED_H

#include <sys/types.h>

struct err;

int trusted_open(const char *path, int flags, mode_t type, struct err *e);

#endif
