/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What the hook does to a container, for people and for programs
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "json_out.h"
#include "steps.h"

/**
 * struct kind - how a kind of step is written
 * @name:	For programs
 * @prefix:	For people: before what it is
 * @infix:	For people: between what it is and its path; NULL if the path says it all
 */
static const struct kind {
	const char *name;
	const char *prefix;
	const char *infix;
} kinds[] = {
	[STEP_NOTE] = { "note", "note: ", "" },
	[STEP_NAMESPACE] = { "namespace", "enter: ", "" },
	[STEP_RULE] = { "rule", "", "" },
	[STEP_MOUNT] = { "mount", "mount: ", " " },
	[STEP_NAME] = { "name", "mount: ", " " },
	[STEP_AGENT] = { "agent", "agent: ", " is " },
	[STEP_ENGINE_MOUNT] = { "engine-mount", "engine's mount: ", NULL },
	[STEP_WARNING] = { "warning", "warning: ", "" },
};

static void step_done(struct step *s)
{
	free(s->what);
	free(s->target);
	free(s->source);
}

static int grow(struct steps *s, struct err *e)
{
	size_t size = 2 * s->size + 64;
	struct step *v = reallocarray(s->v, size, sizeof(*v));

	if (v == NULL)
		return err_set(e, ENOMEM, "allocate the steps");
	s->v = v;
	s->size = size;
	return 0;
}

/**
 * steps_add_path() - Append a step that is about a path
 * @s:		Steps
 * @kind:	Of what kind
 * @what:	What it is, for people
 * @target:	Path in the container; NULL if it is about none
 * @source:	Path in the container of what is attached there, or NULL
 * @e:		Set on failure
 *
 * Return: 0, or -1 with the steps as they were
 */
int steps_add_path(struct steps *s, enum step_kind kind, const char *what, const char *target,
		   const char *source, struct err *e)
{
	struct step step = { .kind = kind, .what = strdup(what) };

	if (target != NULL)
		step.target = strdup(target);
	if (source != NULL)
		step.source = strdup(source);
	if (step.what == NULL || (target != NULL && step.target == NULL) ||
	    (source != NULL && step.source == NULL) || (s->n == s->size && grow(s, e) < 0)) {
		step_done(&step);
		return err_set(e, ENOMEM, "allocate a step");
	}
	s->v[s->n++] = step;
	return 0;
}

/**
 * steps_add() - Append a step
 * @s:		Steps
 * @kind:	Of what kind
 * @what:	What it is, for people
 * @e:		Set on failure
 *
 * Return: 0, or -1 with the steps as they were
 */
int steps_add(struct steps *s, enum step_kind kind, const char *what, struct err *e)
{
	return steps_add_path(s, kind, what, NULL, NULL, e);
}

/* Paths are the image's to choose: none may move a terminal's cursor. */
static void print_path(FILE *f, const char *path)
{
	for (; *path != '\0'; path++) {
		unsigned char c = (unsigned char)*path;

		if (c < 0x20 || c == 0x7f || c == '\\')
			(void)fprintf(f, "\\%03o", c);
		else
			(void)fputc(c, f);
	}
}

/**
 * steps_print() - Write a line for each step
 * @s:		Steps
 * @f:		Where to; the caller looks for its errors
 */
void steps_print(const struct steps *s, FILE *f)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct step *step = &s->v[i];
		const struct kind *kind = &kinds[step->kind];

		(void)fputs(kind->prefix, f);
		if (kind->infix != NULL)
			(void)fprintf(f, "%s%s", step->what, kind->infix);
		if (step->target != NULL)
			print_path(f, step->target);
		if (step->source != NULL) {
			(void)fputs(" from ", f);
			print_path(f, step->source);
		}
		(void)fputc('\n', f);
	}
}

static void add_string(struct json_out *o, const char *key, const char *value)
{
	if (value == NULL)
		return;
	json_out_key(o, key);
	json_out_string(o, value);
}

/**
 * steps_add_json() - Add an array of the steps, as docs/check.schema.json has it
 * @s:		Steps
 * @o:		JSON
 */
void steps_add_json(const struct steps *s, struct json_out *o)
{
	json_out_open(o, '[');
	for (size_t i = 0; i < s->n; i++) {
		json_out_open(o, '{');
		add_string(o, "kind", kinds[s->v[i].kind].name);
		add_string(o, "what", s->v[i].what);
		add_string(o, "target", s->v[i].target);
		add_string(o, "source", s->v[i].source);
		json_out_close(o, '}');
	}
	json_out_close(o, ']');
}

/**
 * steps_done() - Release steps; they are empty afterwards
 * @s:		Steps
 */
void steps_done(struct steps *s)
{
	for (size_t i = 0; i < s->n; i++)
		step_done(&s->v[i]);
	free(s->v);
	*s = (struct steps){ 0 };
}
