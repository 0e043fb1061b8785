/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The shim: what an agent's name starts in a container of ours
 *
 * Builds the sandbox for one launch and supervises it.  Inside a sandbox it runs the real
 * agent: nothing is wrapped twice.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capabilities.h"
#include "environment.h"
#include "err.h"
#include "launch_read.h"
#include "network.h"
#include "plan.h"
#include "protected.h"
#include "sandbox.h"
#include "share.h"
#include "skills.h"
#include "store.h"
#include "stores.h"

#define STATUS_FAILED 125
#define STATUS_CANNOT_RUN 126
#define STATUS_NOT_FOUND 127

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* The agent's: its name, what its profile has, and what the developer typed */
static int make_argv(const struct launch *l, char *const *typed, struct strlist *ret, struct err *e)
{
	if (strlist_add(ret, l->command, e) < 0)
		return -1;
	for (size_t i = 0; i < l->profile.arguments.n; i++)
		if (strlist_add(ret, l->profile.arguments.v[i], e) < 0)
			return -1;
	for (; *typed != NULL; typed++)
		if (strlist_add(ret, *typed, e) < 0)
			return -1;
	return 0;
}

/* Inside a sandbox everything is in place: the real agent, and the environment. */
static int run_nested(struct launch *l, char **argv, char **envp, struct err *e)
{
	(void)execve(l->agent_at, argv, envp);
	(void)err_set(e, errno, "run %s", l->agent_at);
	return STATUS_CANNOT_RUN;
}

static void warn(const char *what)
{
	(void)fprintf(stderr, "oci-sandbox: warning: %s\n", what);
}

static void warn_of_capabilities(const struct launch *l)
{
	for (size_t i = 0; i < l->manifest.capabilities.n; i++) {
		const struct capability *c = capability_find(l->manifest.capabilities.v[i]);

		if (c->at_launch)
			(void)fprintf(stderr,
				      "oci-sandbox: warning: container root has %s: it %s\n",
				      c->name, c->so);
	}
}

static void print_list(const char *before, const struct strlist *l)
{
	for (size_t i = 0; i < l->n; i++)
		(void)fprintf(stderr, "%s%s", i == 0 ? before : ", ", l->v[i]);
}

/* One line, and none if the developer has nothing that the agent could want. */
static void tell_imported(const struct launch *l, const struct store_news *news)
{
	if (news->imported.n == 0 && news->left_out.n == 0)
		return;
	(void)fprintf(stderr, "oci-sandbox: the first launch of %s here: ", l->profile.name);
	print_list("imported ", &news->imported);
	print_list(news->imported.n > 0 ? "; not imported: " : "not imported: ", &news->left_out);
	(void)fputc('\n', stderr);
}

/* Only main prints; this is its part that a launch which went well can need. */
static void warn_of_made(const struct launch *l, const struct strlist *missing)
{
	cleanup_strlist struct strlist made = { 0 };
	struct err e = { 0 };

	if (protected_made(l, missing, &made, &e) < 0)
		(void)fprintf(stderr, "oci-sandbox: %s\n", e.msg);
	for (size_t i = 0; i < made.n; i++)
		(void)fprintf(stderr,
			      "oci-sandbox: %s/%s is new, and git or an editor outside the sandbox "
			      "obeys it: look at it first\n",
			      l->workspace, made.v[i]);
}

/* By its own name: an agent's --version is the agent's. */
static bool asks_version(int argc, char **argv)
{
	return argc == 2 && strcmp(base_name(argv[0]), "shim") == 0 &&
	       strcmp(argv[1], "--version") == 0;
}

static int run(char **argv, char **envp, struct err *e)
{
	cleanup_launch struct launch l = { 0 };
	cleanup_plan struct plan plan = { 0 };
	cleanup_strlist struct strlist args = { 0 }, env = { 0 }, missing = { 0 };
	cleanup_store_news struct store_news news = { 0 };
	bool nested = launch_is_nested();
	cleanup_fd int store = -1; /* kept until the launch ends */
	cleanup_fd int share_lock = -1;
	int status = STATUS_FAILED;

	if (launch_read(base_name(argv[0]), envp, nested, &l, e) < 0)
		return e->code == ENOENT ? STATUS_NOT_FOUND : STATUS_FAILED;
	if (make_argv(&l, argv + 1, &args, e) < 0)
		return STATUS_FAILED;
	if (nested)
		return run_nested(&l, args.v, envp, e);
	if (launch_is_in_container(&l, e) < 0 || network_check(&l, e) < 0 ||
	    (store = stores_enter(&l, &news, e)) < 0 || share_prepare(&l, &share_lock, e) < 0 ||
	    skills_prepare(&l, e) < 0 || plan_build(&l, &plan, e) < 0 ||
	    protected_missing(&l, &missing, e) < 0 || environment_build(&l, envp, &env, e) < 0)
		return STATUS_FAILED;

	tell_imported(&l, &news);
	warn_of_capabilities(&l);
	if (l.signs && l.signing == NULL)
		(void)fputs("oci-sandbox: what the agent commits is not signed: your keys stay "
			    "outside (`oci-sandbox signing auto` makes one for agents)\n",
			    stderr);
	for (size_t i = 0; i < l.left_out.n; i++)
		warn(l.left_out.v[i]);
	if (l.no_route)
		warn("the container has no default route, so agents have no network");
	(void)sandbox_run(
		&(struct sandbox){
			.launch = &l, .plan = &plan, .argv = args.v, .env = env.v, .warn = warn },
		&status, e);
	warn_of_made(&l, &missing);
	return status;
}

/* What is opened later must not be taken for what the caller has closed. */
static bool fill_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= STDIN_FILENO && fd <= STDERR_FILENO);
	return fd >= 0 && close(fd) == 0;
}

int main(int argc, char **argv, char **envp)
{
	struct err e = { 0 };
	int status;

	/* What the caller left open stays out; a parent that ignores SIGCHLD would hide the end */
	if (argc < 1 || close_range(STDERR_FILENO + 1, ~0U, 0) < 0 || !fill_standard_fds() ||
	    signal(SIGCHLD, SIG_DFL) == SIG_ERR) {
		(void)fprintf(stderr, "oci-sandbox: can't prepare this process\n");
		return STATUS_FAILED;
	}
	if (asks_version(argc, argv))
		return puts("oci-sandbox-shim " PACKAGE_VERSION) < 0 ? STATUS_FAILED : 0;
	status = run(argv, envp, &e);
	if (e.msg[0] != '\0')
		(void)fprintf(stderr, "oci-sandbox: %s\n", e.msg);
	return status;
}
