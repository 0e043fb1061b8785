/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_SKILLS_H
#define SHIM_SKILLS_H

struct err;
struct launch;
struct strlist;

int skills_list(struct strlist *ret, struct err *e);
int skills_prepare(struct launch *l, struct err *e);

#endif
