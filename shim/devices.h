/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_DEVICES_H
#define SHIM_DEVICES_H

struct err;
struct launch;

int devices_read(struct launch *l, struct err *e);

#endif
