/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_PLAN_SESSION_H
#define SHIM_PLAN_SESSION_H

struct err;
struct launch;
struct plan;

int plan_session(const struct launch *l, struct plan *p, struct err *e);

#endif
