/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_ROOT_H
#define UTIL_ROOT_H

#include <sys/types.h>

struct err;

int root_open(int root, const char *path, int flags, struct err *e);
int root_open_nofollow(int root, const char *path, int flags, struct err *e);
int root_mkdirs(int root, const char *path, mode_t mode, uid_t uid, gid_t gid, struct err *e);
int root_mkfile(int root, const char *path, mode_t mode, uid_t uid, gid_t gid, struct err *e);

#endif
