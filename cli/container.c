/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: oci-sandbox in a container
 *
 * Static, since it runs in foreign root file systems.  It says what can be seen there; what is
 * counted is read by the host alone.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "cli.h"
#include "err.h"
#include "facts.h"
#include "json_out.h"
#include "load.h"
#include "login.h"
#include "run_dir.h"
#include "sign.h"
#include "state.h"

#define UNREAD                                                                                  \
	"what was counted and refused is shown on the host alone (it takes CAP_NET_ADMIN over " \
	"the "                                                                                  \
	"container's network, which nobody should have here): oci-sandbox status"

#define SHIM LIBEXEC_DIR "/shim"
#define STATUS_FAILED 125 /* the shim's, for the same */

/* An agent's sandbox has a user namespace of its own. */
static bool in_sandbox(const struct run_dir *r)
{
	struct stat st;

	return stat("/proc/self/ns/user", &st) < 0 || st.st_ino != r->manifest.user_ns;
}

static int take_profiles(struct run_dir *ret, struct loaded_profiles *from, struct err *e)
{
	ret->profiles = calloc(from->n + 1, sizeof(*ret->profiles));
	if (ret->profiles == NULL)
		return err_set(e, ENOMEM, "allocate the profiles");
	for (; ret->n_profiles < from->n; ret->n_profiles++) {
		ret->profiles[ret->n_profiles] = from->v[ret->n_profiles].profile;
		from->v[ret->n_profiles].profile = (struct profile){ 0 };
	}
	return 0;
}

/* What a launch would go by: only agents are confined then. */
static int read_without_hook(struct run_dir *ret, struct err *e)
{
	cleanup_loaded_profiles struct loaded_profiles profiles = { 0 };
	struct stat st;
	bool missing;

	if (load_policy(CONTAINER_CONFIG_DIR, &ret->policy, &missing, e) < 0)
		return -1;
	if (missing || ret->policy.require_hook)
		return err_set(
			e, 0,
			"this container was started without oci-sandbox-hook, so no agent "
			"is launched here (`oci-sandbox-hook --check` on the host says why)");
	if (load_profiles(CONTAINER_CONFIG_DIR, &ret->policy, &profiles, e) < 0 ||
	    take_profiles(ret, &profiles, e) < 0)
		return -1;
	if (stat("/proc/self/ns/user", &st) < 0)
		return err_set(e, errno, "look at this user namespace");
	ret->manifest.user_ns = st.st_ino;
	ret->policy.egress_scope = POLICY_SCOPE_AGENT;
	if (ret->policy.egress != POLICY_EGRESS_NONE)
		ret->manifest.network = MANIFEST_NETWORK_PASTA;
	ret->manifest.policy = strdup(CONTAINER_CONFIG_DIR "/policy.conf");
	return ret->manifest.policy != NULL ? 0 : err_set(e, ENOMEM, "allocate a path");
}

static int read_own(struct run_dir *ret, struct err *e)
{
	cleanup_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int dir = -1;

	if (root < 0)
		return err_set(e, errno, "open /");
	/* In a sandbox, the container's root has another number */
	dir = run_dir_open(root, RUN_DIR_ANY_OWNER, e);
	if (dir < 0 && e->code == ENOENT)
		return read_without_hook(ret, e);
	if (dir < 0 || run_dir_read_manifest(dir, ret, e) < 0)
		return -1;
	return run_dir_read_policy(dir, ret, e);
}

static int print_json(const struct run_dir *r, struct err *e)
{
	cleanup_json_out struct json_out *o = json_out_new();

	json_out_open(o, '{');
	json_out_key(o, "version");
	json_out_integer(o, 1);
	json_out_key(o, "where");
	json_out_string(o, in_sandbox(r) ? "sandbox" : "container");
	json_out_key(o, "container");
	json_out_open(o, '{');
	facts_add_json(o, r);
	json_out_key(o, "unread");
	json_out_string(o, UNREAD);
	json_out_close(o, '}');
	json_out_close(o, '}');
	return json_out_print(o, stdout, e);
}

