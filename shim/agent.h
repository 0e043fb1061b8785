/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_AGENT_H
#define SHIM_AGENT_H

struct err;
struct launch;

char *agent_find(const struct launch *l, const char *path, struct err *e);
char *agent_place(const struct launch *l, struct err *e);

#endif
