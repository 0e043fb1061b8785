/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_MOUNT_H
#define UTIL_MOUNT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

/* Attributes are MOUNT_ATTR_* of mount_setattr(2). */
int mount_clone(int dirfd, const char *path, bool recursive, struct err *e);
int mount_tmpfs(mode_t mode, const char *size, struct err *e);
int mount_fs(const char *type, const char *const options[], struct err *e);
int mount_set(int mnt, uint64_t attr, bool recursive, struct err *e);
int mount_private(int mnt, struct err *e);
int mount_attach(int mnt, int target, struct err *e);

#endif
