/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The shim: what an agent's name starts in a container of ours
 *
 * Builds the sandbox for one launch and supervises it.  Inside a sandbox it runs the real
 * agent: nothing is wrapped twice.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "arguments.h"
#include "err.h"
#include "launch_read.h"
#include "look.h"
#include "network.h"
#include "path.h"
#include "prepared.h"
#include "printable.h"
#include "protected.h"
#include "sandbox.h"
#include "share.h"
#include "skills.h"
#include "store.h"
#include "stores.h"
#include "terminals.h"

#define STATUS_FAILED 125
#define STATUS_CANNOT_RUN 126
#define STATUS_NOT_FOUND 127

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* One line, of which no terminal obeys anything */
static void say(const char *before, const char *what)
{
	(void)fprintf(stderr, "oci-sandbox: %s", before);
	printable_put(stderr, what);
	(void)fputc('\n', stderr);
}

static void warn(const char *what)
{
	say("warning: ", what);
}

static void say_list(const char *before, const struct strlist *l)
{
	for (size_t i = 0; i < l->n; i++) {
		(void)fputs(i == 0 ? before : ", ", stderr);
		printable_put(stderr, l->v[i]);
	}
}

/* One line, and none if the developer has nothing that the agent could want. */
static void tell_imported(const struct launch *l, const struct store_news *news)
{
	if (news->imported.n == 0 && news->left_out.n == 0)
		return;
	(void)fprintf(stderr, "oci-sandbox: the first launch of %s here: ", l->profile.name);
	say_list("imported ", &news->imported);
	say_list(news->imported.n > 0 ? "; not imported: " : "not imported: ", &news->left_out);
	(void)fputc('\n', stderr);
}

/* Only main prints; this is its part that a launch which went well can need. */
static void warn_of_made(const struct launch *l, const struct strlist *missing)
{
	cleanup_strlist struct strlist made = { 0 };
	struct err e = { 0 };

	if (protected_made(l, missing, &made, &e) < 0)
		say("", e.msg);
	for (size_t i = 0; i < made.n; i++) {
		cleanup_free char *path = path_join(l->workspace, made.v[i], &e);
		cleanup_free char *what = NULL;

		if (path != NULL &&
		    asprintf(&what,
			     "%s is new, and git or an editor outside the sandbox obeys it: look "
			     "at it first",
			     path) >= 0)
			say("", what);
	}
}

/* ---- the plan ---- */

static int print_plan(const struct prepared *p, bool json, struct err *e)
{
	if (!json)
		prepared_print(stdout, p);
	else if (prepared_print_json(stdout, p, e) < 0)
		return -1;
	return 0;
}

static int print_nested(const struct launch *l, char *const argv[], bool json, struct err *e)
{
	if (!json)
		nested_print(stdout, l, argv);
	else if (nested_print_json(stdout, l, argv, e) < 0)
		return -1;
	return 0;
}

/* What was printed as a whole, or not at all. */
static int end_of_print(int printed, struct err *e)
{
	if (printed < 0)
		return STATUS_FAILED;
	if (fflush(stdout) != 0 || ferror(stdout) != 0) {
		(void)err_set(e, errno, "write the plan");
		return STATUS_FAILED;
	}
	return 0;
}

/* ---- the launch ---- */

/* The agent's: its name, what its profile has, and what the developer typed */
static int make_argv(const struct launch *l, char *const *typed, struct strlist *ret, struct err *e)
{
	if (strlist_add(ret, l->command, e) < 0)
		return -1;
	for (size_t i = 0; i < l->profile.arguments.n; i++)
		if (strlist_add(ret, l->profile.arguments.v[i], e) < 0)
			return -1;
	for (; *typed != NULL; typed++)
		if (strlist_add(ret, *typed, e) < 0)
			return -1;
	return 0;
}

/* Inside a sandbox everything is in place: the real agent, and the environment. */
static int run_nested(const struct launch *l, const struct arguments *a, char *const argv[],
		      char **envp, struct err *e)
{
	if (a->workspace != NULL || a->no_forge || a->egress != NULL || a->local_port.n > 0 ||
	    a->callback_port.n > 0 || a->pass_env.n > 0) {
		(void)err_set(e, 0,
			      "this is a sandbox already, and stays as it is: of the "
			      "options only --print-plan and --json can be given here");
		return STATUS_FAILED;
	}
	if (a->print_plan)
		return end_of_print(print_nested(l, argv, a->json, e), e);
	(void)execve(l->agent_at, argv, envp);
	(void)err_set(e, errno, "run %s", l->agent_at);
	return STATUS_CANNOT_RUN;
}

