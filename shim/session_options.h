/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_SESSION_OPTIONS_H
#define SHIM_SESSION_OPTIONS_H

struct arguments;
struct err;
struct launch;

int session_apply(const struct arguments *a, struct launch *l, struct err *e);

#endif
