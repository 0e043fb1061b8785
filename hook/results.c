/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What a check of the host found, for people and for programs
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "err.h"
#include "json_out.h"
#include "results.h"

static const char *const words[] = {
	[HOST_OK] = "ok",
	[HOST_WARNING] = "warning",
	[HOST_PROBLEM] = "problem",
};

static void result_done(struct result *r)
{
	free(r->found);
	free(r->advice);
}

/**
 * results_add() - Append a result
 * @r:		Results
 * @take:	Result; what it owns is taken over, also on failure.  A string that it should have
 *		and has not is a failure: there was no memory for it.
 * @e:		Set on failure
 *
 * Return: 0, or -1 with the results as they were
 */
int results_add(struct results *r, struct result take, struct err *e)
{
	struct result *v = NULL;

	if (take.found != NULL && (take.level == HOST_OK || take.advice != NULL))
		v = reallocarray(r->v, r->n + 1, sizeof(*v));
	if (v == NULL) {
		result_done(&take);
		return err_set(e, ENOMEM, "allocate a result");
	}
	v[r->n++] = take;
	r->v = v;
	return 0;
}

/**
 * results_worst() - Say how good it looks as a whole
 * @r:		Results
 *
 * Return: the worst level
 */
enum host_level results_worst(const struct results *r)
{
	enum host_level worst = HOST_OK;

	for (size_t i = 0; i < r->n; i++)
		if (r->v[i].level > worst)
			worst = r->v[i].level;
	return worst;
}

/**
 * results_print() - Write a line for each result
 * @r:		Results
 * @out:	Where to; the caller looks for its errors
 */
void results_print(const struct results *r, FILE *out)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct result *one = &r->v[i];

		(void)fprintf(out, "%-8s %s: %s", words[one->level], one->name, one->found);
		if (one->level != HOST_OK)
			(void)fprintf(out, "; %s", one->advice);
		(void)fputc('\n', out);
	}
}

static void add_json(struct json_out *o, const struct result *r)
{
	json_out_open(o, '{');
	json_out_key(o, "name");
	json_out_string(o, r->name);
	json_out_key(o, "status");
	json_out_string(o, words[r->level]);
	json_out_key(o, "found");
	json_out_string(o, r->found);
	if (r->level != HOST_OK) {
		json_out_key(o, "advice");
		json_out_string(o, r->advice);
	}
	json_out_close(o, '}');
}

/**
 * results_print_json() - Write the results for programs, as docs/check.schema.json has it
 * @r:		Results
 * @out:	Where to; the caller looks for its errors
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int results_print_json(const struct results *r, FILE *out, struct err *e)
{
	cleanup_json_out struct json_out *o = json_out_new();

	json_out_open(o, '{');
	json_out_key(o, "version");
	json_out_integer(o, 1);
	json_out_key(o, "status");
	json_out_string(o, words[results_worst(r)]);
	json_out_key(o, "checks");
	json_out_open(o, '[');
	for (size_t i = 0; i < r->n; i++)
		add_json(o, &r->v[i]);
	json_out_close(o, ']');
	json_out_close(o, '}');
	return json_out_print(o, out, e);
}

/**
 * results_done() - Release results; they are empty afterwards
 * @r:		Results
 */
void results_done(struct results *r)
{
	for (size_t i = 0; i < r->n; i++)
		result_done(&r->v[i]);
	free(r->v);
	*r = (struct results){ 0 };
}
