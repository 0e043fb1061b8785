/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_PLAN_OPS_H
#define SHIM_PLAN_OPS_H

#include <stdbool.h>

#include "plan.h"

/* Inside the home */
#define SHARE_CACHE ".cache"
#define SHARE_DATA ".local/share"
#define SHARE_SKILLS ".agents/skills"

#define SESSION_FACTS RUN_SESSION "/facts"
#define SESSION_SIGNING RUN_SESSION "/signing"
#define SESSION_GITCONFIG RUN_SESSION "/gitconfig"

int plan_add(struct plan *p, enum op_kind kind, unsigned flags, const char *source,
	     const char *target, struct err *e);
int plan_add_file(struct plan *p, const char *text, const char *target, struct err *e);
int plan_add_overlay(struct plan *p, const char *lower, const char *store, const char *target,
		     struct err *e);
int plan_add_mode(struct plan *p, enum op_kind kind, mode_t mode, const char *target,
		  struct err *e);
bool plan_has(const struct plan *p, enum op_kind kind, const char *target);

#endif
