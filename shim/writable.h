/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_WRITABLE_H
#define SHIM_WRITABLE_H

struct err;
struct launch;

int writable_read(struct launch *l, struct err *e);

#endif
