/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: oci-sandbox-hook
 *
 * Only this file exits, and only it prints what failed.  A stage reads no environment variable:
 * with some runtimes that is the image's.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <syslog.h>
#include <unistd.h>

#include "check.h"
#include "cleanup.h"
#include "create.h"
#include "err.h"
#include "hook.h"
#include "host.h"
#include "io.h"
#include "poststart.h"
#include "register.h"
#include "results.h"
#include "trial.h"

#define PROGRAM "oci-sandbox-hook"
#define STATE_MAX_BYTES (1024 * 1024)

#define EXIT_PROBLEM 2 /* of --check */

/**
 * struct arguments - the command line
 * @paths:	Where things are on the host
 * @bundle:	What --check is about; NULL: the host
 * @engine:	Operand of --register and --unregister
 * @json:	--check writes JSON
 * @run:	--check starts containers
 * @seconds:	How long these may take
 */
struct arguments {
	struct hook_paths paths;
	const char *bundle;
	const char *engine;
	bool json;
	bool run;
	int seconds;
};

static const char usage_text[] =
	"usage: " PROGRAM
	" [--config DIR] [--libexec DIR] createRuntime|prestart|poststart <STATE\n"
	"       " PROGRAM " [--config DIR] [--libexec DIR] [--hooks-dir DIR] --check [--json]\n"
	"           [--run [podman] [--time-limit SECONDS]]\n"
	"       " PROGRAM " [--config DIR] [--libexec DIR] --check --bundle DIR [--json]\n"
	"       " PROGRAM " [--config DIR] [--libexec DIR] [--hooks-dir DIR] --register podman\n"
	"       " PROGRAM " [--hooks-dir DIR] --unregister podman\n"
	"       " PROGRAM " --help | --version\n";

static void report(struct err *e)
{
	err_make_printable(e);
	(void)fprintf(stderr, PROGRAM ": %s\n", e->msg);
	syslog(LOG_ERR, "%s", e->msg);
}

static int usage(void)
{
	(void)fputs(usage_text, stderr);
	syslog(LOG_ERR, "called with arguments that it does not know");
	return EX_USAGE;
}

/* crun runs hooks with umask 0, runc leaks fds; a file opened as fd 2 would get our messages. */
static int sanitise(struct err *e)
{
	(void)umask(022);
	(void)signal(SIGPIPE, SIG_IGN);
	if (close_range(3, ~0U, 0) < 0)
		return err_set(e, errno, "close inherited files (needs Linux 5.9)");
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return err_set(e, errno, "open /dev/null");
	/* At once: later the hook may be in a namespace that has another /dev/log */
	openlog(PROGRAM, LOG_PID | LOG_NDELAY, LOG_DAEMON);
	return 0;
}

/* To its end, whatever comes of it: crun before 1.17 fails on a broken pipe */
static char *read_state(struct err *e)
{
	cleanup_free char *state = read_fd(STDIN_FILENO, STATE_MAX_BYTES, e);

	if (state == NULL) {
		(void)err_wrap(e, "container state");
		return NULL;
	}
	if (chdir("/") < 0) {
		(void)err_set(e, errno, "change to /");
		return NULL;
	}
	return steal_ptr(&state);
}

/* The same for prestart, which runtimes before createRuntime have. */
static int run_create(const struct arguments *a, struct err *e)
{
	cleanup_free char *state = read_state(e);
	int status = state == NULL ? EX_DATAERR : hook_create(&a->paths, state, e);

	if (status != 0)
		report(e);
	return status;
}

static int run_poststart(const struct arguments *a, struct err *e)
{
	cleanup_free char *state = read_state(e);
	bool late = false;
	int status = state == NULL ? EX_DATAERR : hook_poststart(&a->paths, state, &late, e);

	if (status != 0)
		report(e);
	else if (late)
		syslog(LOG_NOTICE, "a container has no network after its start: if it gets one "
				   "later, it reaches no public address (runc up to 1.5 calls "
				   "poststart too early for podman with a user namespace: use "
				   "crun)");
	return status;
}

/* An error before the last byte is not one of the last flush. */
static bool is_written(void)
{
	return fflush(stdout) == 0 && ferror(stdout) == 0;
}

static int run_host_check(const struct arguments *a, struct err *e)
{
	cleanup_results struct results results = { 0 };
	int failed = host_check(&a->paths, &results, e);

	if (failed == 0 && a->run)
		failed = trial_podman(&a->paths, a->seconds, &results, e);
	if (failed == 0 && a->json)
		failed = results_print_json(&results, stdout, e);
	else if (failed == 0)
		results_print(&results, stdout);
	if (failed < 0) {
		report(e);
		return EXIT_PROBLEM;
	}
	return is_written() ? (int)results_worst(&results) : EXIT_PROBLEM;
}

static int run_bundle_check(const struct arguments *a, struct err *e)
{
	cleanup_bundle_check struct bundle_check found = { 0 };
	const char *refused = NULL;
	struct err why = { 0 };

	if (check_bundle(&a->paths, a->bundle, &found, &why) < 0) {
		err_make_printable(&why);
		refused = why.msg;
	}
	if (!a->json) {
		bundle_check_print(&found, refused, stdout);
	} else if (bundle_check_print_json(&found, refused, stdout, e) < 0) {
		report(e);
		return EXIT_PROBLEM;
	}
	return is_written() && refused == NULL ? EXIT_SUCCESS : EXIT_PROBLEM;
}

static int run_check(const struct arguments *a, struct err *e)
{
	return a->bundle == NULL ? run_host_check(a, e) : run_bundle_check(a, e);
}

