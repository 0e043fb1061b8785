/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_MOUNTS_H
#define SHIM_MOUNTS_H

struct err;
struct plan;

int mounts_apply(const struct plan *p, struct err *e);

#endif
