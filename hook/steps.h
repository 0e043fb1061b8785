/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_STEPS_H
#define HOOK_STEPS_H

#include <stdio.h>

#include "cleanup.h"

struct err;
struct json_out;

enum step_kind {
	STEP_NOTE,         /* what is not known before the container runs */
	STEP_NAMESPACE,    /* one that the hook enters */
	STEP_RULE,         /* what the container may reach */
	STEP_MOUNT,        /* something attached at a path */
	STEP_NAME,         /* a name of ours that is made, and then covered */
	STEP_AGENT,        /* what the shim is told to run */
	STEP_ENGINE_MOUNT, /* what the shim is told that the engine mounted */
	STEP_WARNING,      /* what takes a part of it back */
};

/**
 * struct step - a thing that the hook does to a container
 * @kind:	Of what kind
 * @what:	What it is, for people; owned
 * @target:	Path in the container, any bytes; owned, NULL if it is about none
 * @source:	Path in the container of what is attached there; owned, else NULL
 */
struct step {
	enum step_kind kind;
	char *what;
	char *target;
	char *source;
};

/**
 * struct steps - all that it does
 * @v:		In the order of execution
 * @n:		How many
 * @size:	Room in @v
 *
 * Owned by the caller; steps_done() releases it.
 */
struct steps {
	struct step *v;
	size_t n;
	size_t size;
};

int steps_add(struct steps *s, enum step_kind kind, const char *what, struct err *e);
int steps_add_path(struct steps *s, enum step_kind kind, const char *what, const char *target,
		   const char *source, struct err *e);
void steps_print(const struct steps *s, FILE *f);
void steps_add_json(const struct steps *s, struct json_out *o);
void steps_done(struct steps *s);

#define cleanup_steps CLEANUP(steps_done)

#endif
