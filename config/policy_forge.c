/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Forges: servers of git repositories that a policy names
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "err.h"
#include "policy.h"
#include "strlist.h"

static const char *const forge_tools[] = {
	[POLICY_FORGE_GH] = "gh",
	[POLICY_FORGE_GLAB] = "glab",
};

/**
 * policy_forge_tool_name() - The command that knows the login for a forge
 * @tool:	Whose
 *
 * Return: a static string
 */
const char *policy_forge_tool_name(enum policy_forge_tool tool)
{
	return forge_tools[tool];
}

/* It becomes a part of git's configuration: nothing else than a name may be in it. */
static bool is_host(const char *s)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";

	return s[0] != '\0' && s[0] != '-' && s[0] != '.' && strspn(s, letters) == strlen(s);
}

/**
 * policy_forge_add() - Read a value of forge-host
 * @member:	struct policy, which gets the forge
 * @value:	"HOST gh" or "HOST glab"
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int policy_forge_add(void *member, const char *value, struct err *e)
{
	cleanup_strlist struct strlist words = { 0 };
	struct policy *p = member;
	struct policy_forge *v;

	if (strlist_add_words(&words, value, e) < 0)
		return -1;
	if (words.n != 2 || !is_host(words.v[0]))
		return err_set(e, 0, "`%.60s` is not HOST gh or HOST glab", value);
	v = reallocarray(p->forge, p->n_forge + 1, sizeof(*v));
	if (v == NULL)
		return err_set(e, ENOMEM, "allocate a forge");
	p->forge = v;
	for (size_t i = 0; i < N_ELEMENTS(forge_tools); i++)
		if (strcmp(words.v[1], forge_tools[i]) == 0) {
			v[p->n_forge++] = (struct policy_forge){
				.host = steal_ptr(&words.v[0]),
				.tool = (enum policy_forge_tool)i,
			};
			return 0;
		}
	return err_set(e, 0, "`%.60s` is not HOST gh or HOST glab", value);
}
