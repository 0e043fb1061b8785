/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What the host can do, and what it lacks
 *
 * A table of what is needed.  Each is tried in a process of its own, so that one that enters
 * namespaces, crashes or hangs says nothing about the next.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "advice.h"
#include "cleanup.h"
#include "err.h"
#include "host.h"
#include "installed.h"
#include "probe.h"
#include "results.h"
#include "tries.h"

/**
 * struct need - something that the host needs
 * @name:	What it is
 * @try:	0 if it is there, -1 if not, above 0 for a warning
 * @fine:	What was found out then
 * @advice:	What to do otherwise
 * @advise:	Says it instead, where it depends on what went wrong
 * @user:	Only an ordinary user needs it
 */
struct need {
	const char *name;
	int (*try)(const struct hook_paths *paths, struct err *e);
	const char *fine;
	const char *advice;
	void (*advise)(FILE *out, const struct hook_paths *paths, const struct err *why);
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
	  "modprobe -a nf_tables nft_reject_inet nft_chain_nat nft_masq, or use a kernel that has "
	  "them; as a user, see `user namespaces`" },
	{ "veth", try_veth, "a pair of interfaces was made, in two network namespaces",
	  "modprobe veth, or use a kernel that has it; as a user, see `user namespaces`" },
	{ "user namespaces", try_sandbox, "a sandbox's namespaces were made, and mounts in them",
	  .advise = advice_sandbox },
	{ "subordinate ids", installed_ids, "containers can have more than one id",
	  "install newuidmap (package uidmap or shadow-utils), and: usermod --add-subuids "
	  "100000-165535 --add-subgids 100000-165535 USER",
	  .user = true },
	{ "programs", installed_programs,
	  "shim and cli are there, static, and nobody else's to write",
	  "install oci-sandbox again, or name the folder with --libexec" },
	{ "policy", installed_policy, "it is there, and understood",
	  "put it right, or name the folder with --config" },
	{ "profiles", installed_profiles, "those that the policy names are there",
	  "put them right: agents/NAME.conf beside the policy" },
	{ "podman", installed_podman, "it calls this program for each container",
	  "oci-sandbox-hook --register podman" },
};

/**
 * struct question - what a process is to find out
 * @need:	Whose try()
 * @paths:	For it
 */
struct question {
	const struct need *need;
	const struct hook_paths *paths;
};

static int find_out(const void *arg, struct err *e)
{
	const struct question *q = arg;

	return q->need->try(q->paths, e);
}

/* Returns NULL if there is no memory. */
static char *advise(const struct need *n, const struct hook_paths *paths, const struct err *why)
{
	char *text = NULL;
	size_t size;
	FILE *f;

	if (n->advise == NULL)
		return strdup(n->advice);
	f = open_memstream(&text, &size);
	if (f == NULL)
		return NULL;
	n->advise(f, paths, why);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int check_need(const struct need *n, const struct hook_paths *paths, struct results *ret,
		      struct err *e)
{
	const struct question q = { .need = n, .paths = paths };
	struct err why = { 0 };
	const int found = probe_run(find_out, &q, &why);
	struct result r = { .name = n->name, .level = HOST_PROBLEM };

	if (found >= 0)
		r.level = found == 0 ? HOST_OK : HOST_WARNING;
	err_make_printable(&why);
	r.found = strdup(r.level == HOST_OK ? n->fine : why.msg);
	if (r.level != HOST_OK)
		r.advice = advise(n, paths, &why);
	return results_add(ret, r, e);
}

/**
 * host_check() - Find out of each thing that this host needs whether it is there
 * @paths:	Where things are on the host; without hooks_dir, where podman looks
 * @ret:	Gets a result for each
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure: then there was no memory to say it
 */
int host_check(const struct hook_paths *paths, struct results *ret, struct err *e)
{
	for (size_t i = 0; i < N_ELEMENTS(needs); i++) {
		if (needs[i].user && geteuid() == 0)
			continue;
		if (check_need(&needs[i], paths, ret, e) < 0)
			return -1;
	}
	return 0;
}