static int run_help(const struct arguments *a, struct err *e)
{
	(void)a;
	(void)e;
	return fputs(usage_text, stdout) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int run_version(const struct arguments *a, struct err *e)
{
	(void)a;
	(void)e;
	return puts(PROGRAM " " PACKAGE_VERSION) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int find_self(char self[PATH_MAX], struct err *e)
{
	ssize_t n = readlink("/proc/self/exe", self, PATH_MAX - 1);

	if (n < 0)
		return err_set(e, errno, "read /proc/self/exe");
	self[n] = '\0';
	return 0;
}

static bool is_podman(const char *engine)
{
	return engine != NULL && strcmp(engine, "podman") == 0;
}

static int run_engine(const struct arguments *a,
		      int (*act)(const struct hook_paths *, FILE *, struct err *), struct err *e)
{
	struct hook_paths paths = a->paths;
	char self[PATH_MAX];

	if (!is_podman(a->engine))
		return usage();
	paths.self = self;
	if (find_self(self, e) < 0 || act(&paths, stdout, e) < 0)
		(void)fflush(stdout);
	else if (fflush(stdout) != 0)
		(void)err_set(e, errno, "say what was done");
	else
		return EXIT_SUCCESS;
	report(e);
	return EXIT_FAILURE;
}

static int run_register(const struct arguments *a, struct err *e)
{
	return run_engine(a, register_podman, e);
}

static int run_unregister(const struct arguments *a, struct err *e)
{
	return run_engine(a, unregister_podman, e);
}

static const struct command {
	const char *name;
	bool operand; /* is followed by the name of an engine */
	int (*run)(const struct arguments *a, struct err *e);
} commands[] = {
	{ "createRuntime", false, run_create }, { "prestart", false, run_create },
	{ "poststart", false, run_poststart },  { "--check", false, run_check },
	{ "--register", true, run_register },   { "--unregister", true, run_unregister },
	{ "--help", false, run_help },          { "--version", false, run_version },
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < N_ELEMENTS(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

enum option_kind {
	OPTION_VALUE,
	OPTION_ABSOLUTE, /* a path; the hook changes to / */
	OPTION_FLAG,     /* has no value; of --check only, like all below */
	OPTION_ENGINE,   /* a flag, which the name of an engine may follow */
	OPTION_SECONDS,
};

/* Options, wherever they stand; what is left is the command. */
static const struct option {
	const char *name;
	size_t offset;
	enum option_kind kind;
} options[] = {
	{ "--config", offsetof(struct arguments, paths.config), OPTION_ABSOLUTE },
	{ "--libexec", offsetof(struct arguments, paths.libexec), OPTION_ABSOLUTE },
	{ "--hooks-dir", offsetof(struct arguments, paths.hooks_dir), OPTION_ABSOLUTE },
	{ "--bundle", offsetof(struct arguments, bundle), OPTION_VALUE },
	{ "--json", offsetof(struct arguments, json), OPTION_FLAG },
	{ "--run", offsetof(struct arguments, run), OPTION_ENGINE },
	{ "--time-limit", offsetof(struct arguments, seconds), OPTION_SECONDS },
};

static const struct option *find_option(const char *name)
{
	for (size_t i = 0; i < N_ELEMENTS(options); i++)
		if (strcmp(options[i].name, name) == 0)
			return &options[i];
	return NULL;
}

static bool parse_seconds(const char *text, int *ret)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0' || n < 1 || n > TRIAL_SECONDS_MAX)
		return false;
	*ret = (int)n;
	return true;
}

/* Returns where the option ends, NULL if it is not understood. */
static char **parse_option(const struct option *o, char **arg, struct arguments *a)
{
	void *dst = (char *)a + o->offset;

	if (o->kind == OPTION_FLAG || o->kind == OPTION_ENGINE) {
		*(bool *)dst = true;
		return o->kind == OPTION_ENGINE && is_podman(arg[1]) ? arg + 1 : arg;
	}
	arg++;
	if (*arg == NULL)
		return NULL;
	if (o->kind == OPTION_SECONDS)
		return parse_seconds(*arg, dst) ? arg : NULL;
	if (o->kind == OPTION_ABSOLUTE && **arg != '/')
		return NULL;
	*(const char **)dst = *arg;
	return arg;
}

/* Returns the command, NULL if the arguments are not understood. */
static const struct command *parse_arguments(char **argv, struct arguments *a)
{
	const struct command *command = NULL;

	for (char **arg = argv + 1; *arg != NULL; arg++) {
		const struct option *o = find_option(*arg);

		if (o != NULL) {
			arg = parse_option(o, arg, a);
			if (arg == NULL)
				return NULL;
		} else if (command == NULL) {
			command = find_command(*arg);
			if (command == NULL || (command->operand && *++arg == NULL))
				return NULL;
			if (command->operand)
				a->engine = *arg;
		} else {
			return NULL;
		}
	}
	if ((a->json || a->run || a->seconds > 0) && (command == NULL || command->run != run_check))
		return NULL;
	if ((a->run && a->bundle != NULL) || (a->seconds > 0 && !a->run))
		return NULL;
	if (a->seconds == 0)
		a->seconds = TRIAL_SECONDS;
	return command;
}

int main(int argc, char **argv)
{
	struct arguments a = { .paths = { .config = SYSCONFDIR, .libexec = PKGLIBEXECDIR } };
	const struct command *command;
	struct err e = { 0 };

	if (sanitise(&e) < 0) {
		report(&e);
		return EXIT_FAILURE;
	}
	command = argc > 0 ? parse_arguments(argv, &a) : NULL;
	if (command == NULL)
		return usage();
	return command->run(&a, &e);
}
