/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_ID_MAP_H
#define UTIL_ID_MAP_H

#include <stdbool.h>
#include <stdint.h>

bool id_map_outside(const char *map, uint32_t inside, uint32_t *ret);
bool id_map_inside(const char *map, uint32_t outside, uint32_t *ret);

#endif
