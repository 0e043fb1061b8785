/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUNTIME_SPEC_HOOKS_D_H
#define RUNTIME_SPEC_HOOKS_D_H

#include <stdbool.h>
#include <stdio.h>

#include "cleanup.h"

struct err;
struct strlist;
struct yajl_val_s;

#define HOOKS_D_MAX_BYTES (64 * 1024)

/**
 * struct hooks_d - what is read of a hook description
 * @tree:	Owns the strings below
 * @path:	Program that the engine calls
 * @command:	Its last argument, which tells it the stage; NULL if it has none
 * @at_create:	It is called before a container's process runs: createRuntime, or prestart,
 *		which engines take for the same
 * @at_poststart: It is called once the process was started
 * @always:	It is called for every container
 *
 * Owned by the caller; hooks_d_done() releases it.
 */
struct hooks_d {
	struct yajl_val_s *tree;
	const char *path;
	const char *command;
	bool at_create;
	bool at_poststart;
	bool always;
};

int hooks_d_print(FILE *f, const char *path, const struct strlist *args, const char *stage,
		  struct err *e);
int hooks_d_print_string(FILE *f, const char *text, struct err *e);
int hooks_d_parse(const char *text, struct hooks_d *ret, struct err *e);
void hooks_d_done(struct hooks_d *h);

#define cleanup_hooks_d CLEANUP(hooks_d_done)

#endif