/* The stores stay this launch's until it ends. */
static int enter_stores(struct launch *l, struct prepared *p, struct err *e)
{
	cleanup_store_news struct store_news news = { 0 };

	p->store = stores_enter(l, &news, e);
	if (p->store < 0)
		return -1;
	tell_imported(l, &news); /* by no other launch, if this one fails */
	return share_prepare(l, &p->share, e) < 0 ? -1 : skills_prepare(l, e);
}

/* All that can be known before a process is started; to print it, nothing is made. */
static int prepare(struct launch *l, const struct arguments *a, char **envp, struct prepared *p,
		   struct err *e)
{
	p->launch = l;
	if (launch_is_in_container(l, e) < 0 || network_check(l, e) < 0)
		return -1;
	if ((a->print_plan ? look_at_stores(l, p, e) : enter_stores(l, p, e)) < 0)
		return -1;
	if (prepared_build(p, envp, e) < 0)
		return -1;
	return protected_missing(l, &p->missing, e);
}

static int run(const struct arguments *a, char **envp, struct err *e)
{
	cleanup_launch struct launch l = { 0 };
	cleanup_prepared struct prepared p = PREPARED_NONE;
	cleanup_terminals struct terminals terminals = { 0 };
	cleanup_strlist struct strlist args = { 0 };
	const bool nested = launch_is_nested();
	int status = STATUS_FAILED;

	if (launch_read(a, envp, nested, &l, e) < 0)
		return e->code == ENOENT ? STATUS_NOT_FOUND : STATUS_FAILED;
	if (make_argv(&l, a->argv + 1, &args, e) < 0)
		return STATUS_FAILED;
	p.argv = args.v;
	if (nested)
		return run_nested(&l, a, args.v, envp, e);
	if (prepare(&l, a, envp, &p, e) < 0)
		return STATUS_FAILED;
	if (a->print_plan)
		return end_of_print(print_plan(&p, a->json, e), e);

	for (size_t i = 0; i < p.messages.n; i++)
		say("", p.messages.v[i]);
	if (terminals_look(&terminals, e) < 0)
		return STATUS_FAILED;
	(void)sandbox_run(&(struct sandbox){ .launch = &l,
					     .plan = &p.mounts,
					     .argv = p.argv,
					     .env = p.env.v,
					     .warn = warn,
					     .terminals = &terminals,
					     .attached = terminals_are_all(&terminals) &&
							 terminals_are_in_foreground(&terminals) },
			  &status, e);
	warn_of_made(&l, &p.missing);
	return status;
}

/* ---- the process ---- */

/* What is opened later must not be taken for what the caller has closed. */
static bool fill_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= STDIN_FILENO && fd <= STDERR_FILENO);
	return fd >= 0 && close(fd) == 0;
}

/* By its own name it is what oci-sandbox executes; an agent's --version is the agent's. */
static bool is_by_own_name(const char *arg)
{
	return strcmp(base_name(arg), "shim") == 0;
}

/* Returns 0, or -1 if what follows `run` is not understood. */
static int read_arguments(char **argv, struct arguments *ret, struct err *e)
{
	if (is_by_own_name(argv[0]) && argv[1] != NULL && strcmp(argv[1], "run") == 0)
		return arguments_parse_run(argv + 2, ret, e);
	*ret = (struct arguments){ .agent = base_name(argv[0]), .argv = argv };
	return 0;
}

static int finish(int status, struct err *e)
{
	if (e->msg[0] != '\0')
		say("", e->msg);
	return status;
}

int main(int argc, char **argv, char **envp)
{
	cleanup_arguments struct arguments a = { 0 };
	struct err e = { 0 };

	/* What the caller left open stays out; a parent that ignores SIGCHLD would hide the end */
	if (argc < 1 || close_range(STDERR_FILENO + 1, ~0U, 0) < 0 || !fill_standard_fds() ||
	    signal(SIGCHLD, SIG_DFL) == SIG_ERR) {
		(void)fprintf(stderr, "oci-sandbox: can't prepare this process\n");
		return STATUS_FAILED;
	}
	if (argc == 2 && is_by_own_name(argv[0]) && strcmp(argv[1], "--version") == 0)
		return puts("oci-sandbox-shim " PACKAGE_VERSION) < 0 ? STATUS_FAILED : 0;
	if (read_arguments(argv, &a, &e) < 0)
		return finish(EX_USAGE, &e);
	return finish(run(&a, envp, &e), &e);
}
