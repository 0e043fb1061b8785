/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_NAMESPACES_H
#define HOOK_NAMESPACES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cleanup.h"
#include "root.h"

struct err;
struct policy;

/**
 * struct container_ids - what a container is to the kernel
 * @pidfd:	Its process, owned
 * @user_ns:	Inode of its user namespace
 * @mnt_ns:	Of its mount namespace
 * @pid_ns:	Of its process namespace
 * @net_ns:	Of its network namespace
 * @owner:	Its uid 0 and gid 0, as the hook sees them; borrows the maps
 * @own_user_ns: It has a user namespace of its own, and not the hook's
 * @host_network: It has the hook's network namespace
 * @uid_map:	Its /proc/PID/uid_map, owned
 * @gid_map:	Likewise
 *
 * Owned by the caller; container_ids_done() releases it.
 */
struct container_ids {
	int pidfd;
	uint64_t user_ns;
	uint64_t mnt_ns;
	uint64_t pid_ns;
	uint64_t net_ns;
	struct root_owner owner;
	bool own_user_ns;
	bool host_network;
	char *uid_map;
	char *gid_map;
};

int container_ids_read(pid_t pid, struct container_ids *ret, struct err *e);
int container_refuse_mount_ns(struct err *e);
int container_check_host_network(const struct policy *p, struct err *e);
int container_enter(const struct container_ids *c, int type, struct err *e);
void container_ids_done(struct container_ids *c);

#define cleanup_container_ids CLEANUP(container_ids_done)

#endif
