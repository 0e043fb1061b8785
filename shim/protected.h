/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_PROTECTED_H
#define SHIM_PROTECTED_H

#include "strlist.h"

struct err;
struct launch;

int protected_missing(const struct launch *l, struct strlist *ret, struct err *e);
int protected_made(const struct launch *l, const struct strlist *missing, struct strlist *ret,
		   struct err *e);

#endif
