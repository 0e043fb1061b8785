/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: egress: the rules of a network that a launch made for itself
 *
 * Without the hook, or on the host's network, the shim makes its agent's network namespace, and
 * pasta(1) connects it to the network that the container is on.  The rules are the hook's: the
 * same table by the same code, here in the agent's namespace.  What the container is itself, and
 * what it is on-link with, only its own namespace knows: this is read before the other is entered.
 *
 * Called by the shim with the policy on standard input.  What is wrong is said on standard error,
 * and the shim launches nothing then.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "directives.h"
#include "err.h"
#include "from_policy.h"
#include "io.h"
#include "links.h"
#include "nft.h"
#include "policy.h"
#include "ruleset.h"

static int parse_pid(const char *text, pid_t *ret, struct err *e)
{
	char *end;
	long pid = strtol(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end != '\0' || pid <= 0 || pid > INT32_MAX)
		return err_set(e, 0, "`%.60s` is not a process ID", text);
	*ret = (pid_t)pid;
	return 0;
}

static int read_policy(struct policy *ret, struct err *e)
{
	cleanup_free char *text = read_fd(STDIN_FILENO, DIRECTIVES_MAX_BYTES, e);

	return text == NULL ? -1 : policy_parse(text, "policy", ret, e);
}

/* In the container's namespace: pasta's packets leave by it, and its own services are there. */
static int compile(const struct policy *p, struct ruleset *ret, struct err *e)
{
	CLEANUP(links_done) struct links own = { 0 };
	cleanup_networks struct networks networks = { 0 };
	struct ruleset_input in = { 0 };

	if (links_read_own(&own, e) < 0 || networks_read(&networks, e) < 0)
		return -1;
	ruleset_input_from_policy(p, &in);
	in.host = own.v;
	in.n_host = own.n;
	in.on_link = networks.on_link.v;
	in.n_on_link = networks.on_link.n;
	in.gateway = networks.gateways.v;
	in.n_gateway = networks.gateways.n;
	return ruleset_compile(&in, ret, e);
}

/* The user namespace is the caller's own: it gives the right to the other one. */
static int enter(pid_t pid, struct err *e)
{
	cleanup_fd int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return err_set(e, errno, "open process %d", (int)pid);
	if (setns(fd, CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return err_set(e, errno, "enter the agent's network");
	return 0;
}

static int run(const char *arg, struct err *e)
{
	cleanup_policy struct policy policy = { 0 };
	cleanup_ruleset struct ruleset rules = { 0 };
	pid_t pid;

	if (parse_pid(arg, &pid, e) < 0 || read_policy(&policy, e) < 0 ||
	    compile(&policy, &rules, e) < 0 || enter(pid, e) < 0 || egress_commit(&rules, e) < 0)
		return -1;
	return egress_verify(&rules, e);
}

int main(int argc, char **argv)
{
	struct err e = { 0 };

	if (argc != 2) {
		(void)fputs("usage: egress PID <POLICY\n"
			    "The shim calls this; it is no command for people.\n",
			    stderr);
		return 2;
	}
	if (strcmp(argv[1], "--version") == 0)
		return puts("oci-sandbox-egress " PACKAGE_VERSION) < 0 ? EXIT_FAILURE : 0;
	if (run(argv[1], &e) < 0) {
		(void)fprintf(stderr, "%s\n", e.msg);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
