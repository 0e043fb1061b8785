/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_PRINTABLE_H
#define UTIL_PRINTABLE_H

#include <stdio.h>

void printable_put(FILE *f, const char *text);

#endif
