/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The agent's environment
 *
 * The developer's is dropped: it holds tokens, sockets, and variables that make programs load
 * code.  What comes back is named here, in the profile and in the policy.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "environment.h"
#include "err.h"
#include "launch.h"
#include "path.h"
#include "plan_ops.h"
#include "signing.h"

#define PATH_DEFAULT "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* How the terminal and the toolchains are set up.  A "*" stands for any ending. */
static const char *const kept[] = {
	"TERM",          "COLORTERM",
	"TERM_PROGRAM",  "TERM_PROGRAM_VERSION",
	"NO_COLOR",      "FORCE_COLOR",
	"LANG",          "LANGUAGE",
	"LC_*",          "TZ",
	"VIRTUAL_ENV",   "UV_*",
	"CONDA_PREFIX",  "PRE_COMMIT_HOME",
	"CARGO_HOME",    "RUSTUP_HOME",
	"GOPATH",        "GOROOT",
	"NVM_DIR",       "PYENV_ROOT",
	"JAVA_HOME",     "SDKMAN_DIR",
	"VOLTA_HOME",    "BUN_INSTALL",
	"DENO_DIR",      "DOTNET_ROOT",
	"RBENV_ROOT",    "ASDF_DIR",
	"ASDF_DATA_DIR", "PNPM_HOME",
};

/* Logins that hide behind such a prefix, e.g. UV_PUBLISH_TOKEN, UV_INDEX_PRIVATE_PASSWORD */
static const char *const secret_words[] = { "TOKEN", "PASSWORD", "SECRET", "USERNAME", "_KEY" };

static bool is_kept(const char *name)
{
	for (size_t i = 0; i < N_ELEMENTS(secret_words); i++)
		if (strstr(name, secret_words[i]) != NULL)
			return false;
	for (size_t i = 0; i < N_ELEMENTS(kept); i++) {
		size_t n = strlen(kept[i]);

		if (kept[i][n - 1] == '*' ? strncmp(kept[i], name, n - 1) == 0
					  : strcmp(kept[i], name) == 0)
			return true;
	}
	return false;
}

/**
 * environment_get() - Find a variable
 * @vars:	NAME=VALUE strings, NULL at the end
 * @name:	Name
 *
 * Return: its value, owned by @vars; NULL if it isn't set
 */
const char *environment_get(char *const vars[], const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; vars[i] != NULL; i++)
		if (strncmp(vars[i], name, n) == 0 && vars[i][n] == '=')
			return vars[i] + n + 1;
	return NULL;
}

/* Sets NAME=VALUE in the list: the first one to come wins, so fixed ones are set first. */
static int set(struct strlist *l, const char *name, const char *value, struct err *e)
{
	if (environment_get(l->v != NULL ? l->v : (char *[]){ NULL }, name) != NULL)
		return 0;
	return strlist_add_fmt(l, e, "%s=%s", name, value);
}

/* What the agent can write: a program there would be found before the toolchain's own. */
static bool goes_last(const struct launch *l, const char *dir)
{
	return launch_agent_writes(l, dir) || path_is_at_or_below(dir, l->home) ||
	       path_is_at_or_below(dir, "/tmp") || path_is_at_or_below(dir, "/var/tmp");
}

static int add_dirs(struct strlist *dirs, const struct launch *l, const char *path, bool last,
		    struct err *e)
{
	for (const char *p = path; *p != '\0';) {
		size_t n = strcspn(p, ":");
		cleanup_free char *dir = strndup(p, n);

		if (dir == NULL)
			return err_set(e, ENOMEM, "allocate a path");
		if (dir[0] == '/' && goes_last(l, dir) == last && !strlist_has(dirs, dir) &&
		    strlist_add(dirs, dir, e) < 0)
			return -1;
		p += n;
		p += *p == ':';
	}
	return 0;
}

static int set_path(struct strlist *ret, const struct launch *l, const char *path, struct err *e)
{
	cleanup_strlist struct strlist dirs = { 0 };
	cleanup_free char *text = NULL;
	size_t size = 0;
	FILE *f;

	if (path == NULL)
		path = PATH_DEFAULT;
	if (add_dirs(&dirs, l, path, false, e) < 0 || add_dirs(&dirs, l, path, true, e) < 0)
		return -1;

	f = open_memstream(&text, &size);
	if (f == NULL)
		return err_set(e, ENOMEM, "allocate PATH");
	for (size_t i = 0; i < dirs.n; i++)
		(void)fprintf(f, "%s%s", i == 0 ? "" : ":", dirs.v[i]);
	if (fclose(f) != 0)
		return err_set(e, ENOMEM, "allocate PATH");
	return set(ret, "PATH", dirs.n == 0 ? PATH_DEFAULT : text, e);
}

