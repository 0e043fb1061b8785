/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What a neighbour on the same storage can do while the hook works
 *
 * swap A B: swap two files without a pause, renameat2(2), until SIGTERM; then print how often.
 * swap --come-and-go TARGET LINK: make a symlink and remove it, likewise.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t ended;

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

static int swap(const char *a, const char *b)
{
	return renameat2(AT_FDCWD, a, AT_FDCWD, b, RENAME_EXCHANGE);
}

/* What the hook made there meanwhile goes as well; what is mounted on stays, for good. */
static int come_and_go(const char *target, const char *path)
{
	if (symlink(target, path) < 0 && errno != EEXIST)
		return -1;
	return remove(path) < 0 && errno != ENOENT && errno != EBUSY ? -1 : 0;
}

int main(int argc, char **argv)
{
	int (*act)(const char *, const char *) = swap;
	unsigned long n = 0;

	if (argc == 4 && strcmp(argv[1], "--come-and-go") == 0) {
		act = come_and_go;
		argv++;
		argc--;
	}
	if (argc != 3 || signal(SIGTERM, end) == SIG_ERR)
		return EXIT_FAILURE;
	for (; !ended; n++)
		if (act(argv[1], argv[2]) < 0) {
			(void)fprintf(stderr, "swap %s %s: %s\n", argv[1], argv[2],
				      strerror(errno));
			return EXIT_FAILURE;
		}
	return printf("%lu\n", n) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
