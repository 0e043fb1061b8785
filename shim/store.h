/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_STORE_H
#define SHIM_STORE_H

struct err;
struct launch;

int store_prepare(struct launch *l, struct err *e);

#endif
