/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_IDMAP_H
#define SHIM_IDMAP_H

struct err;

char *idmap_single(unsigned id, struct err *e);
char *idmap_swapped(const char *parent_map, unsigned agent_id, struct err *e);
char *idmap_swap_names(const char *text, unsigned agent_id, struct err *e);

#endif
