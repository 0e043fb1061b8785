/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Which variables may cross into a sandbox
 */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "cleanup.h"
#include "env.h"
#include "err.h"

/*
 * What a person could name in pass-env without knowing that it makes programs load code or
 * look elsewhere for their configuration.
 */
static const char *const never_pass[] = {
	"LD_*",
	"BASH_ENV",
	"ENV",
	"SHELLOPTS",
	"BASHOPTS",
	"IFS",
	"PATH",
	"HOME",
	"USER",
	"LOGNAME",
	"SHELL",
	"PWD",
	"GIT_*",
	"NODE_OPTIONS",
	"NODE_PATH",
	"PYTHONPATH",
	"PYTHONHOME",
	"PYTHONSTARTUP",
	"PERL5OPT",
	"PERL5LIB",
	"RUBYOPT",
	"RUBYLIB",
	"GLIBC_TUNABLES",
	"BASH_FUNC*",
	"PROMPT_COMMAND",
	"PS4",
	"GCONV_PATH",
	"LOCPATH",
	"NLSPATH",
	"HOSTALIASES",
	"SSH_AUTH_SOCK",
	"SSH_AGENT_PID",
	"DBUS_*",
	"XAUTHORITY",
	"DISPLAY",
	"WAYLAND_DISPLAY",
	"DOCKER_HOST",
	"CONTAINER_HOST",
	"VSCODE_*",
	"TMUX",
	"TMUX_PANE",
	"STY",
	"OCI_SANDBOX*",
	"IS_SANDBOX",
	"XDG_RUNTIME_DIR",
	"TMPDIR",
};

static bool matches(const char *pattern, const char *name)
{
	size_t n = strlen(pattern);

	if (pattern[n - 1] == '*')
		return strncmp(pattern, name, n - 1) == 0;
	return strcmp(pattern, name) == 0;
}

/**
 * env_name_check() - Say whether a variable may be passed to an agent
 * @name:	Name of the variable
 * @e:		Set on failure
 *
 * Return: 0 if it may, -1 if it never may
 */
int env_name_check(const char *name, struct err *e)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

	if (name[0] == '\0' || name[strspn(name, allowed)] != '\0' ||
	    (name[0] >= '0' && name[0] <= '9'))
		return err_set(e, 0, "`%.60s` is not the name of a variable", name);
	for (size_t i = 0; i < N_ELEMENTS(never_pass); i++)
		if (matches(never_pass[i], name))
			return err_set(e, 0, "`%s` is never passed (it could change what runs)",
				       name);
	return 0;
}
