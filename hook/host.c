/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What the host can do, and what it lacks
 *
 * A table of what is needed.  Each is tried in a process of its own, so that one that enters
 * namespaces, or crashes, says nothing about the next.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "host.h"
#include "installed.h"
#include "tries.h"

/**
 * struct need - something that the host needs
 * @name:	What it is
 * @try:	0 if it is there, -1 if not, above 0 for a warning
 * @fine:	What was found out then
 * @advice:	What to do otherwise
 * @user:	Only an ordinary user needs it
 */
struct need {
	const char *name;
	int (*try)(const struct hook_paths *paths, struct err *e);
	const char *fine;
	const char *advice;
	bool user;
};

static const struct need needs[] = {
	{ "openat2", try_openat2, "a path can be resolved below a root",
	  "use Linux 5.6 or newer, and no seccomp filter that refuses it" },
	{ "mounts", try_mounts, "a tmpfs and a bind mount on a symlink were made, read-only",
	  "use Linux 5.12 or newer; as a user, see `user namespaces`" },
	{ "namespaces", try_enter, "the namespaces of another process were entered by its pidfd",
	  "use Linux 5.8 or newer; as a user, see `user namespaces`" },
	{ "nf_tables", try_nft, "rules were committed and read back in a new network namespace",
	  "modprobe nf_tables nft_reject_inet, or use a kernel that has them" },
	{ "user namespaces", try_user_namespace, "an ordinary user can make what the shim needs",
	  "sysctl user.max_user_namespaces=15000, and where there are such: "
	  "kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0" },
	{ "subordinate ids", installed_ids, "containers can have more than one id",
	  "install newuidmap (package uidmap or shadow-utils), and: usermod --add-subuids "
	  "100000-165535 --add-subgids 100000-165535 USER",
	  .user = true },
	{ "programs", installed_programs, "the shim is there, static, and nobody else's to write",
	  "install oci-sandbox again, or name the folder with --libexec" },
	{ "policy", installed_policy, "it is there, and understood",
	  "put it right, or name the folder with --config" },
	{ "profiles", installed_profiles, "those that the policy names are there",
	  "put them right: agents/NAME.conf beside the policy" },
	{ "podman", installed_podman, "it calls this program for each container",
	  "oci-sandbox-hook --register podman" },
};

/**
 * struct finding - what a process found out
 * @result:	What try() returned
 * @e:		Why
 */
struct finding {
	int result;
	struct err e;
};

/* In the new process; a struct that is smaller than a pipe is written at once. */
static _Noreturn void find_out(const struct need *n, const struct hook_paths *paths, int to)
{
	struct finding f = { 0 };

	f.result = n->try(paths, &f.e);
	_exit(write(to, &f, sizeof(f)) == sizeof(f) ? 0 : 1);
}

static int wait_for(pid_t pid, int from, struct finding *ret, struct err *e)
{
	bool whole = read(from, ret, sizeof(*ret)) == sizeof(*ret);
	int status;

	if (waitpid(pid, &status, 0) < 0)
		return err_set(e, errno, "wait for a process");
	if (!whole && WIFSIGNALED(status))
		return err_set(e, 0, "the process that tried it ended by signal %d",
			       WTERMSIG(status));
	if (!whole)
		return err_set(e, 0, "the process that tried it said nothing");
	return 0;
}

static int ask(const struct need *n, const struct hook_paths *paths, struct finding *ret,
	       struct err *e)
{
	cleanup_fd int from = -1, to = -1;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(e, errno, "make a pipe");
	from = fds[0];
	to = fds[1];
	pid = fork();
	if (pid < 0)
		return err_set(e, errno, "new process");
	if (pid == 0)
		find_out(n, paths, to);
	(void)close(steal_fd(&to));
	return wait_for(pid, from, ret, e);
}

static enum host_level check_need(const struct need *n, const struct hook_paths *paths, FILE *out)
{
	static const char *const words[] = {
		[HOST_OK] = "ok",
		[HOST_WARNING] = "warning",
		[HOST_PROBLEM] = "problem",
	};
	enum host_level level = HOST_PROBLEM;
	struct finding f = { 0 };

	if (ask(n, paths, &f, &f.e) == 0 && f.result >= 0)
		level = f.result == 0 ? HOST_OK : HOST_WARNING;
	if (level == HOST_OK)
		(void)fprintf(out, "%-8s %s: %s\n", words[level], n->name, n->fine);
	else
		(void)fprintf(out, "%-8s %s: %s: %s\n", words[level], n->name, f.e.msg, n->advice);
	return level;
}

/**
 * host_check() - Say of each thing that this host needs whether it is there
 * @paths:	Where things are on the host; without hooks_dir, where podman looks
 * @out:	Where to write a line for each; the caller looks for its errors
 *
 * Return: the worst that was found
 */
enum host_level host_check(const struct hook_paths *paths, FILE *out)
{
	enum host_level worst = HOST_OK;

	for (size_t i = 0; i < N_ELEMENTS(needs); i++) {
		enum host_level level;

		if (needs[i].user && geteuid() == 0)
			continue;
		(void)fflush(out); /* or a child has a copy of it */
		level = check_need(&needs[i], paths, out);
		if (level > worst)
			worst = level;
	}
	return worst;
}
