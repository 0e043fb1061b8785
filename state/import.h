/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATE_IMPORT_H
#define STATE_IMPORT_H

#include <stdbool.h>

struct err;
struct store_news;
struct store_of;

int import_state(const struct store_of *of, int state, bool force, struct store_news *ret,
		 struct err *e);
int import_skills(const struct store_of *of, int skills, bool force, struct store_news *ret,
		  struct err *e);

#endif
