/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The line format that policy, profiles and manifest share
 *
 * One directive a line: "key = value", or a bare key; "#" starts a comment at the start of a
 * line or after white space.  What isn't understood is an error that names file, line and key:
 * a policy with a typing error must stop the container, not loosen it.
 */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "directives.h"
#include "env.h"
#include "err.h"
#include "path.h"
#include "strlist.h"

#define MAX_DIRECTIVES 64 /* rows of a table: one bit each tells what was given already */

static const struct directive *find(const struct directive *table, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(table[i].key, key) == 0)
			return &table[i];
	return NULL;
}

/* Cuts the comment and the white space at both ends. */
static char *trim(char *line)
{
	char *end;

	line += strspn(line, " \t");
	for (char *p = line; (p = strchr(p, '#')) != NULL; p++)
		if (p == line || p[-1] == ' ' || p[-1] == '\t') {
			*p = '\0';
			break;
		}

	end = line + strlen(line);
	while (end > line && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = '\0';
	return line;
}

/* A carriage return or an escape sequence would make an error message lie on a terminal. */
static const char *find_control(const char *line)
{
	for (const char *p = line; *p != '\0'; p++)
		if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f)
			return p;
	return NULL;
}

static int apply(const struct directive *d, const char *value, void *dst, struct err *e)
{
	if (d->bare && value != NULL)
		return err_set(e, 0, "%s: takes no value", d->key);
	if (!d->bare && (value == NULL || value[0] == '\0'))
		return err_set(e, 0, "%s: the value is missing (write `%s = VALUE`)", d->key,
			       d->key);
	if (d->set((char *)dst + d->offset, d->bare ? "" : value, e) < 0)
		return err_wrap(e, "%s", d->key);
	return 0;
}

static int read_line(char *line, const struct directive *table, size_t n, void *dst,
		     uint64_t *given, struct err *e)
{
	const struct directive *d;
	char *key, *value;

	if (find_control(line) != NULL)
		return err_set(e, 0,
			       "control character 0x%02x (save the file with plain line ends)",
			       (unsigned char)*find_control(line));
	key = trim(line);
	if (key[0] == '\0')
		return 0;

	value = strchr(key, '=');
	if (value != NULL) {
		*value++ = '\0';
		value = trim(value);
		key = trim(key);
	}

	d = find(table, n, key);
	if (d == NULL)
		return err_set(e, 0, "unknown key `%.60s`", key);
	if (d->single && (*given & (UINT64_C(1) << (d - table))) != 0)
		return err_set(e, 0, "%s: given twice", key);
	*given |= UINT64_C(1) << (d - table);
	return apply(d, value, dst, e);
}

/**
 * directives_read() - Read a file of directives
 * @text:	Its content, cut up while it is read
 * @name:	Its name, for errors
 * @table:	The keys that it may have, at most 64
 * @n:		Rows in @table
 * @dst:	Structure that the rows' offsets are of
 * @e:		Set on failure: "NAME:LINE: KEY: why"
 *
 * Return: 0 on success, -1 on failure (@dst is then half filled: drop it)
 */
int directives_read(char *text, const char *name, const struct directive *table, size_t n,
		    void *dst, struct err *e)
{
	static const char bom[] = "\xef\xbb\xbf"; /* U+FEFF in UTF-8 */
	uint64_t given = 0;
	unsigned number = 1;

	if (n > MAX_DIRECTIVES)
		return err_set(e, EINVAL, "%s: more than %d keys are known", name, MAX_DIRECTIVES);
	if (strncmp(text, bom, strlen(bom)) == 0)
		return err_set(e, 0, "%s:1: a byte order mark (save the file without it)", name);

	for (char *line = text; line != NULL; number++) {
		char *next = strchr(line, '\n');

		if (next != NULL)
			*next++ = '\0';
		if (read_line(line, table, n, dst, &given, e) < 0)
			return err_wrap(e, "%s:%u", name, number);
		line = next;
	}
	return 0;
}

/* Stores the value as it is, for a char * member. */
int directive_string(void *member, const char *value, struct err *e)
{
	char *s = strdup(value);

	if (s == NULL)
		return err_set(e, ENOMEM, "allocate a string");
	free(*(char **)member);
	*(char **)member = s;
	return 0;
}

/* Stores an absolute path, made clean, for a char * member. */
int directive_path(void *member, const char *value, struct err *e)
{
	char *s = path_clean(value, e);

	if (s == NULL)
		return -1;
	free(*(char **)member);
	*(char **)member = s;
	return 0;
}

/* Appends names of variables that may be passed, for a struct strlist member. */
int directive_env(void *member, const char *value, struct err *e)
{
	cleanup_strlist struct strlist words = { 0 };

	if (strlist_add_words(&words, value, e) < 0)
		return -1;
	for (size_t i = 0; i < words.n; i++)
		if (env_name_check(words.v[i], e) < 0 || strlist_add(member, words.v[i], e) < 0)
			return -1;
	return 0;
}

/**
 * directive_number() - Read a decimal number
 * @value:	Digits and nothing else
 * @min:	What it is at least
 * @max:	What it is at most
 * @ret:	Filled on success
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int directive_number(const char *value, unsigned long min, unsigned long max, unsigned long *ret,
		     struct err *e)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(value, &end, 10);
	if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 || number < min ||
	    number > max)
		return err_set(e, 0, "`%.60s` is not a number from %lu to %lu", value, min, max);
	*ret = number;
	return 0;
}

/* Stores a TCP port, for a uint32_t member. */
int directive_port(void *member, const char *value, struct err *e)
{
	unsigned long port;

	if (directive_number(value, 1, UINT16_MAX, &port, e) < 0)
		return -1;
	*(uint32_t *)member = (uint32_t)port;
	return 0;
}
