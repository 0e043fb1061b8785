/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: egress-apply [--verify] [--resolv-conf FILE] [--list FILE] [PREFIX...]
 *
 * Gives the current network namespace the ruleset that the arguments make, and reads it back.
 * With --verify it only reads, and so tells whether the rules are still those.
 */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "err.h"
#include "nft.h"
#include "ruleset-args.h"
#include "ruleset.h"

int main(int argc, char **argv)
{
	struct err e = { 0 };
	cleanup_ruleset struct ruleset r = { 0 };
	bool only_verify = argc > 1 && strcmp(argv[1], "--verify") == 0;

	if (ruleset_from_args(argv + (argc > 0) + only_verify, &r, &e) < 0 ||
	    (!only_verify && egress_commit(&r, &e) < 0) || egress_verify(&r, &e) < 0) {
		(void)fprintf(stderr, "egress-apply: %s\n", e.msg);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
