/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: oci-sandbox
 *
 * What people type, on the host and in a container: two programs, which differ in cli_place.  Only
 * this file exits, and only it prints what failed.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "cli.h"
#include "err.h"

#define PROGRAM "oci-sandbox"

static void report(struct err *e)
{
	err_make_printable(e);
	(void)fprintf(stderr, PROGRAM ": %s\n", e->msg);
}

static int run_help(const struct cli_arguments *a, struct err *e)
{
	(void)a;
	(void)e;
	(void)fputs(cli_place.usage, stdout);
	return EXIT_SUCCESS;
}

static int run_version(const struct cli_arguments *a, struct err *e)
{
	(void)a;
	(void)e;
	(void)puts(PROGRAM " " PACKAGE_VERSION);
	return EXIT_SUCCESS;
}

/* Those of both places */
static const struct cli_subcommand subcommands[] = {
	{ "help", 0, 0, 0, run_help },
	{ "--help", 0, 0, 0, run_help },
	{ "version", 0, 0, 0, run_version },
	{ "--version", 0, 0, 0, run_version },
};

static const struct cli_subcommand *find_in(const struct cli_subcommand *all, size_t n,
					    const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(all[i].name, name) == 0)
			return &all[i];
	return NULL;
}

static const struct cli_subcommand *find_subcommand(const char *name)
{
	const struct cli_subcommand *s =
		find_in(cli_place.subcommands, cli_place.n_subcommands, name);

	return s != NULL ? s : find_in(subcommands, N_ELEMENTS(subcommands), name);
}

/* Returns where the option ends, NULL if it is none that is known. */
static char **parse_option(char **arg, struct cli_arguments *a)
{
	if (strcmp(arg[0], "--json") == 0) {
		a->options |= CLI_JSON;
		return arg;
	}
	if (strcmp(arg[0], "--force") == 0) {
		a->options |= CLI_FORCE;
		return arg;
	}
	if (strcmp(arg[0], "--libexec") == 0 && arg[1] != NULL && arg[1][0] == '/') {
		a->options |= CLI_LIBEXEC;
		a->libexec = arg[1];
		return arg + 1;
	}
	return NULL;
}

static bool take_operand(const struct cli_subcommand *s, const char *arg, struct cli_arguments *a)
{
	if (s == NULL || a->n_operands >= s->max || arg[0] == '\0')
		return false;
	a->operands[a->n_operands++] = arg;
	return true;
}

/* Returns the subcommand, NULL if the arguments are not understood. */
static const struct cli_subcommand *parse_arguments(char **argv, struct cli_arguments *a)
{
	const struct cli_subcommand *s = NULL;

	for (char **arg = argv + 1; *arg != NULL; arg++) {
		if (s == NULL && find_subcommand(*arg) != NULL) {
			s = find_subcommand(*arg);
			a->rest = arg;
			if ((s->options & CLI_REST) != 0)
				break;
		} else if ((*arg)[0] == '-') {
			arg = parse_option(arg, a);
			if (arg == NULL)
				return NULL;
		} else if (!take_operand(s, *arg, a)) {
			return NULL;
		}
	}
	if (s == NULL || (a->options & ~s->options) != 0 || a->n_operands < s->min)
		return NULL;
	return s;
}

/* A file that is opened as fd 2 would get our messages. */
static int sanitise(struct err *e)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return err_set(e, errno, "open /dev/null");
	return 0;
}

int main(int argc, char **argv)
{
	struct cli_arguments a = { .libexec = PKGLIBEXECDIR };
	const struct cli_subcommand *s;
	struct err e = { 0 };
	int status;

	if (sanitise(&e) < 0) {
		report(&e);
		return EX_OSERR;
	}
	s = argc > 0 ? parse_arguments(argv, &a) : NULL;
	/* what is executed instead has to get this as it was */
	if (s == NULL || (s->options & CLI_REST) == 0)
		(void)signal(SIGPIPE, SIG_IGN);
	if (s == NULL) {
		(void)fputs(cli_place.usage, stderr);
		return EX_USAGE;
	}
	status = s->run(&a, &e);
	if ((fflush(stdout) != 0 || ferror(stdout) != 0) && status == EXIT_SUCCESS) {
		(void)err_set(&e, errno, "write the answer");
		status = EX_IOERR;
	}
	if (status != EXIT_SUCCESS && e.msg[0] != '\0')
		report(&e);
	return status;
}
