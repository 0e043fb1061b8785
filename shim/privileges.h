/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_PRIVILEGES_H
#define SHIM_PRIVILEGES_H

struct err;

int privileges_drop(struct err *e);
int seccomp_install(struct err *e);

#endif
