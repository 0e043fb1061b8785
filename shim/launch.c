/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>

#include "launch.h"

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
	free(l->git_common);
	free(l->git_dir);
	strlist_clear(&l->git_dirs);
	*l = (struct launch){ 0 };
}
