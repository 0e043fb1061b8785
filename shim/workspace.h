/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_WORKSPACE_H
#define SHIM_WORKSPACE_H

struct err;

int workspace_check(const char *path, const char *home, int named, struct err *e);

#endif
