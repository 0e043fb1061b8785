/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_BIND_H
#define HOOK_BIND_H

#include <sys/mount.h>

struct err;

/* Of all that the hook mounts */
#define BIND_ATTR (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV)

int bind_clone(int fd, struct err *e);
int bind_check_target(int target, const char *mountinfo, struct err *e);
int bind_attach(int mnt, int target, const char *mountinfo, struct err *e);
char *bind_read_mountinfo(struct err *e);

#endif
