/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: modes: what takes back what standard input has switched on in a terminal
 *
 * "modes N" passes it on in pieces of N bytes.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "modes.h"

int main(int argc, char **argv)
{
	struct modes m = { 0 };
	char piece[4096], reset[MODES_RESET_MAX];
	size_t most = argc == 2 ? strtoul(argv[1], NULL, 10) : 0, n;

	if (most == 0 || most > sizeof(piece))
		return EXIT_FAILURE;
	while ((n = fread(piece, 1, most, stdin)) > 0)
		modes_see(&m, piece, n);
	n = modes_reset(&m, reset);
	return fwrite(reset, 1, n, stdout) == n && fflush(stdout) == 0 ? EXIT_SUCCESS
								       : EXIT_FAILURE;
}
