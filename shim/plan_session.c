/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The part of a plan that is /run/oci-sandbox
 *
 * The hook's folder comes back, or is made where there was no hook; and a mount in it, which only
 * a sandbox has, holds the session's facts and the files that are made for it.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "err.h"
#include "launch.h"
#include "path.h"
#include "plan_ops.h"
#include "plan_session.h"
#include "signing.h"

static int add_profiles(const struct launch *l, struct plan *p, struct err *e)
{
	if (plan_add_mode(p, OP_DIR, 0755, RUN_PROFILES, e) < 0)
		return -1;
	for (size_t i = 0; i < l->profiles.n; i++) {
		cleanup_free char *path = NULL;

		if (asprintf(&path, RUN_PROFILES "/%s.conf", l->policy.agents.v[i]) < 0) {
			path = NULL;
			return err_set(e, ENOMEM, "allocate a path");
		}
		if (plan_add_file(p, l->profiles.v[i].text, path, e) < 0)
			return -1;
	}
	return 0;
}

/* The same folder where no hook has made it: what an agent launches in turn goes by it. */
static int add_run_dir(const struct launch *l, struct plan *p, struct err *e)
{
	cleanup_free char *policy = NULL, *manifest = NULL;
	size_t size;
	FILE *f = open_memstream(&policy, &size), *g;

	if (f == NULL)
		return err_set(e, ENOMEM, "allocate the policy");
	(void)policy_print(f, &l->policy);
	if (fclose(f) != 0 || (g = open_memstream(&manifest, &size)) == NULL)
		return err_set(e, ENOMEM, "allocate the policy");
	(void)manifest_print(g, &l->manifest);
	if (fclose(g) != 0)
		return err_set(e, ENOMEM, "allocate the manifest");
	if (plan_add_mode(p, OP_DIR, 0755, RUN_DIR, e) < 0 ||
	    plan_add_mode(p, OP_TMPFS, 0755, RUN_DIR, e) < 0 ||
	    plan_add_file(p, policy, RUN_POLICY, e) < 0 ||
	    plan_add_file(p, manifest, RUN_MANIFEST, e) < 0 || add_profiles(l, p, e) < 0 ||
	    plan_add_mode(p, OP_DIR, 0755, RUN_SESSION, e) < 0)
		return -1;
	return plan_add(p, OP_SEAL, 0, NULL, RUN_DIR, e);
}

/* The hook's folder comes back as it is, but for the namespaces of other launches. */
static int plan_run_dir(const struct launch *l, struct plan *p, struct err *e)
{
	if (!l->hooked)
		return add_run_dir(l, p, e);
	if (plan_add(p, OP_BIND, 0, RUN_DIR, RUN_DIR, e) < 0)
		return -1;
	return plan_add(p, OP_MASK, 0, NULL, RUN_NS, e);
}

/* Each file of the key, and nothing else of what is beside it. */
static int add_signing(const struct launch *l, struct plan *p, struct err *e)
{
	static const char *const files[] = { SIGNING_KEY, SIGNING_PUBLIC };

	if (l->signing == NULL)
		return 0;
	if (plan_add_mode(p, OP_DIR, 0755, SESSION_SIGNING, e) < 0)
		return -1;
	for (size_t i = 0; i < N_ELEMENTS(files); i++) {
		cleanup_free char *source = path_join(l->signing, files[i], e);
		cleanup_free char *target =
			source == NULL ? NULL : path_join(SESSION_SIGNING, files[i], e);

		if (target == NULL || plan_add(p, OP_BIND, 0, source, target, e) < 0)
			return -1;
	}
	return 0;
}

/**
 * plan_session() - Plan the hook's folder, and in it what only a sandbox has
 * @l:		The launch
 * @p:		Plan
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int plan_session(const struct launch *l, struct plan *p, struct err *e)
{
	cleanup_free char *facts = NULL;

	if (asprintf(&facts, "agent = %s\ncommand = %s\n", l->profile.name, l->command) < 0) {
		facts = NULL;
		return err_set(e, ENOMEM, "allocate the session's facts");
	}
	if (plan_run_dir(l, p, e) < 0 || plan_add_mode(p, OP_TMPFS, 0755, RUN_SESSION, e) < 0 ||
	    plan_add_file(p, facts, SESSION_FACTS, e) < 0)
		return -1;
	if (l->gitconfig != NULL && plan_add_file(p, l->gitconfig, SESSION_GITCONFIG, e) < 0)
		return -1;
	if (add_signing(l, p, e) < 0)
		return -1;
	if (l->passwd != NULL &&
	    (plan_add_file(p, l->passwd, RUN_SESSION "/passwd", e) < 0 ||
	     plan_add(p, OP_BIND, OP_FROM_NEW, RUN_SESSION "/passwd", "/etc/passwd", e) < 0))
		return -1;
	if (l->group != NULL &&
	    (plan_add_file(p, l->group, RUN_SESSION "/group", e) < 0 ||
	     plan_add(p, OP_BIND, OP_FROM_NEW, RUN_SESSION "/group", "/etc/group", e) < 0))
		return -1;
	if (l->resolv_path != NULL &&
	    (plan_add_file(p, l->resolv_conf, RUN_SESSION "/resolv.conf", e) < 0 ||
	     plan_add(p, OP_BIND, OP_FROM_NEW, RUN_SESSION "/resolv.conf", l->resolv_path, e) < 0))
		return -1;
	return plan_add(p, OP_SEAL, 0, NULL, RUN_SESSION, e);
}
