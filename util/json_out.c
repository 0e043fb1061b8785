/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Writing JSON
 *
 * Without a library, since a static program writes it, too.  A failure is kept until the end, so
 * that callers read like what they write.  Text may come from an image, where a path is any bytes:
 * what is not UTF-8 becomes U+FFFD, byte for byte, since JSON can't hold it.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "json_out.h"
#include "utf8.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

#define DEPTH_MAX 32 /* of brackets */

/**
 * struct json_out - JSON in the making
 * @f:		Writes to @text
 * @text:	What was made, complete when @f is flushed
 * @size:	Bytes of it
 * @depth:	Brackets that are open
 * @filled:	Of each: it has an element already
 * @after_key:	A value has to follow
 */
struct json_out {
	FILE *f;
	char *text;
	size_t size;
	unsigned depth;
	bool filled[DEPTH_MAX + 1];
	bool after_key;
};

/**
 * json_out_new() - Begin to write JSON
 *
 * Return: what to write to, json_out_free() releases it.  NULL if there is no memory: then all
 *	   other functions do nothing, and json_out_print() fails.
 */
struct json_out *json_out_new(void)
{
	struct json_out *o = calloc(1, sizeof(*o));

	if (o == NULL)
		return NULL;
	o->f = open_memstream(&o->text, &o->size);
	if (o->f == NULL) {
		free(o);
		return NULL;
	}
	return o;
}

static void new_line(struct json_out *o)
{
	(void)fputc('\n', o->f);
	for (unsigned i = 0; i < o->depth; i++)
		(void)fputs("    ", o->f);
}

/* What stands before an element: none follows a key, a comma follows another element. */
static void begin(struct json_out *o)
{
	if (!o->after_key && o->depth > 0) {
		if (o->filled[o->depth])
			(void)fputc(',', o->f);
		new_line(o);
	}
	o->filled[o->depth] = true;
	o->after_key = false;
}

/**
 * json_out_open() - Begin an object or an array
 * @o:		Where to
 * @bracket:	'{' or '['
 */
void json_out_open(struct json_out *o, char bracket)
{
	if (o == NULL)
		return;
	begin(o);
	assert(o->depth < DEPTH_MAX);
	o->filled[++o->depth] = false;
	(void)fputc(bracket, o->f);
}

/**
 * json_out_close() - End an object or an array
 * @o:		Where to
 * @bracket:	'}' or ']'
 */
void json_out_close(struct json_out *o, char bracket)
{
	if (o == NULL)
		return;
	assert(o->depth > 0);
	if (o->filled[o->depth--])
		new_line(o);
	(void)fputc(bracket, o->f);
}

static void put_character(FILE *f, const char *text, size_t n)
{
	unsigned char c = (unsigned char)*text;

	if (c == '"' || c == '\\')
		(void)fprintf(f, "\\%c", c);
	else if (utf8_is_control(text)) /* JSON asks it for some, terminals obey all */
		(void)fprintf(f, "\\u%04x", n == 1 ? c : (unsigned char)text[1]);
	else
		(void)fwrite(text, 1, n, f);
}

static void put_string(FILE *f, const char *text)
{
	(void)fputc('"', f);
	while (*text != '\0') {
		size_t n = utf8_length(text);

		if (n == 0)
			(void)fputs(REPLACEMENT, f);
		else
			put_character(f, text, n);
		text += n == 0 ? 1 : n;
	}
	(void)fputc('"', f);
}

/**
 * json_out_string() - Add a string
 * @o:		Where to
 * @text:	Any bytes; those that are not UTF-8 become U+FFFD
 */
void json_out_string(struct json_out *o, const char *text)
{
	if (o == NULL)
		return;
	begin(o);
	put_string(o->f, text);
}

/**
 * json_out_key() - Add the key of the value that follows
 * @o:		Where to, in an object
 * @key:	Key
 */
void json_out_key(struct json_out *o, const char *key)
{
	if (o == NULL)
		return;
	begin(o);
	put_string(o->f, key);
	(void)fputs(": ", o->f);
	o->after_key = true;
}

/**
 * json_out_integer() - Add a number
 * @o:		Where to
 * @value:	Number
 */
void json_out_integer(struct json_out *o, long long value)
{
	if (o == NULL)
		return;
	begin(o);
	(void)fprintf(o->f, "%lld", value);
}

/**
 * json_out_bool() - Add true or false
 * @o:		Where to
 * @value:	Which
 */
void json_out_bool(struct json_out *o, bool value)
{
	if (o == NULL)
		return;
	begin(o);
	(void)fputs(value ? "true" : "false", o->f);
}

/**
 * json_out_print() - Write what was made; all that was opened must be closed
 * @o:		JSON
 * @f:		Where to; the caller looks for its errors
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int json_out_print(struct json_out *o, FILE *f, struct err *e)
{
	if (o == NULL || fflush(o->f) != 0 || ferror(o->f) != 0)
		return err_set(e, ENOMEM, "make JSON");
	(void)fwrite(o->text, 1, o->size, f);
	(void)fputc('\n', f);
	return 0;
}

/**
 * json_out_free() - Release JSON
 * @o:		What json_out_new() returned, or NULL
 */
void json_out_free(struct json_out *o)
{
	if (o == NULL)
		return;
	(void)fclose(o->f);
	free(o->text);
	free(o);
}
