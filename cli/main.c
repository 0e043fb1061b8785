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

static int run_status(const struct cli_arguments *a, struct err *e)
{
	return cli_place.status(a, e);
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

/**
 * struct subcommand - a word that says what to do
 * @name:	Word
 * @json:	It knows --json
 * @operand:	It may be followed by an operand, where the place has any
 * @run:	As struct cli_place has it
 */
static const struct subcommand {
	const char *name;
	bool json;
	bool operand;
	int (*run)(const struct cli_arguments *a, struct err *e);
} subcommands[] = {
	{ "status", true, true, run_status },       { "help", false, false, run_help },
	{ "--help", false, false, run_help },       { "version", false, false, run_version },
	{ "--version", false, false, run_version },
};

static const struct subcommand *find_subcommand(const char *name)
{
	for (size_t i = 0; i < N_ELEMENTS(subcommands); i++)
		if (strcmp(subcommands[i].name, name) == 0)
			return &subcommands[i];
	return NULL;
}

/* Returns where the option ends, NULL if it is none that is known. */
static char **parse_option(char **arg, struct cli_arguments *a)
{
	if (strcmp(arg[0], "--json") == 0) {
		a->json = true;
		return arg;
	}
	if (strcmp(arg[0], "--libexec") == 0 && cli_place.operands && arg[1] != NULL &&
	    arg[1][0] == '/') {
		a->libexec = arg[1];
		return arg + 1;
	}
	return NULL;
}

/* Returns the subcommand, NULL if the arguments are not understood. */
static const struct subcommand *parse_arguments(char **argv, struct cli_arguments *a)
{
	const struct subcommand *s = NULL;

	for (char **arg = argv + 1; *arg != NULL; arg++) {
		const bool option = (*arg)[0] == '-';

		if (s == NULL && find_subcommand(*arg) != NULL) {
			s = find_subcommand(*arg);
		} else if (option) {
			arg = parse_option(arg, a);
			if (arg == NULL)
				return NULL;
		} else if (s != NULL && s->operand && cli_place.operands && a->operand == NULL &&
			   **arg != '\0') {
			a->operand = *arg;
		} else {
			return NULL;
		}
	}
	return s != NULL && (s->json || !a->json) ? s : NULL;
}

/* A file that is opened as fd 2 would get our messages. */
static int sanitise(struct err *e)
{
	(void)signal(SIGPIPE, SIG_IGN);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return err_set(e, errno, "open /dev/null");
	return 0;
}

int main(int argc, char **argv)
{
	struct cli_arguments a = { .libexec = PKGLIBEXECDIR };
	const struct subcommand *s;
	struct err e = { 0 };
	int status;

	if (sanitise(&e) < 0) {
		report(&e);
		return EX_OSERR;
	}
	s = argc > 0 ? parse_arguments(argv, &a) : NULL;
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
