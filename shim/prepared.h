/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_PREPARED_H
#define SHIM_PREPARED_H

#include <stdbool.h>
#include <stdio.h>

#include "cleanup.h"
#include "plan.h"
#include "strlist.h"

struct err;
struct launch;

/**
 * struct prepared - a launch that is ready to be carried out, or to be printed
 * @launch:	The launch, borrowed
 * @argv:	The agent's arguments, NULL at the end, borrowed
 * @mounts:	Its mounts
 * @env:	Its environment
 * @messages:	What is said before it, a line each
 * @missing:	Protected paths that the workspace lacks, relative
 * @to_make:	Folders that a launch makes first; none if it has made them
 * @to_import:	What it copies from the developer's state into a new store; likewise
 * @obstacles:	Why a launch would fail at that
 * @store:	fd that keeps the stores for this launch; -1: none
 * @share:	fd that keeps the overlay of .local/share; -1: none
 *
 * Owned by the caller; prepared_done() releases it.
 */
struct prepared {
	const struct launch *launch;
	char *const *argv;
	struct plan mounts;
	struct strlist env;
	struct strlist messages;
	struct strlist missing;
	struct strlist to_make;
	struct strlist to_import;
	struct strlist obstacles;
	int store;
	int share;
};

#define PREPARED_NONE                    \
	{                                \
		.store = -1, .share = -1 \
	}

int prepared_build(struct prepared *p, char *const vars[], struct err *e);
void prepared_done(struct prepared *p);

#define cleanup_prepared CLEANUP(prepared_done)

void prepared_print(FILE *f, const struct prepared *p);
int prepared_print_json(FILE *f, const struct prepared *p, struct err *e);

/* In a sandbox already: there is nothing to prepare */
void nested_print(FILE *f, const struct launch *l, char *const argv[]);
int nested_print_json(FILE *f, const struct launch *l, char *const argv[], struct err *e);

#endif
