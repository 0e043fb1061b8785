/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>

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
