/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Writing JSON
 *
 * A failure is kept until the end, so that callers read like what they write.  Text may come from
 * an image, where a path is any bytes: what is not UTF-8 becomes U+FFFD, byte for byte, since
 * JSON can't hold it.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "err.h"
#include "json_out.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/**
 * struct json_out - JSON in the making
 * @gen:	yajl's generator
 * @failed:	Something could not be added
 */
struct json_out {
	yajl_gen gen;
	bool failed;
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
	o->gen = yajl_gen_alloc(NULL);
	if (o->gen == NULL) {
		free(o);
		return NULL;
	}
	o->failed = !yajl_gen_config(o->gen, yajl_gen_beautify, 1);
	return o;
}

static void note(struct json_out *o, yajl_gen_status status)
{
	if (status != yajl_gen_status_ok)
		o->failed = true;
}

/**
 * json_out_open() - Begin an object or an array
 * @o:		Where to
 * @bracket:	'{' or '['
 */
void json_out_open(struct json_out *o, char bracket)
{
	if (o != NULL)
		note(o, bracket == '{' ? yajl_gen_map_open(o->gen) : yajl_gen_array_open(o->gen));
}

/**
 * json_out_close() - End an object or an array
 * @o:		Where to
 * @bracket:	'}' or ']'
 */
void json_out_close(struct json_out *o, char bracket)
{
	if (o != NULL)
		note(o, bracket == '}' ? yajl_gen_map_close(o->gen) : yajl_gen_array_close(o->gen));
}

/* RFC 3629, section 4: bytes of the character at @p, 0 if there is none. */
static size_t utf8_length(const unsigned char *p)
{
	static const struct {
		unsigned char first, last; /* of the first byte */
		unsigned char second_min, second_max;
		size_t length;
	} forms[] = {
		{ 0x01, 0x7f, 0, 0xff, 1 },    { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};

	for (size_t i = 0; i < N_ELEMENTS(forms); i++) {
		if (p[0] < forms[i].first || p[0] > forms[i].last)
			continue;
		if (forms[i].length > 1 &&
		    (p[1] < forms[i].second_min || p[1] > forms[i].second_max))
			return 0;
		/* The NUL at the end is no such byte, so nothing behind it is read */
		for (size_t k = 2; k < forms[i].length; k++)
			if ((p[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].length;
	}
	return 0;
}

/* Returns NULL if there is no memory. */
static char *make_utf8(const char *text)
{
	char *ret = malloc(strlen(text) * strlen(REPLACEMENT) + 1);
	char *to = ret;

	if (ret == NULL)
		return NULL;
	while (*text != '\0') {
		size_t n = utf8_length((const unsigned char *)text);

		if (n == 0) {
			to = mempcpy(to, REPLACEMENT, strlen(REPLACEMENT));
			text++;
		} else {
			to = mempcpy(to, text, n);
			text += n;
		}
	}
	*to = '\0';
	return ret;
}

/**
 * json_out_string() - Add a string
 * @o:		Where to
 * @text:	Any bytes; those that are not UTF-8 become U+FFFD
 */
void json_out_string(struct json_out *o, const char *text)
{
	cleanup_free char *utf8 = o == NULL ? NULL : make_utf8(text);

	if (o == NULL)
		return;
	if (utf8 == NULL)
		o->failed = true;
	else
		note(o, yajl_gen_string(o->gen, (const unsigned char *)utf8, strlen(utf8)));
}

/**
 * json_out_key() - Add the key of the value that follows
 * @o:		Where to, in an object
 * @key:	Key
 */
void json_out_key(struct json_out *o, const char *key)
{
	json_out_string(o, key);
}

/**
 * json_out_integer() - Add a number
 * @o:		Where to
 * @value:	Number
 */
void json_out_integer(struct json_out *o, long long value)
{
	if (o != NULL)
		note(o, yajl_gen_integer(o->gen, value));
}

/**
 * json_out_bool() - Add true or false
 * @o:		Where to
 * @value:	Which
 */
void json_out_bool(struct json_out *o, bool value)
{
	if (o != NULL)
		note(o, yajl_gen_bool(o->gen, value));
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
	const unsigned char *text;
	size_t n;

	if (o == NULL || o->failed || yajl_gen_get_buf(o->gen, &text, &n) != yajl_gen_status_ok)
		return err_set(e, ENOMEM, "make JSON");
	(void)fwrite(text, 1, n, f);
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
	yajl_gen_free(o->gen);
	free(o);
}
