/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Programs of the container that are run for the developer
 *
 * By fixed paths and with an environment of our own: what his terminal has of PATH and other
 * variables, a file of the workspace may have set.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "program.h"
#include "program_find.h"

static int wait_for(pid_t pid, const char *name, struct err *e)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(e, errno, "wait for %s", name);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(e, 0, "%s failed, for the reason that it gave", name);
}

/**
 * program_run() - Run a program to its end
 * @path:	From program_find()
 * @argv:	Its arguments
 * @home:	The developer's
 * @input:	Its standard input; -1: none.  Its output is ours.
 * @e:		Set on failure
 *
 * It finds no keyring: what it keeps goes into files.
 *
 * Return: 0 if it ended with 0, -1 if not
 */
int program_run(const char *path, const char *const argv[], const char *home, int input,
		struct err *e)
{
	cleanup_free char *home_is = NULL;
	const char *env[] = { NULL, "PATH=" PROGRAM_PATH,
			      "DBUS_SESSION_BUS_ADDRESS=disabled:", NULL };
	posix_spawn_file_actions_t fa;
	int failed;
	pid_t pid;

	if (asprintf(&home_is, "HOME=%s", home) < 0) {
		home_is = NULL;
		return err_set(e, ENOMEM, "allocate a variable");
	}
	env[0] = home_is;
	if (posix_spawn_file_actions_init(&fa) != 0)
		return err_set(e, ENOMEM, "prepare %s", argv[0]);
	failed = input >= 0 ? posix_spawn_file_actions_adddup2(&fa, input, STDIN_FILENO)
			    : posix_spawn_file_actions_addopen(&fa, STDIN_FILENO, "/dev/null",
							       O_RDONLY, 0);
	if (failed == 0)
		failed = posix_spawn_file_actions_addchdir_np(&fa, "/");
	/* the casts undo nothing: posix_spawn(3) writes to neither */
	if (failed == 0)
		failed =
			posix_spawn(&pid, path, &fa, NULL, (char *const *)argv, (char *const *)env);
	(void)posix_spawn_file_actions_destroy(&fa);
	return failed != 0 ? err_set(e, failed, "run %s", path) : wait_for(pid, argv[0], e);
}
