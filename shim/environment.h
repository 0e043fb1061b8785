/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_ENVIRONMENT_H
#define SHIM_ENVIRONMENT_H

#include "strlist.h"

struct err;
struct launch;

int environment_build(const struct launch *l, char *const vars[], struct strlist *ret,
		      struct err *e);
const char *environment_get(char *const vars[], const char *name);

#endif
