/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_PATH_H
#define UTIL_PATH_H

#include <stdbool.h>
#include <stddef.h>

struct err;

bool path_is_clean(const char *path);
bool path_is_below(const char *path, const char *dir);
bool path_is_at_or_below(const char *path, const char *dir);
char *path_clean(const char *path, struct err *e);
char *path_join(const char *dir, const char *rel, struct err *e);
char *path_unescape(const char *text, size_t len, struct err *e);

#endif
