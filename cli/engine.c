/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What an engine calls a container
 *
 * The hook knows a container by its id alone; the engines know their names for it, and are asked,
 * by paths that are nobody's to choose and without a shell.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cleanup.h"
#include "command.h"
#include "engine.h"
#include "err.h"

#define TIME_LIMIT_MS 10000

static bool is_id(const char *text)
{
	return strlen(text) >= 12 && text[strspn(text, "0123456789abcdef")] == '\0';
}

/* The signals that end a person's command, which reach the engine no other way */
static int open_signals(sigset_t *ret_old, struct err *e)
{
	sigset_t set;
	int fd;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, ret_old) < 0)
		return err_set(e, errno, "block signals");
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? err_set(e, errno, "open signals") : fd;
}

/* Returns NULL if it does not know the name, with @e's code 0; else with the code of a failure. */
static char *ask(char *program, const char *name, int signals, struct err *e)
{
	char inspect[] = "inspect", type[] = "--type", container[] = "container",
	     format[] = "--format", id[] = "{{.Id}}", dashes[] = "--";
	char *copy = strdup(name);
	char *const argv[] = { program, inspect, type, container, format, id, dashes, copy, NULL };
	const struct command c = { .argv = argv,
				   .signals = signals,
				   .until = command_now() + TIME_LIMIT_MS };
	struct command_result r;
	const char *line;
	int failed;

	e->code = 0;
	failed = copy == NULL ? err_set(e, ENOMEM, "allocate a name") : command_run(&c, &r, e);
	free(copy);
	if (failed < 0)
		return NULL;
	line = command_last_line(&r);
	return command_succeeded(&r) && is_id(line) ? strdup(line) : NULL;
}

/**
 * engine_find_id() - Ask the engines for the id of a container
 * @name:	Name that the engine has for it
 * @e:		Set on failure
 *
 * podman and docker, those that are installed, as the user who runs this: another user's are not
 * asked.
 *
 * Return: id, owned by the caller; NULL if no engine knows the name, or on failure
 */
char *engine_find_id(const char *name, struct err *e)
{
	static char programs[][24] = { "/usr/bin/podman", "/usr/local/bin/podman",
				       "/usr/bin/docker", "/usr/local/bin/docker" };
	cleanup_fd int signals = -1;
	sigset_t old;
	char *id = NULL;

	signals = open_signals(&old, e);
	if (signals < 0)
		return NULL;
	for (size_t i = 0; i < N_ELEMENTS(programs) && id == NULL; i++) {
		if (access(programs[i], X_OK) < 0)
			continue;
		id = ask(programs[i], name, signals, e);
		if (id == NULL && e->code == EINTR)
			break;
	}
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	if (id == NULL && e->code != EINTR && e->code != ETIMEDOUT)
		(void)err_set(e, 0,
			      "no container under protection has an id that begins with "
			      "`%.100s`, and no engine knows a container of that name",
			      name);
	return id;
}
