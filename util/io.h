/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_IO_H
#define UTIL_IO_H

#include <stddef.h>

struct err;

char *read_fd(int fd, size_t max, struct err *e);
char *read_path(const char *path, size_t max, struct err *e);
int write_all(int fd, const char *text, size_t len, struct err *e);

#endif
