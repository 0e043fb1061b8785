/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_NETWORK_H
#define SHIM_NETWORK_H

struct err;
struct launch;

int network_check(const struct launch *l, struct err *e);
int network_join(const struct launch *l, struct err *e);
int network_set_loopback_up(struct err *e);

#endif
