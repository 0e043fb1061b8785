/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_STRLIST_H
#define UTIL_STRLIST_H

#include <stdbool.h>
#include <stddef.h>

#include "cleanup.h"

struct err;

/**
 * struct strlist - a growing list of strings
 * @v:	The strings, owned, followed by a NULL so that it can serve as an argv; NULL while empty
 * @n:	How many
 *
 * { 0 } is the empty list.  strlist_done() releases it.
 */
struct strlist {
	char **v;
	size_t n;
};

int strlist_add(struct strlist *l, const char *s, struct err *e);
int strlist_add_fmt(struct strlist *l, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int strlist_add_words(struct strlist *l, const char *text, struct err *e);
bool strlist_has(const struct strlist *l, const char *s);
void strlist_clear(struct strlist *l);

static inline void strlist_done(struct strlist *l)
{
	strlist_clear(l);
}

#define cleanup_strlist CLEANUP(strlist_done)

#endif
