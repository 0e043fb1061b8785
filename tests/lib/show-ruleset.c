/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: show-ruleset ARGUMENT...
 *
 * Prints the ruleset that the arguments make, see ruleset_from_args().  Acts on nothing.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "cleanup.h"
#include "err.h"
#include "ruleset-args.h"
#include "ruleset.h"

int main(int argc, char **argv)
{
	struct err e = { 0 };
	cleanup_ruleset struct ruleset r = { 0 };

	if (ruleset_from_args(argv + (argc > 0), &r, &e) < 0) {
		(void)fprintf(stderr, "show-ruleset: %s\n", e.msg);
		return EXIT_FAILURE;
	}
	return ruleset_print(stdout, &r) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
