/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_LIBEXEC_H
#define HOOK_LIBEXEC_H

#include <sys/mount.h>

struct err;

#define LIBEXEC_SHIM "shim"

/* Of all that the hook mounts */
#define LIBEXEC_ATTR (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

int libexec_open(const char *dir, struct err *e);
int libexec_clone(int fd, struct err *e);

#endif
