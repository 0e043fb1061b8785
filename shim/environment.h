/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_ENVIRONMENT_H
#define SHIM_ENVIRONMENT_H

#include <stdbool.h>

#include "strlist.h"

struct err;
struct launch;

int environment_build(const struct launch *l, char *const vars[], struct strlist *ret,
		      struct err *e);
bool environment_is_secret(const struct launch *l, const char *name);
const char *environment_get(char *const vars[], const char *name);

#endif
