/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_ID_MAP_H
#define UTIL_ID_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct err;

bool id_map_outside(const char *map, uint32_t inside, uint32_t *ret);
bool id_map_inside(const char *map, uint32_t outside, uint32_t *ret);
char *id_map_identity(const char *map, struct err *e);

#endif
