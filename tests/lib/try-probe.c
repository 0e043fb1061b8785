/* SPDX-License-Identifier: Apache-2.0 */
/*
 * try-probe WAY: try something that ends in this way, and print what probe_run() made of it:
 * its value, and the message.  Then whether there is a child left.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "probe.h"

static int succeed(const void *arg, struct err *e)
{
	(void)arg;
	(void)e;
	return 0;
}

static int fail(const void *arg, struct err *e)
{
	(void)arg;
	return err_set(e, EPERM, "the thing");
}

static int warn(const void *arg, struct err *e)
{
	(void)arg;
	(void)err_set(e, 0, "not so good");
	return 1;
}

static int crash(const void *arg, struct err *e)
{
	(void)arg;
	(void)e;
	return raise(SIGKILL);
}

static int leave(const void *arg, struct err *e)
{
	(void)arg;
	(void)e;
	_exit(0);
}

static int hang(const void *arg, struct err *e)
{
	(void)arg;
	(void)e;
	while (pause() < 0)
		continue;
	return 0;
}

/* What is tried inside of what is tried */
static int nest(const void *arg, struct err *e)
{
	(void)arg;
	return probe_run(fail, NULL, e);
}

static const struct {
	const char *name;
	probe_fn try;
} ways[] = {
	{ "succeed", succeed }, { "fail", fail }, { "warn", warn }, { "crash", crash },
	{ "leave", leave },     { "hang", hang }, { "nest", nest },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < N_ELEMENTS(ways); i++) {
		struct err e = { 0 };

		if (strcmp(argv[1], ways[i].name) != 0)
			continue;
		(void)printf("%d", probe_run(ways[i].try, NULL, &e));
		(void)printf(" %s\n", e.msg);
		(void)puts(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? "no child"
									     : "a child is left");
		return 0;
	}
	return 2;
}
