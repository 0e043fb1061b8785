/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What a person asks for on the command line, for one launch
 *
 * It becomes part of the launch's own copy of the policy, which the launch and --print-plan go by.
 * No variable can do it: a file of the workspace may have set that.
 */
#include "config.h"

#include <string.h>

#include "arguments.h"
#include "err.h"
#include "launch.h"
#include "session.h"
#include "session_options.h"

/* From the narrowest to the widest */
static const enum policy_egress by_width[] = { POLICY_EGRESS_NONE, POLICY_EGRESS_ALLOWLIST,
					       POLICY_EGRESS_INTERNET, POLICY_EGRESS_OPEN };

static size_t width_of(enum policy_egress egress)
{
	size_t i = 0;

	while (i < N_ELEMENTS(by_width) - 1 && by_width[i] != egress)
		i++;
	return i;
}

static int find_width(const char *word, size_t *ret, struct err *e)
{
	for (*ret = 0; *ret < N_ELEMENTS(by_width); ++*ret)
		if (strcmp(word, policy_egress_name(by_width[*ret])) == 0)
			return 0;
	return err_set(e, 0, "--egress: `%.60s` is none of none, allowlist, internet, open", word);
}

/* The rules of the hook's network are the container's, and no launch has power over them. */
static int narrow_egress(const char *asked, struct launch *l, struct err *e)
{
	const char *has = policy_egress_name(l->policy.egress);
	const size_t most = width_of(l->policy.egress);
	size_t width;

	if (find_width(asked, &width, e) < 0)
		return -1;
	if (width > most)
		return err_set(e, 0,
			       "--egress %s: the policy gives %s, and a launch can only narrow it",
			       asked, has);
	if (width == most)
		return 0;
	if (by_width[width] != POLICY_EGRESS_NONE &&
	    l->manifest.network == MANIFEST_NETWORK_NAMESPACE)
		return err_set(e, 0,
			       "--egress %s: the hook's rules are fixed when the container starts, "
			       "and say %s: `--egress none` is possible for one launch; else set "
			       "`egress = %s` in the policy and start the container again",
			       asked, has, asked);
	l->policy.egress = by_width[width];
	if (by_width[width] == POLICY_EGRESS_NONE)
		l->manifest.network = MANIFEST_NETWORK_NONE;
	return 0;
}

static int add_each(struct launch *l, enum policy_session what, const struct strlist *values,
		    struct err *e)
{
	for (size_t i = 0; i < values->n; i++)
		if (session_add(&l->policy, what, values->v[i], e) < 0)
			return -1;
	return 0;
}

/**
 * session_apply() - Take over what a launch was asked for, as far as its policy lets it
 * @a:		What was asked for
 * @l:		The launch, with policy and manifest; half changed on failure: drop it
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int session_apply(const struct arguments *a, struct launch *l, struct err *e)
{
	if (add_each(l, POLICY_SESSION_LOCAL_PORT, &a->local_port, e) < 0 ||
	    add_each(l, POLICY_SESSION_CALLBACK_PORT, &a->callback_port, e) < 0 ||
	    add_each(l, POLICY_SESSION_PASS_ENV, &a->pass_env, e) < 0)
		return -1;
	return a->egress == NULL ? 0 : narrow_egress(a->egress, l, e);
}
