/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: oci-sandbox gh-auth, glab-auth: a forge's login for this container
 *
 * gh(1) and glab(1) keep it in files of their own, which sessions can read.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "cli.h"
#include "err.h"
#include "home.h"
#include "login.h"
#include "path.h"
#include "program.h"
#include "program_find.h"
#include "run_dir.h"
#include "token.h"

/**
 * struct tool - a command that keeps logins
 * @forge:	Which
 * @host:	The one that it is made for
 * @from:	Where it is had
 * @file:	Where it keeps them, below the home
 * @options:	Of `NAME auth login`, besides the host: it reads the token from standard input
 */
static const struct tool {
	enum policy_forge_tool forge;
	const char *host;
	const char *from;
	const char *file;
	const char *options[4];
} tools[] = {
	{ POLICY_FORGE_GH,
	  "github.com",
	  "https://github.com/cli/cli#installation",
	  ".config/gh/hosts.yml",
	  { "--git-protocol", "https", "--with-token", NULL } },
	{ POLICY_FORGE_GLAB,
	  "gitlab.com",
	  "https://gitlab.com/gitlab-org/cli#installation",
	  ".config/glab-cli/config.yml",
	  { "--git-protocol", "https", "--stdin", NULL } },
};

static const struct tool *find_tool(enum policy_forge_tool forge)
{
	for (size_t i = 0; i < N_ELEMENTS(tools); i++)
		if (tools[i].forge == forge)
			return &tools[i];
	return NULL;
}

/* Sessions ask this tool for no other host's login; NULL: that is so for this one. */
static const char *find_host(const struct tool *t, const struct policy *p, const char *host)
{
	if (host == NULL || strcasecmp(host, t->host) == 0)
		return t->host;
	for (size_t i = 0; i < p->n_forge; i++)
		if (p->forge[i].tool == t->forge && strcasecmp(host, p->forge[i].host) == 0)
			return p->forge[i].host;
	return NULL;
}

static int keep_token(const struct tool *t, const char *path, const char *host, const char *home,
		      struct err *e)
{
	const char *name = policy_forge_tool_name(t->forge);
	const char *const argv[] = { name,          "auth",        "login",
				     "--hostname",  host,          t->options[0],
				     t->options[1], t->options[2], NULL };
	char token[TOKEN_MAX_BYTES] = "", prompt[512];
	cleanup_fd int input = -1;
	int result;

	(void)snprintf(prompt, sizeof(prompt), "Token for %s (it is not shown): ", host);
	result = token_read(prompt, token, e);
	if (result == 0)
		input = token_pipe(token, e);
	explicit_bzero(token, sizeof(token));
	if (result < 0 || input < 0)
		return -1;
	return program_run(path, argv, home, input, e);
}

/* It is the developer's alone, and in the file that sessions have. */
static int check_file(const struct tool *t, const char *home, struct err *e)
{
	cleanup_free char *path = path_join(home, t->file, e);
	cleanup_fd int fd = -1;
	struct stat st;

	if (path == NULL)
		return -1;
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_set(e, errno,
			       "%s is done, but has not kept the login in %s, where sessions "
			       "would find it",
			       policy_forge_tool_name(t->forge), path);
	if ((st.st_mode & 0177) != 0 && fchmod(fd, 0600) < 0)
		return err_set(e, errno, "set the permissions of %s", path);
	return 0;
}

static int refuse(int status, struct err *e, const char *tool, const char *why)
{
	(void)err_set(e, 0, "%s-auth: %s", tool, why);
	return status;
}

/**
 * login_run() - Do what `oci-sandbox gh-auth [HOST]` and `glab-auth [HOST]` ask for
 * @r:		What is known of the container; the caller has seen that this is no sandbox
 * @tool:	Whose login
 * @a:		Command line
 * @e:		Set on failure
 *
 * Return: an exit status
 */
int login_run(const struct run_dir *r, enum policy_forge_tool tool, const struct cli_arguments *a,
	      struct err *e)
{
	const struct tool *t = find_tool(tool);
	const char *name = policy_forge_tool_name(tool);
	const char *host = find_host(t, &r->policy, a->n_operands > 0 ? a->operands[0] : NULL);
	cleanup_free char *home = NULL;
	char path[PROGRAM_FIND_BYTES];

	if (r->policy.no_forge)
		return refuse(EX_NOPERM, e, name,
			      "the policy says `no-forge`, so no session would have the login");
	if (host == NULL) {
		(void)err_set(e, 0,
			      "%s-auth: sessions do not ask %s for `%.100s` (the policy's "
			      "`forge-host = HOST %s` is where that is said)",
			      name, name, a->operands[0], name);
		return EX_NOHOST;
	}
	if (program_find(name, path) == NULL) {
		(void)err_set(e, 0, "%s is not in " PROGRAM_PATH ": install it (%s)", name,
			      t->from);
		return EX_UNAVAILABLE;
	}
	home = home_find(e);
	if (home == NULL)
		return EX_CONFIG;
	(void)umask(0077);
	if (keep_token(t, path, host, home, e) < 0 || check_file(t, home, e) < 0)
		return EX_CANTCREAT;
	(void)printf("%s has the login for %s, and so have agents' sessions from now on, "
		     "read-only\n",
		     name, host);
	return EXIT_SUCCESS;
}
