/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_UTF8_H
#define UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>

size_t utf8_length(const char *text);
bool utf8_is_control(const char *text);

#endif
