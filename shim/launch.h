/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_LAUNCH_H
#define SHIM_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "load.h"
#include "manifest.h"
#include "places.h"
#include "policy.h"
#include "profile.h"
#include "resolv.h"
#include "strlist.h"

struct err;

/**
 * struct launch - all that one launch is made from
 * @hooked:	The hook has prepared the container
 * @policy:	The container's policy
 * @manifest:	What the hook said of the container
 * @profiles:	All profiles; that of the agent is moved to @profile
 * @profile:	The agent's profile
 * @command:	Name that the agent was launched by
 * @uid:	User in the container
 * @gid:	Group in the container
 * @user:	Login name of @uid, "" if /etc/passwd has none
 * @shell:	Login shell of @uid, "" if /etc/passwd has none
 * @passwd_home: Home of @uid by /etc/passwd, clean; NULL if it has none or it is "/"
 * @home:	Home for this launch, clean, all symlinks resolved
 * @cwd:	Current folder, clean, all symlinks resolved
 * @workspace:	Folder that the agent may write, clean, all symlinks resolved; @cwd is at or
 *		below it
 * @state:	Folder of the state stores
 * @agent:	The real agent, all symlinks resolved
 * @agent_at:	Where the sandbox has it: where what it looks for beside itself is
 * @passwd:	/etc/passwd as the sandbox shall see it; NULL: as it is
 * @group:	/etc/group as the sandbox shall see it; NULL: as it is
 * @no_route:	The container's network leads nowhere, so the agent's doesn't
 * @resolv:	The container's resolvers
 * @resolv_path: Its /etc/resolv.conf, all symlinks resolved; NULL: it has none
 * @resolv_conf: /etc/resolv.conf as the sandbox shall see it
 * @dns_address: Where the launch's DNS relay is on the agents' loopback, host byte order
 * @gitconfig:	The session's git configuration, text; NULL: none
 * @asks_git:	The developer has a configuration of git, which git(1) is asked about
 * @signs:	The developer signs what he commits
 * @signing:	Folder of the key that agents sign with, in @state; NULL: they don't
 * @signs_with:	ssh-keygen(1) of the container, static; NULL if @signing is
 * @git_common:	The repository that the workspace is a worktree of, resolved; NULL: none
 * @git_dir:	The folder of this worktree in it, resolved; NULL: none
 * @git_dirs:	Folders of submodules and worktrees in the repository, absolute: below @git_common
 *		if there is one, else below the workspace
 * @writable:	What the policy's allow-write names and is there
 * @devices:	Device nodes that the policy gives, and are there
 * @shared:	Folders of the home that share-write gives
 * @share:	The developer's .local/share, resolved; NULL: there is none, or it is in @shared
 * @share_store: Folder with the upper and work folders of an overlay for it; NULL: none can be had
 * @skills:	Names of those that come with us, each with a place in the agent's store
 * @left_out:	What the policy names and is not there, a line each for the developer
 *
 * Owned by the caller; launch_done() releases it.
 */
struct launch {
	bool hooked;
	struct policy policy;
	struct manifest manifest;
	struct loaded_profiles profiles;
	struct profile profile;
	char *command;
	uid_t uid;
	gid_t gid;
	char *user;
	char *shell;
	char *passwd_home;
	char *home;
	char *cwd;
	char *workspace;
	char *state;
	char *agent;
	char *agent_at;
	char *passwd;
	char *group;
	bool no_route;
	struct resolv resolv;
	char *resolv_path;
	char *resolv_conf;
	uint32_t dns_address;
	char *gitconfig;
	bool asks_git;
	bool signs;
	char *signing;
	const char *signs_with;
	char *git_common;
	char *git_dir;
	struct strlist git_dirs;
	struct places writable;
	struct places devices;
	struct places shared;
	char *share;
	char *share_store;
	struct strlist skills;
	struct strlist left_out;
};

/* Told of something that the agent lacks, one line */
typedef void (*launch_warn)(const char *what);

void launch_done(struct launch *l);
bool launch_agent_writes(const struct launch *l, const char *real);
int launch_check_state(const struct launch *l, struct err *e);
uint32_t launch_model_port(const struct launch *l);
int launch_check_ports(const struct launch *l, struct err *e);
unsigned launch_id_inside(const struct launch *l, unsigned id);

#define cleanup_launch CLEANUP(launch_done)

#endif
