/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_SHARE_H
#define SHIM_SHARE_H

struct err;
struct launch;

int share_add(struct launch *l, const char *real, const char *named, struct err *e);
int share_prepare(struct launch *l, int *ret_lock, struct err *e);

#endif
