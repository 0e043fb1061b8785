/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The sandbox's id maps, user_namespaces(7), as text
 *
 * Container root appears as agent-id inside: a process without capabilities can't map uid 0
 * again (the kernel wants CAP_SETFCAP for it), and the agents' own sandboxes have to map
 * themselves.  All other ids keep their number, so that files of every owner keep a name.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "err.h"
#include "idmap.h"

#define MAP_MAX_EXTENTS 340 /* the kernel's limit for a map */

/**
 * struct map_text - a map being written
 * @f:		Stream on the text
 * @extents:	Lines so far
 */
struct map_text {
	FILE *f;
	unsigned extents;
};

static void put(struct map_text *m, unsigned inside, unsigned outside, unsigned long count)
{
	if (count == 0)
		return;
	(void)fprintf(m->f, "%u %u %lu\n", inside, outside, count);
	m->extents++;
}

/* Identity for [first, end), but not for 0 and @agent_id, which is above 0. */
static void put_identity(struct map_text *m, unsigned long first, unsigned long end,
			 unsigned agent_id)
{
	const unsigned long holes[] = { 0, agent_id, end };

	for (size_t i = 0; i < N_ELEMENTS(holes); i++) {
		if (holes[i] < first || holes[i] > end)
			continue;
		put(m, (unsigned)first, (unsigned)first, holes[i] - first);
		first = holes[i] + 1;
	}
}

/**
 * idmap_single() - Map one id to itself: all that a user without capabilities may do
 * @id:		Id
 * @e:		Set on failure
 *
 * Return: map owned by the caller, NULL on failure
 */
char *idmap_single(unsigned id, struct err *e)
{
	char *text = NULL;

	if (asprintf(&text, "%u %u 1\n", id, id) < 0) {
		(void)err_set(e, ENOMEM, "allocate an id map");
		return NULL;
	}
	return text;
}

/**
 * idmap_swapped() - Map every id of the container to itself, but 0 and agent-id to each other
 * @parent_map:	/proc/self/uid_map or gid_map of the container
 * @agent_id:	Not 0
 * @e:		Set on failure
 *
 * Where the container doesn't have @agent_id, 0 takes its place alone.
 *
 * Return: map owned by the caller, NULL on failure
 */
char *idmap_swapped(const char *parent_map, unsigned agent_id, struct err *e)
{
	cleanup_free char *text = NULL;
	size_t size = 0;
	struct map_text m = { .f = open_memstream(&text, &size) };
	bool has_root = false, has_agent = false;
	unsigned long first, outside, count;

	if (m.f == NULL) {
		(void)err_set(e, ENOMEM, "allocate an id map");
		return NULL;
	}
	for (const char *line = parent_map;
	     sscanf(line, "%lu %lu %lu", &first, &outside, &count) == 3;) {
		has_root |= first == 0 && count > 0;
		has_agent |= first <= agent_id && agent_id - first < count;
		/* a line must not cross two extents of the parent's map */
		put_identity(&m, first, first + count, agent_id);
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	if (has_root)
		put(&m, agent_id, 0, 1);
	if (has_root && has_agent)
		put(&m, 0, agent_id, 1);
	if (fclose(m.f) != 0 || m.extents > MAP_MAX_EXTENTS || !has_root) {
		(void)err_set(e, 0, "the container's id map can't be carried over");
		return NULL;
	}
	return steal_ptr(&text);
}

/* The id in a field of passwd(5), or as it is. */
static void put_field(FILE *f, const char *field, size_t len, unsigned agent_id)
{
	char id[16];

	(void)snprintf(id, sizeof(id), "%u", agent_id);
	if (len == 1 && field[0] == '0')
		(void)fputs(id, f);
	else if (len == strlen(id) && strncmp(field, id, len) == 0)
		(void)fputc('0', f);
	else
		(void)fwrite(field, 1, len, f);
}

/**
 * idmap_swap_names() - Give the names of a container's ids to the ids of the sandbox
 * @text:	Content of passwd(5) or group(5)
 * @agent_id:	As for idmap_swapped()
 * @e:		Set on failure
 *
 * So that who a file belongs to reads inside as it does outside, and the agent has a name.
 *
 * Return: text owned by the caller, NULL on failure
 */
char *idmap_swap_names(const char *text, unsigned agent_id, struct err *e)
{
	cleanup_free char *ret = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&ret, &size);
	unsigned field = 0;

	if (f == NULL) {
		(void)err_set(e, ENOMEM, "allocate a text");
		return NULL;
	}
	for (const char *p = text; *p != '\0';) {
		size_t len = strcspn(p, ":\n");

		if (field == 2 || field == 3) /* uid and gid, or gid and members */
			put_field(f, p, len, agent_id);
		else
			(void)fwrite(p, 1, len, f);
		p += len;
		field = *p == ':' ? field + 1 : 0;
		if (*p != '\0')
			(void)fputc(*p++, f);
	}
	if (fclose(f) != 0) {
		(void)err_set(e, ENOMEM, "allocate a text");
		return NULL;
	}
	return steal_ptr(&ret);
}