/*
 * Before what the repository's own configuration says: a key that it names is the developer's, and
 * is not here.  The developer's and the system's hold tokens and helpers.
 */
static int set_git(struct strlist *ret, const struct launch *l, struct err *e)
{
	const struct {
		const char *key, *off, *on;
	} all[] = {
		{ "commit.gpgSign", "false", NULL },
		{ "tag.gpgSign", "false", NULL },
		{ "tag.forceSignAnnotated", "false", NULL },
		{ "gpg.format", NULL, "ssh" },
		{ "gpg.ssh.program", NULL, l->signs_with },
		{ "user.signingKey", NULL, SESSION_SIGNING "/" SIGNING_KEY },
	};
	size_t n = 0;

	for (size_t i = 0; i < N_ELEMENTS(all); i++) {
		const char *value = l->signing != NULL ? all[i].on : all[i].off;

		if (value == NULL)
			continue;
		if (strlist_add_fmt(ret, e, "GIT_CONFIG_KEY_%zu=%s", n, all[i].key) < 0 ||
		    strlist_add_fmt(ret, e, "GIT_CONFIG_VALUE_%zu=%s", n, value) < 0)
			return -1;
		n++;
	}
	if (strlist_add_fmt(ret, e, "GIT_CONFIG_COUNT=%zu", n) < 0 ||
	    set(ret, "GIT_CONFIG_GLOBAL", SESSION_GITCONFIG, e) < 0)
		return -1;
	return set(ret, "GIT_CONFIG_SYSTEM", "/dev/null", e);
}

/* What nobody but us decides. */
static int set_fixed(struct strlist *ret, const struct launch *l, char *const vars[], struct err *e)
{
	cleanup_free char *state = path_join(l->home, l->profile.state, e);

	if (state == NULL || set_path(ret, l, environment_get(vars, "PATH"), e) < 0 ||
	    set(ret, "HOME", l->home, e) < 0 || set(ret, "PWD", l->cwd, e) < 0 ||
	    set(ret, "IS_SANDBOX", "1", e) < 0)
		return -1;
	if (set_git(ret, l, e) < 0)
		return -1;
	if (l->user[0] != '\0' &&
	    (set(ret, "USER", l->user, e) < 0 || set(ret, "LOGNAME", l->user, e) < 0))
		return -1;
	if (set(ret, "SHELL", l->shell[0] != '\0' ? l->shell : "/bin/sh", e) < 0)
		return -1;
	if (l->profile.state_env != NULL && set(ret, l->profile.state_env, state, e) < 0)
		return -1;
	for (size_t i = 0; i < l->profile.set_env.n; i++)
		if (strlist_add(ret, l->profile.set_env.v[i], e) < 0)
			return -1;
	return 0;
}

static int pass(struct strlist *ret, const struct strlist *names, char *const vars[], struct err *e)
{
	for (size_t i = 0; i < names->n; i++) {
		const char *value = environment_get(vars, names->v[i]);

		if (value != NULL && set(ret, names->v[i], value, e) < 0)
			return -1;
	}
	return 0;
}

/**
 * environment_build() - Make the agent's environment
 * @l:		The launch
 * @vars:	The developer's
 * @ret:	Filled on success, untouched on failure; ends with a NULL, as execve(2) wants it
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int environment_build(const struct launch *l, char *const vars[], struct strlist *ret,
		      struct err *e)
{
	cleanup_strlist struct strlist env = { 0 };

	if (set_fixed(&env, l, vars, e) < 0 || pass(&env, &l->profile.pass_env, vars, e) < 0 ||
	    pass(&env, &l->policy.pass_env, vars, e) < 0)
		return -1;
	for (size_t i = 0; vars[i] != NULL; i++) {
		cleanup_free char *name = strndup(vars[i], strcspn(vars[i], "="));

		if (name == NULL)
			return err_set(e, ENOMEM, "allocate a string");
		if (is_kept(name) && set(&env, name, environment_get(vars, name), e) < 0)
			return -1;
	}

	*ret = env;
	env = (struct strlist){ 0 };
	return 0;
}

/**
 * environment_is_secret() - Say whether a variable's value may be a login
 * @l:		The launch
 * @name:	Variable of its environment
 *
 * Return: true if it is passed on because its owner asked for it, or can name a server with a
 *	   password in it (UV_INDEX_URL)
 */
bool environment_is_secret(const struct launch *l, const char *name)
{
	return strlist_has(&l->profile.pass_env, name) || strlist_has(&l->policy.pass_env, name) ||
	       strncmp(name, "UV_", 3) == 0;
}
