/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: oci-sandbox state: what an agent keeps, by the developer's word
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "cli.h"
#include "err.h"
#include "home.h"
#include "path.h"
#include "run_dir.h"
#include "state.h"
#include "store.h"

static int run_path(const struct store_of *of, const struct cli_arguments *a, struct err *e)
{
	cleanup_free char *path = path_join(of->root, of->profile->name, e);

	(void)a;
	return path == NULL || puts(path) < 0 ? -1 : 0;
}

static int run_import(const struct store_of *of, const struct cli_arguments *a, struct err *e)
{
	cleanup_store_news struct store_news news = { 0 };
	int result = store_import_again(of, (a->options & CLI_FORCE) != 0, &news, e);

	for (size_t i = 0; i < news.imported.n; i++)
		(void)printf("imported      %s\n", news.imported.v[i]);
	for (size_t i = 0; i < news.left_out.n; i++)
		(void)printf("not imported  %s\n", news.left_out.v[i]);
	return result;
}

static int run_reset(const struct store_of *of, const struct cli_arguments *a, struct err *e)
{
	(void)a;
	return store_reset(of, e);
}

/**
 * struct verb - what may be done with a store
 * @name:	Word
 * @force:	It knows --force
 * @run:	Returns 0, or -1 with @e set
 */
static const struct verb {
	const char *name;
	bool force;
	int (*run)(const struct store_of *of, const struct cli_arguments *a, struct err *e);
} verbs[] = {
	{ "path", false, run_path },
	{ "import", true, run_import },
	{ "reset", false, run_reset },
};

static const struct verb *find_verb(const struct cli_arguments *a)
{
	for (size_t i = 0; i < N_ELEMENTS(verbs); i++)
		if (strcmp(verbs[i].name, a->operands[0]) == 0)
			return verbs[i].force || (a->options & CLI_FORCE) == 0 ? &verbs[i] : NULL;
	return NULL;
}

static const struct profile *find_profile(const struct run_dir *r, const char *name)
{
	for (size_t i = 0; i < r->n_profiles; i++)
		if (strcmp(r->profiles[i].name, name) == 0)
			return &r->profiles[i];
	return NULL;
}

static int status_of(const struct err *e)
{
	if (e->code == EBUSY)
		return EX_TEMPFAIL;
	return e->code == ENOENT ? EX_NOINPUT : EX_CANTCREAT;
}

/**
 * state_run() - Do what `oci-sandbox state VERB AGENT` asks for
 * @r:		What is known of the container; the caller has seen that this is no sandbox
 * @a:		Command line
 * @e:		Set on failure
 *
 * Return: an exit status
 */
int state_run(const struct run_dir *r, const struct cli_arguments *a, struct err *e)
{
	const struct verb *verb = find_verb(a);
	struct store_of of = { .uid = geteuid() };
	cleanup_free char *home = NULL, *root = NULL;

	if (verb == NULL) {
		(void)err_set(e, 0, "`state %.60s` with these arguments is not known: see help",
			      a->operands[0]);
		return EX_USAGE;
	}
	of.profile = find_profile(r, a->operands[1]);
	if (of.profile == NULL) {
		(void)err_set(e, 0, "`%.60s` is no agent of this container", a->operands[1]);
		return EX_NOINPUT;
	}
	home = home_find(e);
	if (home == NULL)
		return EX_CONFIG;
	root = store_root_path(r->policy.state_root, home, e);
	if (root == NULL)
		return EX_OSERR;
	of.home = home;
	of.root = root;
	return verb->run(&of, a, e) < 0 ? status_of(e) : EXIT_SUCCESS;
}
