/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The text of /proc/PID/uid_map and gid_map, user_namespaces(7)
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "err.h"
#include "id_map.h"

struct extent {
	uint32_t inside;
	uint32_t outside;
	uint32_t size;
};

/* The extent at @map, which is moved behind it; false at its end. */
static bool next(const char **map, struct extent *ret)
{
	if (sscanf(*map, "%" SCNu32 " %" SCNu32 " %" SCNu32, &ret->inside, &ret->outside,
		   &ret->size) != 3)
		return false;
	*map += strcspn(*map, "\n");
	*map += **map == '\n';
	return true;
}

/**
 * id_map_outside() - Say what an id of a user namespace is outside of it
 * @map:	Its map
 * @inside:	Id
 * @ret:	Set on success
 *
 * Return: true on success, false if the namespace does not have the id
 */
bool id_map_outside(const char *map, uint32_t inside, uint32_t *ret)
{
	struct extent x;

	while (next(&map, &x))
		if (x.inside <= inside && inside - x.inside < x.size) {
			*ret = x.outside + (inside - x.inside);
			return true;
		}
	return false;
}

/**
 * id_map_inside() - Say what an id is inside of a user namespace
 * @map:	Its map
 * @outside:	Id
 * @ret:	Set on success
 *
 * Return: true on success, false if the namespace does not have the id
 */
bool id_map_inside(const char *map, uint32_t outside, uint32_t *ret)
{
	struct extent x;

	while (next(&map, &x))
		if (x.outside <= outside && outside - x.outside < x.size) {
			*ret = x.inside + (outside - x.outside);
			return true;
		}
	return false;
}

/**
 * id_map_identity() - Map every id of a user namespace to itself, for one below it
 * @map:	Map of the namespace.  A line of the other must not cross two of its extents:
 *		user_namespaces(7)
 * @e:		Set on failure: memory
 *
 * Return: map owned by the caller, NULL on failure
 */
char *id_map_identity(const char *map, struct err *e)
{
	cleanup_free char *text = NULL;
	struct extent x;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (f == NULL) {
		(void)err_set(e, ENOMEM, "allocate an id map");
		return NULL;
	}
	while (next(&map, &x))
		(void)fprintf(f, "%" PRIu32 " %" PRIu32 " %" PRIu32 "\n", x.inside, x.inside,
			      x.size);
	if (fclose(f) != 0) {
		(void)err_set(e, ENOMEM, "allocate an id map");
		return NULL;
	}
	return steal_ptr(&text);
}