static int status(const struct cli_arguments *a, struct err *e)
{
	cleanup_run_dir struct run_dir r = { 0 };

	if (read_own(&r, e) < 0)
		return EX_UNAVAILABLE;
	if ((a->options & CLI_JSON) != 0)
		return print_json(&r, e) < 0 ? EX_OSERR : EXIT_SUCCESS;
	facts_print(stdout, &r);
	facts_print_head(stdout, "here");
	(void)puts(in_sandbox(&r) ? "an agent's sandbox" : "the container, outside of any sandbox");
	(void)puts("\n" UNREAD);
	return EXIT_SUCCESS;
}

/* Agents ask for nothing that is kept for them, nor say what they are given. */
static int read_outside(struct run_dir *ret, const char *what, struct err *e)
{
	if (read_own(ret, e) < 0)
		return EX_UNAVAILABLE;
	if (!in_sandbox(ret))
		return EXIT_SUCCESS;
	(void)err_set(e, 0, "this is a sandbox: %s managed from outside of it", what);
	return EX_NOPERM;
}

static int state(const struct cli_arguments *a, struct err *e)
{
	cleanup_run_dir struct run_dir r = { 0 };
	int failed = read_outside(&r, "agents' state is", e);

	return failed != 0 ? failed : state_run(&r, a, e);
}

static int signing(const struct cli_arguments *a, struct err *e)
{
	cleanup_run_dir struct run_dir r = { 0 };
	int failed = read_outside(&r, "the key of agents' commits is", e);

	return failed != 0 ? failed : sign_run(&r, a, e);
}

static int login(enum policy_forge_tool tool, const struct cli_arguments *a, struct err *e)
{
	cleanup_run_dir struct run_dir r = { 0 };
	int failed = read_outside(&r, "logins are", e);

	return failed != 0 ? failed : login_run(&r, tool, a, e);
}

static int gh_auth(const struct cli_arguments *a, struct err *e)
{
	return login(POLICY_FORGE_GH, a, e);
}

static int glab_auth(const struct cli_arguments *a, struct err *e)
{
	return login(POLICY_FORGE_GLAB, a, e);
}

/* The program that agents' names lead to, by its own: there is one way to launch an agent. */
static int run(const struct cli_arguments *a, struct err *e)
{
	cleanup_free char **argv = NULL;
	size_t n = 0;

	while (a->rest[n] != NULL)
		n++;
	argv = calloc(n + 2, sizeof(*argv));
	if (argv == NULL) {
		(void)err_set(e, ENOMEM, "allocate the arguments");
		return STATUS_FAILED;
	}
	argv[0] = (char *)"shim";
	memcpy(argv + 1, a->rest, n * sizeof(*argv));
	(void)execv(SHIM, argv);
	(void)err_set(e, errno, "run %s, which launches agents", SHIM);
	return STATUS_FAILED;
}

static const struct cli_subcommand subcommands[] = {
	{ "run", CLI_REST, 0, 0, run },      { "status", CLI_JSON, 0, 0, status },
	{ "state", CLI_FORCE, 2, 2, state }, { "signing", 0, 1, 1, signing },
	{ "gh-auth", 0, 0, 1, gh_auth },     { "glab-auth", 0, 0, 1, glab_auth },
};

const struct cli_place cli_place = {
	.usage =
		"usage: oci-sandbox run [--print-plan [--json]] [--workspace DIR] [--no-forge]\n"
		"                       [--egress VALUE] [--local-port PORT]...\n"
		"                       [--callback-port PORT]... [--pass-env NAME]...\n"
		"                       AGENT [ARGUMENT...]\n"
		"       oci-sandbox status [--json]\n"
		"       oci-sandbox state path AGENT\n"
		"       oci-sandbox state import [--force] AGENT\n"
		"       oci-sandbox state reset AGENT\n"
		"       oci-sandbox signing auto | off | status\n"
		"       oci-sandbox gh-auth [HOST]\n"
		"       oci-sandbox glab-auth [HOST]\n"
		"       oci-sandbox help | version\n"
		"\n"
		"run      launch an agent as its name does; --print-plan: say how, and do nothing\n"
		"status   under which policy this container is, and which agents it has\n"
		"state    where an agent keeps its login, settings and history; copy yours to "
		"there\n"
		"         (--force: keep its own as NAME.bak); remove all of it\n"
		"signing  sign what agents commit, with a key that is made for that; stop; see it\n"
		"gh-auth, glab-auth\n"
		"         give agents a login of gh or glab: the token is asked for, or read from "
		"a pipe\n",
	.subcommands = subcommands,
	.n_subcommands = N_ELEMENTS(subcommands),
};
