/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_USERNS_H
#define HOOK_USERNS_H

#include <sys/types.h>

struct err;

int userns_map_root(const char *process, uid_t uid, gid_t gid, struct err *e);
int userns_become_root(int flags, struct err *e);

#endif
