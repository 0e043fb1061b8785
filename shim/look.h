/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_LOOK_H
#define SHIM_LOOK_H

struct err;
struct launch;
struct prepared;

int look_at_stores(struct launch *l, struct prepared *p, struct err *e);

#endif
