/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: oci-sandbox on the host
 */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "cleanup.h"
#include "cli.h"
#include "containers.h"
#include "engine.h"
#include "err.h"
#include "json_out.h"
#include "report.h"

/* How much of the message that lists ids is for these */
#define LISTED_BYTES 400

static bool has_prefix(const struct container *c, const char *prefix)
{
	return c->run.manifest.id != NULL &&
	       strncmp(c->run.manifest.id, prefix, strlen(prefix)) == 0;
}

static bool has_id(const struct container *c, const char *id)
{
	return c->run.manifest.id != NULL && strcmp(c->run.manifest.id, id) == 0;
}

/* The two that have one id are an engine's of two users, or one that pretends. */
static int refuse_ambiguous(const struct containers *all, const char *operand, struct err *e)
{
	char list[LISTED_BYTES] = "";

	for (size_t i = 0; i < all->n; i++) {
		size_t n = strlen(list);

		if (has_prefix(&all->v[i], operand))
			(void)snprintf(list + n, sizeof(list) - n, " %s (process %d)",
				       all->v[i].run.manifest.id, (int)all->v[i].pid);
	}
	(void)err_set(e, 0, "`%.40s` is the beginning of several ids:%s", operand, list);
	return EX_USAGE;
}

/* By its id, or what it begins with.  Returns 0 also if there is none. */
static int find_by_id(const struct containers *all, const char *operand, struct container **ret,
		      struct err *e)
{
	size_t exact = 0, begins = 0;

	for (size_t i = 0; i < all->n; i++) {
		if (has_id(&all->v[i], operand)) {
			*ret = &all->v[i];
			exact++;
		} else if (has_prefix(&all->v[i], operand) && begins++ == 0 && exact == 0) {
			*ret = &all->v[i];
		}
	}
	return exact > 1 || (exact == 0 && begins > 1) ? refuse_ambiguous(all, operand, e) : 0;
}

static int find_by_name(const struct containers *all, const char *operand, struct container **ret,
			struct err *e)
{
	cleanup_free char *id = engine_find_id(operand, e);

	if (id == NULL)
		return e->code != 0 ? EX_UNAVAILABLE : EX_NOINPUT;
	if (find_by_id(all, id, ret, e) != 0)
		return EX_USAGE;
	if (*ret != NULL)
		return 0;
	(void)err_set(e, 0, "container %.64s (%.100s) is not under protection, or not running", id,
		      operand);
	return EX_NOINPUT;
}

static int find(const struct containers *all, const char *operand, struct container **ret,
		struct err *e)
{
	int status = find_by_id(all, operand, ret, e);

	if (status != 0 || *ret != NULL)
		return status;
	return find_by_name(all, operand, ret, e);
}

static int print(const struct containers *all, const struct container *one, bool json,
		 struct err *e)
{
	if (json)
		return report_print_json(all, one, stdout, e) < 0 ? EX_OSERR : EXIT_SUCCESS;
	if (one != NULL)
		report_print_container(one, stdout);
	else
		report_print_list(all, stdout);
	return EXIT_SUCCESS;
}

static int status(const struct cli_arguments *a, struct err *e)
{
	cleanup_containers struct containers all = { 0 };
	struct container *one = NULL;
	int failed;

	if (containers_find(a->libexec, &all, e) < 0)
		return EX_OSERR;
	if (a->n_operands > 0) {
		failed = find(&all, a->operands[0], &one, e);
		if (failed != 0)
			return failed;
	}
	for (size_t i = 0; i < all.n; i++)
		if (one == NULL || one == &all.v[i])
			containers_count(&all.v[i]);
	failed = print(&all, one, (a->options & CLI_JSON) != 0, e);
	/* said in what was printed; on the host's network there is nothing to count */
	if (failed == 0 && one != NULL && one->unread.msg[0] != '\0' &&
	    one->run.manifest.network != MANIFEST_NETWORK_PASTA)
		return EX_NOPERM;
	return failed;
}

static int run(const struct cli_arguments *a, struct err *e)
{
	(void)a;
	(void)err_set(e, 0,
		      "agents are launched in a container, not on the host: go there first "
		      "(`podman exec -it CONTAINER oci-sandbox run AGENT`, say)");
	return EX_UNAVAILABLE;
}

static const struct cli_subcommand subcommands[] = {
	{ "run", CLI_REST, 0, 0, run },
	{ "status", CLI_JSON | CLI_LIBEXEC, 0, 1, status },
};

const struct cli_place cli_place = {
	.usage = "usage: oci-sandbox [--libexec DIR] status [--json] [CONTAINER]\n"
		 "       oci-sandbox help | version\n"
		 "\n"
		 "status   which containers are under protection; of one, by its id or name,\n"
		 "         what each rule has counted, and what was refused lately\n",
	.subcommands = subcommands,
	.n_subcommands = N_ELEMENTS(subcommands),
};
