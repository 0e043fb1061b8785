/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Which containers are ours
 *
 * Annotations and the environment come from files in the workspace: they may ask to be
 * confined, and nothing that they say takes a container out.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "decide.h"
#include "err.h"
#include "oci_config.h"
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

/**
 * decide() - Say whether a container is ours
 * @c:		Its configuration
 * @p:		Policy; NULL if there is none, then only those that ask are ours
 * @ret_why:	Why it is, a constant; NULL if it isn't
 * @e:		Set on failure: what it asks can't be understood, or isn't supported
 *
 * Return: 0 on success, -1 on failure
 */
int decide(const struct oci_config *c, const struct policy *p, const char **ret_why, struct err *e)
{
	const char *why, *policy;

	if (asks(c, &why, e) < 0)
		return -1;
	if (why == NULL && p != NULL && p->match == POLICY_MATCH_ALWAYS)
		why = "match = always in the policy";
	if (why != NULL) {
		if (oci_config_annotation(c, KEY_POLICY, &policy, e) < 0)
			return -1;
		if (policy != NULL)
			return err_set(e, ENOTSUP,
				       "annotation %s=%.60s: not supported yet (remove it)",
				       KEY_POLICY, policy);
	}

	*ret_why = why;
	return 0;
}
