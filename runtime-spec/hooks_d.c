/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Hook descriptions, version 1.0.0, as podman and CRI-O read them
 *
 * oci-hooks(5) of containers/common.  podman leaves a description out without a word when the
 * program that it names is not there.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <yajl/yajl_gen.h>

#include "err.h"
#include "hooks_d.h"
#include "json.h"
#include "strlist.h"

/* Seconds.  Without it a hook that hangs hangs the engine for ever. */
#define TIMEOUT 10

static void gen_p(yajl_gen *g)
{
	if (*g != NULL)
		yajl_gen_free(*g);
}

/**
 * hooks_d_print_string() - Write a string as JSON does, and TOML too
 * @f:		Where to
 * @text:	The string
 * @e:		Set on failure: @text is not UTF-8, which no JSON can hold
 *
 * Return: 0 on success, -1 on failure
 */
int hooks_d_print_string(FILE *f, const char *text, struct err *e)
{
	CLEANUP(gen_p) yajl_gen g = yajl_gen_alloc(NULL);
	const unsigned char *json;
	size_t n;

	if (g == NULL || !yajl_gen_config(g, yajl_gen_validate_utf8, 1))
		return err_set(e, ENOMEM, "allocate a JSON string");
	if (yajl_gen_string(g, (const unsigned char *)text, strlen(text)) != yajl_gen_status_ok ||
	    yajl_gen_get_buf(g, &json, &n) != yajl_gen_status_ok)
		return err_set(e, EILSEQ, "%s", text);
	(void)fwrite(json, 1, n, f);
	return 0;
}

/**
 * hooks_d_print() - Write the description of a hook that is called for every container
 * @f:		Where to; the caller looks for its errors
 * @path:	Program, absolute
 * @args:	Its arguments, argv[0] among them
 * @stage:	When it is called.  One description has one list of arguments: a hook that has to
 *		know its stage has a description for each.
 * @e:		Set on failure
 *
 * The hook gets one variable: without any, runtimes written in Go pass their own environment on.
 *
 * Return: 0 on success, -1 on failure
 */
int hooks_d_print(FILE *f, const char *path, const struct strlist *args, const char *stage,
		  struct err *e)
{
	(void)fputs("{\n\t\"version\": \"1.0.0\",\n\t\"hook\": {\n\t\t\"path\": ", f);
	if (hooks_d_print_string(f, path, e) < 0)
		return -1;
	(void)fputs(",\n\t\t\"args\": [", f);
	for (size_t i = 0; i < args->n; i++) {
		(void)fputs(i > 0 ? ", " : "", f);
		if (hooks_d_print_string(f, args->v[i], e) < 0)
			return -1;
	}
	(void)fprintf(f,
		      "],\n\t\t\"env\": [\"PATH=/usr/sbin:/usr/bin:/sbin:/bin\"],\n"
		      "\t\t\"timeout\": %d\n\t},\n\t\"when\": {\"always\": true},\n"
		      "\t\"stages\": [\"%s\"]\n}\n",
		      TIMEOUT, stage);
	return 0;
}

static int set_command(yajl_val v, void *dst, struct err *e)
{
	if (!YAJL_IS_ARRAY(v))
		return err_set(e, 0, "not an array");
	if (v->u.array.len == 0)
		return 0;
	return json_string(v->u.array.values[v->u.array.len - 1], dst, e);
}

static int set_hook(yajl_val v, void *dst, struct err *e)
{
	static const struct json_field fields[] = {
		{ "path", json_string, offsetof(struct hooks_d, path), true },
		{ "args", set_command, offsetof(struct hooks_d, command), false },
	};

	return json_fill(v, fields, N_ELEMENTS(fields), dst, e);
}

static int set_always(yajl_val v, void *dst, struct err *e)
{
	if (!YAJL_IS_TRUE(v) && !YAJL_IS_FALSE(v))
		return err_set(e, 0, "neither true nor false");
	*(bool *)dst = YAJL_IS_TRUE(v);
	return 0;
}

static int set_when(yajl_val v, void *dst, struct err *e)
{
	static const struct json_field fields[] = {
		{ "always", set_always, offsetof(struct hooks_d, always), false },
	};

	return json_fill(v, fields, N_ELEMENTS(fields), dst, e);
}

static int set_stages(yajl_val v, void *dst, struct err *e)
{
	struct hooks_d *h = dst;
	const char *stage;

	if (!YAJL_IS_ARRAY(v))
		return err_set(e, 0, "not an array");
	for (size_t i = 0; i < v->u.array.len; i++) {
		if (json_string(v->u.array.values[i], &stage, e) < 0)
			return -1;
		if (strcmp(stage, "createRuntime") == 0 || strcmp(stage, "prestart") == 0)
			h->at_create = true;
		if (strcmp(stage, "poststart") == 0)
			h->at_poststart = true;
	}
	return 0;
}

static const struct json_field description_fields[] = {
	{ "hook", set_hook, 0, true },
	{ "when", set_when, 0, false },
	{ "stages", set_stages, 0, false },
};

/**
 * hooks_d_parse() - Read a hook description
 * @text:	JSON text
 * @ret:	Filled on success, untouched on failure
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int hooks_d_parse(const char *text, struct hooks_d *ret, struct err *e)
{
	cleanup_hooks_d struct hooks_d h = { .tree = json_parse(text, NULL, e) };

	if (h.tree == NULL ||
	    json_fill(h.tree, description_fields, N_ELEMENTS(description_fields), &h, e) < 0)
		return -1;

	*ret = h;
	h = (struct hooks_d){ 0 };
	return 0;
}

/**
 * hooks_d_done() - Release what a description owns; it is empty afterwards
 * @h:		Description
 */
void hooks_d_done(struct hooks_d *h)
{
	json_free(h->tree);
	*h = (struct hooks_d){ 0 };
}
