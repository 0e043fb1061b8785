/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The container's namespaces
 *
 * The runtime waits for the hook with the container's process blocked, so the namespaces are
 * there and nothing of the image has run.  A pidfd, opened first, makes sure that all that is
 * read is of one process.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "err.h"
#include "id_map.h"
#include "io.h"
#include "namespaces.h"
#include "policy.h"

#define ID_MAP_MAX_BYTES (64 * 1024)

static int read_ns(const char *process, const char *type, uint64_t *ret, struct err *e)
{
	char path[64];
	struct stat st;

	(void)snprintf(path, sizeof(path), "/proc/%s/ns/%s", process, type);
	if (stat(path, &st) < 0)
		return err_set(e, errno, "look at %s", path);
	*ret = st.st_ino;
	return 0;
}

static int read_all_ns(const char *process, struct container_ids *c, struct err *e)
{
	const struct {
		const char *type;
		uint64_t *ret;
	} all[] = {
		{ "user", &c->user_ns },
		{ "mnt", &c->mnt_ns },
		{ "pid", &c->pid_ns },
		{ "net", &c->net_ns },
	};

	for (size_t i = 0; i < N_ELEMENTS(all); i++)
		if (read_ns(process, all[i].type, all[i].ret, e) < 0)
			return -1;
	return 0;
}

static char *read_map(const char *process, const char *name, struct err *e)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%s/%s", process, name);
	return read_path(path, ID_MAP_MAX_BYTES, e);
}

/* A map is relative to its reader's namespace, but to the parent for a reader in the same. */
static int read_root(const char *process, const struct container_ids *own, struct container_ids *c,
		     struct err *e)
{
	c->uid_map = read_map(process, "uid_map", e);
	c->gid_map = c->uid_map == NULL ? NULL : read_map(process, "gid_map", e);
	if (c->gid_map == NULL)
		return -1;
	c->own_user_ns = c->user_ns != own->user_ns;
	if (!c->own_user_ns)
		return 0;
	if (!id_map_outside(c->uid_map, 0, &c->owner.uid) ||
	    !id_map_outside(c->gid_map, 0, &c->owner.gid))
		return err_set(e, 0,
			       "the user namespace of process %s does not map id 0: the container "
			       "has no root",
			       process);
	c->owner.uid_map = c->uid_map;
	c->owner.gid_map = c->gid_map;
	return 0;
}

/**
 * container_refuse_mount_ns() - Say why a container without a mount namespace can't be ours
 * @e:		Set
 *
 * Return: -1
 */
int container_refuse_mount_ns(struct err *e)
{
	return err_set(e, 0, "the container has no mount namespace of its own");
}

/**
 * container_check_host_network() - Say whether a container can be ours that is on the host's
 * network
 * @p:		Policy
 * @e:		Set if it can't
 *
 * Return: 0 if it can, -1 if not
 */
int container_check_host_network(const struct policy *p, struct err *e)
{
	if (p->egress_scope == POLICY_SCOPE_AGENT)
		return 0;
	return err_set(e, 0,
		       "the container is on the host's network, whose rules are not ours to change "
		       "(give it a network of its own; or with `egress-scope = agent` in the "
		       "policy only its agents are confined, which get one)");
}

/**
 * container_ids_read() - Find out what a container is to the kernel
 * @pid:	Its process, from the state
 * @ret:	Filled on success, untouched on failure
 * @e:		Set on failure, also if its mount namespace is the hook's
 *
 * Return: 0 on success, -1 on failure
 */
int container_ids_read(pid_t pid, struct container_ids *ret, struct err *e)
{
	cleanup_container_ids struct container_ids c = { .pidfd = -1 };
	struct container_ids own = { .pidfd = -1 };
	char process[16];

	if (pid == 0)
		return err_set(e, 0, "container state: pid: the runtime gave none");
	(void)snprintf(process, sizeof(process), "%d", (int)pid);
	c.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (c.pidfd < 0)
		return err_set(e, errno, "open process %s", process);
	if (read_all_ns("self", &own, e) < 0 || read_all_ns(process, &c, e) < 0 ||
	    read_root(process, &own, &c, e) < 0)
		return -1;
	if (c.mnt_ns == own.mnt_ns)
		return container_refuse_mount_ns(e);
	c.host_network = c.net_ns == own.net_ns;
	if (syscall(SYS_pidfd_send_signal, c.pidfd, 0, NULL, 0) < 0)
		return err_set(e, errno, "process %s of the container", process);

	*ret = c;
	c = (struct container_ids){ .pidfd = -1 };
	return 0;
}

/**
 * container_enter() - Enter a namespace of a container, for good
 * @c:		Container
 * @type:	CLONE_NEWNS or CLONE_NEWNET
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int container_enter(const struct container_ids *c, int type, struct err *e)
{
	if (setns(c->pidfd, type) < 0)
		return err_set(e, errno, "enter the container's %s namespace",
			       type == CLONE_NEWNS ? "mount" : "network");
	return 0;
}

/**
 * container_ids_done() - Release what container_ids_read() opened
 * @c:		Container
 */
void container_ids_done(struct container_ids *c)
{
	close_p(&c->pidfd);
	free(c->uid_map);
	free(c->gid_map);
	*c = (struct container_ids){ .pidfd = -1 };
}
