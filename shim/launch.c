/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>

#include "err.h"
#include "launch.h"
#include "path.h"

/**
 * launch_done() - Release what a launch owns; it is empty afterwards
 * @l:		Launch
 */
void launch_done(struct launch *l)
{
	policy_done(&l->policy);
	manifest_done(&l->manifest);
	loaded_profiles_done(&l->profiles);
	profile_done(&l->profile);
	free(l->command);
	free(l->user);
	free(l->shell);
	free(l->passwd_home);
	free(l->home);
	free(l->cwd);
	free(l->workspace);
	free(l->state);
	free(l->agent);
	free(l->agent_at);
	free(l->passwd);
	free(l->group);
	resolv_done(&l->resolv);
	free(l->resolv_path);
	free(l->resolv_conf);
	free(l->gitconfig);
	free(l->signing);
	free(l->git_common);
	free(l->git_dir);
	strlist_clear(&l->git_dirs);
	strlist_clear(&l->skills);
	places_done(&l->writable);
	places_done(&l->devices);
	places_done(&l->shared);
	free(l->share);
	free(l->share_store);
	strlist_clear(&l->left_out);
	*l = (struct launch){ 0 };
}

/**
 * launch_agent_writes() - Say whether agents can have written something
 * @l:		The launch, as far as it is known
 * @real:	Clean path, all symlinks resolved
 *
 * Return: true if it is at or below a place that is theirs to write
 */
bool launch_agent_writes(const struct launch *l, const char *real)
{
	const char *const places[] = { l->workspace, l->state, l->git_common };

	for (size_t i = 0; i < N_ELEMENTS(places); i++)
		if (places[i] != NULL && path_is_at_or_below(real, places[i]))
			return true;
	return places_hold(&l->writable, real);
}

/**
 * launch_check_state() - Make sure that the state stores are where only their agents write
 * @l:		The launch, its state resolved
 * @e:		Set if they aren't
 *
 * Return: 0 if they are, -1 if not
 */
int launch_check_state(const struct launch *l, struct err *e)
{
	if (!path_is_at_or_below(l->state, l->workspace))
		return 0;
	return err_set(e, 0,
		       "state store %s is in the workspace, where any agent could change it: "
		       "name another folder as state-root in the policy",
		       l->state);
}

/**
 * launch_model_port() - Say which port of a model an agent reaches, whatever else it reaches
 * @l:		The launch
 *
 * Return: TCP port of the container's loopback; 0: none
 */
uint32_t launch_model_port(const struct launch *l)
{
	if (l->profile.local_model_port == 0 || l->policy.local_model_port == POLICY_NO_PORT)
		return 0;
	return l->policy.local_model_port != 0 ? l->policy.local_model_port
					       : l->profile.local_model_port;
}

/**
 * launch_check_ports() - Make sure that no port leads both ways
 * @l:		The launch; the policy's own ports have been checked, but not the profile's
 * @e:		Set if one does
 *
 * Return: 0 if none does, -1 if one does
 */
int launch_check_ports(const struct launch *l, struct err *e)
{
	uint32_t port = launch_model_port(l);

	if (!policy_numbers_have(&l->policy.callback_port, port))
		return 0;
	return err_set(e, 0,
		       "port %u is a callback-port, and the local-model-port of the "
		       "profile `%s`: it can't be both (the policy's `local-model-port`, another "
		       "port or none, comes before the profile's)",
		       port, l->profile.name);
}

/**
 * launch_id_inside() - Say what an id of the container appears as in the sandbox
 * @l:		The launch
 * @id:		User or group
 *
 * Return: the id there
 */
unsigned launch_id_inside(const struct launch *l, unsigned id)
{
	if (l->uid != 0 || (id != 0 && id != l->policy.agent_id))
		return id;
	return id == 0 ? l->policy.agent_id : 0;
}
