/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "strlist.h"

/* Appends @take, which it owns from here on, also on failure. */
static int add_taken(struct strlist *l, char *take, struct err *e)
{
	char **v;

	if (take == NULL)
		return err_set(e, ENOMEM, "allocate a string");

	v = reallocarray(l->v, l->n + 2, sizeof(*v));
	if (v == NULL) {
		free(take);
		return err_set(e, ENOMEM, "allocate a list");
	}
	l->v = v;
	l->v[l->n++] = take;
	l->v[l->n] = NULL;
	return 0;
}

/**
 * strlist_add() - Append a copy of a string
 * @l:		List
 * @s:		String
 * @e:		Set on failure
 *
 * Return: 0, or -1 with the list as it was
 */
int strlist_add(struct strlist *l, const char *s, struct err *e)
{
	return add_taken(l, strdup(s), e);
}

/**
 * strlist_add_fmt() - Append a formatted string
 * @l:		List
 * @e:		Set on failure
 * @fmt:	As printf(3)
 *
 * Return: 0, or -1 with the list as it was
 */
int strlist_add_fmt(struct strlist *l, struct err *e, const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return add_taken(l, n < 0 ? NULL : s, e);
}

/**
 * strlist_add_words() - Append each of the words of a text
 * @l:		List
 * @text:	Words between spaces and tabs
 * @e:		Set on failure
 *
 * Return: 0, or -1 (the list then has some of them)
 */
int strlist_add_words(struct strlist *l, const char *text, struct err *e)
{
	for (const char *p = text + strspn(text, " \t"); *p != '\0'; p += strspn(p, " \t")) {
		size_t n = strcspn(p, " \t");

		if (add_taken(l, strndup(p, n), e) < 0)
			return -1;
		p += n;
	}
	return 0;
}

/**
 * strlist_has() - Say whether a string is in a list
 * @l:		List
 * @s:		String
 *
 * Return: true if it is
 */
bool strlist_has(const struct strlist *l, const char *s)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i], s) == 0)
			return true;
	return false;
}

/**
 * strlist_clear() - Release the strings; the list is empty afterwards
 * @l:		List
 */
void strlist_clear(struct strlist *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->v[i]);
	free(l->v);
	*l = (struct strlist){ 0 };
}
