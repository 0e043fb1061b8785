/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Which containers are ours
 *
 * Annotations and the environment come from files in the workspace: they may ask to be
 * confined, and by which of the policies that are there to be chosen; nothing that they say takes
 * a container out.
 */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "decide.h"
#include "err.h"
#include "oci_config.h"
#include "path.h"
#include "policy.h"

#define KEY_ENABLE "io.oci-sandbox.enable"
#define KEY_POLICY "io.oci-sandbox.policy"
#define ENV_ENABLE "OCI_SANDBOX=1"

/* What the container itself says: @ret is why it asks, NULL if it doesn't. */
static int asks(const struct oci_config *c, const char **ret, struct err *e)
{
	const char *enable;

	if (oci_config_annotation(c, KEY_ENABLE, &enable, e) < 0)
		return -1;
	/* Someone who wrote "yes" believes that the container is confined */
	if (enable != NULL && strcmp(enable, "true") != 0 && strcmp(enable, "false") != 0)
		return err_set(e, 0, "annotation %s: `%.60s` is neither true nor false", KEY_ENABLE,
			       enable);

	*ret = NULL;
	if (enable != NULL && strcmp(enable, "true") == 0)
		*ret = "annotation " KEY_ENABLE "=true";
	for (size_t i = 0; *ret == NULL && i < c->env.n; i++)
		if (strcmp(c->env.v[i], ENV_ENABLE) == 0)
			*ret = ENV_ENABLE " in process.env";
	return 0;
}

/*
 * What the devcontainer command and VS Code leave in config.json: labels where an engine makes
 * annotations of them, the folder of workspaces, the volume of VS Code's server, and the command
 * that keeps the container running.
 */
static const char *looks_like_devcontainer(const struct oci_config *c)
{
	if (oci_config_has_annotation(c, "devcontainer."))
		return "match = devcontainer in the policy, and it has a devcontainer's label";
	for (size_t i = 0; i < c->n_mounts; i++)
		if (path_is_at_or_below(c->mounts[i].destination, "/workspaces") ||
		    strcmp(c->mounts[i].destination, "/vscode") == 0)
			return "match = devcontainer in the policy, and it has a devcontainer's "
			       "mount";
	for (size_t i = 0; i < c->args.n; i++)
		if (strncmp(c->args.v[i], "echo Container started",
			    strlen("echo Container started")) == 0)
			return "match = devcontainer in the policy, and it runs a devcontainer's "
			       "command";
	return NULL;
}

static const char *matches(const struct oci_config *c, const struct policy *p)
{
	switch (p->match) {
	case POLICY_MATCH_ALWAYS:
		return "match = always in the policy";
	case POLICY_MATCH_DEVCONTAINER:
		return looks_like_devcontainer(c);
	case POLICY_MATCH_ANNOTATION:
		break;
	}
	return NULL;
}

/**
 * decide() - Say whether a container is ours
 * @c:		Its configuration
 * @p:		Policy; NULL if there is none, then only those that ask are ours
 * @ret_why:	Why it is, a constant; NULL if it isn't
 * @ret_policy:	Name of the policy that it asks for, owned by @c; NULL: @p, or it is not ours
 * @e:		Set on failure: what it asks can't be understood
 *
 * Return: 0 on success, -1 on failure
 */
int decide(const struct oci_config *c, const struct policy *p, const char **ret_why,
	   const char **ret_policy, struct err *e)
{
	const char *why, *policy = NULL;

	if (asks(c, &why, e) < 0)
		return -1;
	if (why == NULL && p != NULL)
		why = matches(c, p);
	if (why != NULL && oci_config_annotation(c, KEY_POLICY, &policy, e) < 0)
		return -1;

	*ret_why = why;
	*ret_policy = policy;
	return 0;
}
