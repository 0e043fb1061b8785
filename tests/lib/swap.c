/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: swap A B: swap two files without a pause, until SIGTERM; then print how often
 *
 * What a neighbour on the same storage can do while the hook works: renameat2(2).
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile sig_atomic_t ended;

static void end(int sig)
{
	(void)sig;
	ended = 1;
}

int main(int argc, char **argv)
{
	unsigned long n = 0;

	if (argc != 3 || signal(SIGTERM, end) == SIG_ERR)
		return EXIT_FAILURE;
	for (; !ended; n++)
		if (renameat2(AT_FDCWD, argv[1], AT_FDCWD, argv[2], RENAME_EXCHANGE) < 0) {
			(void)fprintf(stderr, "swap %s: %s\n", argv[1], strerror(errno));
			return EXIT_FAILURE;
		}
	return printf("%lu\n", n) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
