/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_MANIFEST_H
#define CONFIG_MANIFEST_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "strlist.h"

struct err;

/* What the hook leaves in the container for the shim: all below one read-only tmpfs. */
#define RUN_DIR "/run/oci-sandbox"
#define RUN_POLICY RUN_DIR "/policy.conf"
#define RUN_MANIFEST RUN_DIR "/container"
#define RUN_PROFILES RUN_DIR "/profiles"
#define RUN_AGENTS RUN_DIR "/agents"
#define RUN_NS RUN_DIR "/ns"           /* UID/user and UID/net: namespaces of that user's agents */
#define RUN_SESSION RUN_DIR "/session" /* empty; only a sandbox mounts something there */

/* Policy and profiles of a container without the hook: what its image's root put there */
#define CONTAINER_CONFIG_DIR "/etc/oci-sandbox"

/* What people type in a container, beside the agents' names */
#define CLI_COMMAND "oci-sandbox"

/* Where the host's folder of the same purpose is in every container */
#define LIBEXEC_DIR "/usr/libexec/oci-sandbox"
#define SKILLS_DIR LIBEXEC_DIR "/skills" /* a folder for each skill that comes with us */

#define MANIFEST_MAX_BYTES (8 * 1024 * 1024)

/**
 * struct manifest_agent - an agent of the image that the hook covered with the shim
 * @command:	Name that it is launched by
 * @path:	Where the shim finds the real one, absolute, in the container
 * @origin:	Where it was before it was covered, absolute: what it looks for beside itself is
 *		there; NULL if @path is that place
 */
struct manifest_agent {
	char *command;
	char *path;
	char *origin;
};

/* Which network agents have */
enum manifest_network {
	MANIFEST_NETWORK_NONE,      /* loopback of the launch's own, and nothing else */
	MANIFEST_NETWORK_NAMESPACE, /* one for each user of those in struct manifest */
	MANIFEST_NETWORK_PASTA,     /* each launch makes its own, and pasta(1) connects it */
};

/**
 * struct manifest_user - a user whose agents have namespaces below RUN_NS
 * @uid:	User
 * @gid:	The one group that another user's than root's namespace has
 */
struct manifest_user {
	uid_t uid;
	gid_t gid;
};

/**
 * struct manifest - what the hook tells the shim about the container
 * @id:		What the runtime calls the container; NULL: an older hook did not say
 * @policy:	Path of the policy on the host; likewise
 * @user_ns:	Inode of the container's user namespace
 * @mnt_ns:	Of its mount namespace
 * @pid_ns:	Of its process namespace
 * @net_ns:	Of its network namespace
 * @mounts:	Destinations of the mounts that show something of the host's or of another
 *		container's, absolute paths, in order
 * @capabilities: Names of those that container root has, and that undo a part of this
 * @network:	Which network agents have
 * @users:	MANIFEST_NETWORK_NAMESPACE: whose
 * @n_users:	How many
 * @agents:	Covered agents
 * @n_agents:	How many
 *
 * Owned by the caller; manifest_done() releases it.
 */
struct manifest {
	char *id;
	char *policy;
	uint64_t user_ns;
	uint64_t mnt_ns;
	uint64_t pid_ns;
	uint64_t net_ns;
	struct strlist mounts;
	struct strlist capabilities;
	enum manifest_network network;
	struct manifest_user *users;
	size_t n_users;
	struct manifest_agent *agents;
	size_t n_agents;
};

int manifest_parse(char *text, const char *name, struct manifest *ret, struct err *e);
int manifest_print(FILE *f, const struct manifest *m);
const char *manifest_network_name(enum manifest_network network);
int manifest_add_agent(struct manifest *m, const char *command, const char *path,
		       const char *origin, struct err *e);
int manifest_add_user(struct manifest *m, uid_t uid, gid_t gid, struct err *e);
const struct manifest_user *manifest_user(const struct manifest *m, uid_t uid);
const struct manifest_agent *manifest_agent(const struct manifest *m, const char *command);
void manifest_done(struct manifest *m);

#define cleanup_manifest CLEANUP(manifest_done)

#endif
