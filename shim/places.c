/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "path.h"
#include "places.h"

/**
 * places_add() - Add a place, after those that could hold it
 * @l:		List
 * @real:	Copied
 * @named:	Copied
 * @e:		Set on failure
 *
 * The order is that of the names' length, so that a folder is there before what is in it.
 *
 * Return: 0, or -1 with the list as it was
 */
int places_add(struct places *l, const char *real, const char *named, struct err *e)
{
	cleanup_free char *r = strdup(real), *n = strdup(named);
	struct place *v = reallocarray(l->v, l->n + 1, sizeof(*v));
	size_t at = l->n;

	if (v != NULL)
		l->v = v;
	if (v == NULL || r == NULL || n == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	for (; at > 0 && strlen(v[at - 1].real) > strlen(real); at--)
		v[at] = v[at - 1];
	v[at].real = steal_ptr(&r);
	v[at].named = steal_ptr(&n);
	l->n++;
	return 0;
}

/**
 * places_hold() - Say whether a path is one of the places, or in one
 * @l:		List
 * @path:	Clean path, all symlinks resolved
 *
 * Return: true if it is
 */
bool places_hold(const struct places *l, const char *path)
{
	for (size_t i = 0; i < l->n; i++)
		if (path_is_at_or_below(path, l->v[i].real))
			return true;
	return false;
}

/**
 * places_have() - Say whether a place goes by a name
 * @l:		List
 * @named:	Name
 *
 * Return: true if one does
 */
bool places_have(const struct places *l, const char *named)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].named, named) == 0)
			return true;
	return false;
}

/**
 * places_done() - Release what a list owns; it is empty afterwards
 * @l:		List
 */
void places_done(struct places *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].real);
		free(l->v[i].named);
	}
	free(l->v);
	*l = (struct places){ 0 };
}
