/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_LAUNCH_READ_H
#define SHIM_LAUNCH_READ_H

#include "launch.h"

struct arguments;

int launch_read(const struct arguments *a, char *const vars[], bool nested, struct launch *ret,
		struct err *e);
bool launch_is_nested(void);
int launch_is_in_container(const struct launch *l, struct err *e);

#endif
