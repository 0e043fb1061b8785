/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_PRIVILEGES_H
#define SHIM_PRIVILEGES_H

#include <stdbool.h>

struct err;

int keyring_leave(struct err *e);
int privileges_drop(struct err *e);
int seccomp_install(bool nested, struct err *e);

#endif
