/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_PROGRAM_FIND_H
#define UTIL_PROGRAM_FIND_H

#include <stddef.h>

#define PROGRAM_PATH "/usr/local/bin:/usr/bin:/bin"

/* Bytes of a path: PROGRAM_PATH's folders and a short name */
#define PROGRAM_FIND_BYTES 64

const char *program_find(const char *name, char ret[PROGRAM_FIND_BYTES]);

#endif
