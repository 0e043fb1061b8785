/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_POLICY_H
#define CONFIG_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ip.h"
#include "strlist.h"

struct err;

/* Which containers are ours (key "match") */
enum policy_match {
	POLICY_MATCH_ANNOTATION,   /* those that ask */
	POLICY_MATCH_DEVCONTAINER, /* these, and what looks like a devcontainer */
	POLICY_MATCH_ALWAYS,
};

/* What is reached besides allow-ip (key "egress") */
enum policy_egress {
	POLICY_EGRESS_INTERNET, /* what is public */
	POLICY_EGRESS_ALLOWLIST,
	POLICY_EGRESS_NONE, /* not even what is allowed */
	POLICY_EGRESS_OPEN,
};

/* Who is confined by that (key "egress-scope") */
enum policy_scope {
	POLICY_SCOPE_CONTAINER, /* everything in it */
	POLICY_SCOPE_AGENT,
};

/* Whose command knows the login for a forge */
enum policy_forge_tool {
	POLICY_FORGE_GH,   /* gh(1), GitHub's */
	POLICY_FORGE_GLAB, /* glab(1), GitLab's */
};

/**
 * struct policy_forge - a server of git repositories
 * @host:	Its name, lower case, owned
 * @tool:	Whose command knows the login
 */
struct policy_forge {
	char *host;
	enum policy_forge_tool tool;
};

#define POLICY_NUMBERS_MAX 64
#define POLICY_NO_PORT (UINT16_MAX + 1U)

/**
 * struct policy_numbers - a list of numbers, each once
 * @v:	In the policy's order, owned
 * @n:	How many, at most POLICY_NUMBERS_MAX
 */
struct policy_numbers {
	uint32_t *v;
	size_t n;
};

/**
 * struct policy - what an administrator decided
 * @match:		Which containers are ours
 * @agents:		Profile names
 * @workspace_root:	Clean absolute path of the workspace; NULL: the current folder
 * @allow_mount:	Clean absolute paths: engine mounts that stay visible
 * @allow_write:	What comes back writable: clean absolute paths, or ~/ and one relative to
 *			the home
 * @share_write:	.cache, .local/share and .agents/skills of the home are writable as they are
 * @allow_device:	Clean paths below /dev: devices that agents have
 * @gpu:		They have those of a GPU, too
 * @protect:		Relative paths: read-only inside the workspace
 * @mask:		Clean absolute paths: hidden
 * @home_read:		Relative paths: what comes back of the home, read-only
 * @pass_env:		Variables that reach the agent
 * @no_forge:		The forges' logins (gh, glab) stay out
 * @forge:		Forges besides github.com and gitlab.com
 * @n_forge:		How many
 * @egress:		What is reached besides @allow_ip
 * @egress_scope:	Who is confined by that
 * @allow_connected:	Networks that the container is part of are reached, but for gateways and
 *			the host
 * @agent_subnet:	IPv4 network that agents' links get their addresses from; family 0: one that
 *			is free
 * @agent_uid:		Users of the container that get a network namespace for their agents; none:
 *			root, the container's own user and 1000
 * @local_port:		TCP ports of the container's loopback that agents reach on theirs
 * @local_model_port:	Such a port for agents whose profile has one; 0: the profile's own,
 *			POLICY_NO_PORT: none
 * @callback_port:	TCP ports of agents' loopback that the container reaches on its own
 * @allow_ip:		Destinations that are reached although the defaults deny them; any order,
 *			may overlap
 * @n_allow_ip:		How many
 * @deny_ip:		Destinations that are denied although the defaults allow them, but for
 *			those of @allow_ip; likewise
 * @n_deny_ip:		How many
 * @agent_id:		What container root appears as inside a sandbox
 * @nested_sandbox:	Agents may make user namespaces, as their own sandboxes do
 * @selectable:		A container may ask for this policy by its name
 * @require_hook:	In a container without the hook no agent is launched
 * @session_may:	What a person may add for one session, bits of enum policy_session
 * @state_root:		Clean absolute path of the state stores; NULL: below the home
 *
 * Owned by the caller; policy_done() releases it.
 */
struct policy {
	enum policy_match match;
	struct strlist agents;
	char *workspace_root;
	struct strlist allow_mount;
	struct strlist allow_write;
	bool share_write;
	struct strlist allow_device;
	bool gpu;
	struct strlist protect;
	struct strlist mask;
	struct strlist home_read;
	struct strlist pass_env;
	bool no_forge;
	struct policy_forge *forge;
	size_t n_forge;
	enum policy_egress egress;
	enum policy_scope egress_scope;
	bool allow_connected;
	struct ip_prefix agent_subnet;
	struct policy_numbers agent_uid;
	struct policy_numbers local_port;
	uint32_t local_model_port;
	struct policy_numbers callback_port;
	struct ip_destination *allow_ip;
	size_t n_allow_ip;
	struct ip_destination *deny_ip;
	size_t n_deny_ip;
	unsigned agent_id;
	bool nested_sandbox;
	bool selectable;
	bool require_hook;
	unsigned session_may;
	char *state_root;
};

int policy_parse(char *text, const char *name, struct policy *ret, struct err *e);
int policy_print(FILE *f, const struct policy *p);
const char *policy_egress_name(enum policy_egress egress);
const char *policy_scope_name(enum policy_scope scope);
const char *policy_match_name(enum policy_match match);
void policy_done(struct policy *p);
const char *policy_forge_tool_name(enum policy_forge_tool tool);
int policy_forge_add(void *member, const char *value, struct err *e);
int policy_add(struct policy *p, const char *key, const char *value, struct err *e);
bool policy_numbers_have(const struct policy_numbers *l, uint32_t number);

#define cleanup_policy CLEANUP(policy_done)

#endif
