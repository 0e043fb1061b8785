/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: All of one launch, in order
 *
 * Built by functions that ask the kernel nothing, from what was read before.  sandbox_run() carries
 * it out, and --print-plan prints it: there is no other account of a launch.
 */
#include "config.h"

#include "capabilities.h"
#include "environment.h"
#include "launch.h"
#include "prepared.h"

static int add_messages(const struct launch *l, struct strlist *ret, struct err *e)
{
	for (size_t i = 0; i < l->manifest.capabilities.n; i++) {
		const struct capability *c = capability_find(l->manifest.capabilities.v[i]);

		if (c->at_launch && strlist_add_fmt(ret, e, "warning: container root has %s: it %s",
						    c->name, c->so) < 0)
			return -1;
	}
	if (l->signs && l->signing == NULL &&
	    strlist_add(
		    ret,
		    "what the agent commits is not signed: your keys stay outside (`oci-sandbox "
		    "signing auto` makes one for agents)",
		    e) < 0)
		return -1;
	for (size_t i = 0; i < l->left_out.n; i++)
		if (strlist_add_fmt(ret, e, "warning: %s", l->left_out.v[i]) < 0)
			return -1;
	if (l->no_route)
		return strlist_add(ret,
				   "warning: the container has no default route, so agents have no "
				   "network",
				   e);
	return 0;
}

/**
 * prepared_build() - Make what follows from a launch alone
 * @p:		Its launch and argv are set; gets mounts, env and messages
 * @vars:	The developer's environment
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int prepared_build(struct prepared *p, char *const vars[], struct err *e)
{
	if (launch_check_ports(p->launch, e) < 0 || plan_build(p->launch, &p->mounts, e) < 0 ||
	    environment_build(p->launch, vars, &p->env, e) < 0)
		return -1;
	return add_messages(p->launch, &p->messages, e);
}

/**
 * prepared_done() - Release what a launch has prepared; it is empty afterwards
 * @p:		What was prepared
 */
void prepared_done(struct prepared *p)
{
	plan_done(&p->mounts);
	strlist_clear(&p->env);
	strlist_clear(&p->messages);
	strlist_clear(&p->missing);
	strlist_clear(&p->to_make);
	strlist_clear(&p->to_import);
	strlist_clear(&p->obstacles);
	close_p(&p->store);
	close_p(&p->share);
	*p = (struct prepared)PREPARED_NONE;
}
