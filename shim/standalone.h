/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_STANDALONE_H
#define SHIM_STANDALONE_H

struct err;
struct launch;

int standalone_read(struct launch *l, struct err *e);

#endif
