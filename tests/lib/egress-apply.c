/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: egress-apply [--verify] ARGUMENT... | --finish [--connected] | --counters
 *
 * Gives the current network namespace the ruleset that the arguments make, see
 * ruleset_from_args(), and reads it back.  With --verify it only reads, and so tells whether the
 * rules are still those.  --finish completes rules of --unfinished by what the kernel knows.
 * --counters prints what was counted: a line "VERDICT CHAIN PACKETS NAME" for each rule, and a line
 * "refused ADDRESS PROTOCOL PORT PACKETS SECONDS" for each destination, the latest first.
 */
#include "config.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "counters.h"
#include "err.h"
#include "links.h"
#include "nft.h"
#include "ruleset-args.h"
#include "ruleset.h"

static int finish(bool connected, struct err *e)
{
	cleanup_networks struct networks now = { 0 };
	cleanup_ruleset struct ruleset r = { 0 };

	if (networks_read(&now, e) < 0 ||
	    ruleset_compile_late(&(struct ruleset_late){ .connected = connected,
							 .on_link = now.on_link.v,
							 .n_on_link = now.on_link.n,
							 .gateway = now.gateways.v,
							 .n_gateway = now.gateways.n,
							 .late = now.late },
				 &r, e) < 0 ||
	    egress_finish(&r, e) < 0)
		return -1;
	return egress_verify_finished(&r, e);
}

static int print_counters(struct err *e)
{
	cleanup_counters struct counters c = { 0 };
	char buf[INET6_ADDRSTRLEN];

	if (counters_read(&c, e) < 0)
		return -1;
	for (size_t i = 0; i < c.n_rules; i++)
		(void)printf("%s %s %" PRIu64 " %s\n", counters_verdict(c.rules[i].verdict),
			     c.rules[i].chain, c.rules[i].packets, c.rules[i].name);
	for (size_t i = 0; i < c.n_refusals; i++) {
		const struct counter_refusal *r = &c.refusals[i];

		(void)printf("refused %s %u %u %" PRIu64 " %" PRIu64 "\n",
			     inet_ntop(r->family, r->addr, buf, sizeof(buf)), r->protocol, r->port,
			     r->packets, r->seconds);
	}
	if (c.full)
		(void)puts("full");
	return 0;
}

static int apply(char **args, bool only_verify, struct err *e)
{
	cleanup_ruleset struct ruleset r = { 0 };

	if (ruleset_from_args(args, &r, e) < 0 || (!only_verify && egress_commit(&r, e) < 0))
		return -1;
	return egress_verify(&r, e);
}

int main(int argc, char **argv)
{
	bool only_verify = argc > 1 && strcmp(argv[1], "--verify") == 0;
	struct err e = { 0 };
	int failed;

	if (argc > 1 && strcmp(argv[1], "--counters") == 0)
		failed = print_counters(&e);
	else if (argc > 1 && strcmp(argv[1], "--finish") == 0)
		failed = finish(argc > 2 && strcmp(argv[2], "--connected") == 0, &e);
	else
		failed = apply(argv + (argc > 0) + only_verify, only_verify, &e);
	if (failed < 0) {
		(void)fprintf(stderr, "egress-apply: %s\n", e.msg);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
