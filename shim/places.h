/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_PLACES_H
#define SHIM_PLACES_H

#include <stdbool.h>
#include <stddef.h>

#include "cleanup.h"

struct err;

/**
 * struct place - something of the container that comes back in the sandbox
 * @real:	Where it is, all symlinks resolved
 * @named:	What it is called, clean; the same but for symlinks
 */
struct place {
	char *real;
	char *named;
};

/**
 * struct places - a growing list of them
 * @v:	The places, owned
 * @n:	How many
 *
 * { 0 } is the empty list.  places_done() releases it.
 */
struct places {
	struct place *v;
	size_t n;
};

int places_add(struct places *l, const char *real, const char *named, struct err *e);
bool places_hold(const struct places *l, const char *path);
bool places_have(const struct places *l, const char *named);
void places_done(struct places *l);

#define cleanup_places CLEANUP(places_done)

#endif
