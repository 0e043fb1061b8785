/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_GIT_H
#define SHIM_GIT_H

#include <stdbool.h>

struct err;
struct launch;

int git_read(struct launch *l, bool asked, struct err *e);

#endif
