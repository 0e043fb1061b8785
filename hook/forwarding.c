/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Settings of the current network namespace that agents need
 *
 * /proc/sys/net shows and sets what is the reader's own network namespace's.  Where it is read-only
 * there is rtnetlink, which knows a setting of IPv4 for each interface, and none of IPv6.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "forwarding.h"
#include "io.h"
#include "rtnl.h"

#define NET "/proc/sys/net/"
#define IP_FORWARD NET "ipv4/ip_forward"
#define IPV6_CONF NET "ipv6/conf"

/* Fails with ENOENT as code where the kernel does not have it */
static int read_number(const char *path, long *ret, struct err *e)
{
	cleanup_free char *text = read_path(path, 64, e);
	char *end;

	if (text == NULL)
		return -1;
	*ret = strtol(text, &end, 10);
	return end != text ? 0 : err_set(e, 0, "%s: not a number", path);
}

static int write_number(const char *path, char digit, struct err *e)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, &digit, 1) != 1)
		return err_set(e, errno, "write %s", path);
	return 0;
}

/**
 * forwarding_read() - Read what the current network namespace forwards
 * @ret:	Filled on success
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int forwarding_read(struct forwarding *ret, struct err *e)
{
	long v4, no_v6;

	if (read_number(IP_FORWARD, &v4, e) < 0)
		return -1;
	*ret = (struct forwarding){ .ipv4 = v4 != 0,
				    .is_readonly = access(IP_FORWARD, W_OK) < 0 && errno == EROFS };
	if (read_number(IPV6_CONF "/all/disable_ipv6", &no_v6, e) < 0)
		return e->code == ENOENT ? 0 : -1;
	ret->has_ipv6 = no_v6 == 0;
	return 0;
}

/*
 * Who forwards takes no route from a router any more, unless told so; then a network that comes
 * by router advertisements would be lost: accept_ra in ip-sysctl.rst.
 */
static int keep_router_advertisements(const char *link, struct err *e)
{
	char path[512];
	long now;

	(void)snprintf(path, sizeof(path), IPV6_CONF "/%s/accept_ra", link);
	if (read_number(path, &now, e) < 0)
		return e->code == ENOENT ? 0 : -1; /* the interface is gone */
	return now == 1 ? write_number(path, '2', e) : 0;
}

static int keep_all_router_advertisements(struct err *e)
{
	cleanup_dir DIR *d = opendir(IPV6_CONF);
	const struct dirent *entry;

	if (d == NULL)
		return err_set(e, errno, "open " IPV6_CONF);
	while ((errno = 0, entry = readdir(d)) != NULL)
		if (entry->d_name[0] != '.' && keep_router_advertisements(entry->d_name, e) < 0)
			return -1;
	return errno == 0 ? 0 : err_set(e, errno, "read " IPV6_CONF);
}

/**
 * forwarding_takes_ipv6() - Say whether agents can have IPv6
 * @f:		What the network namespace did
 *
 * Return: true if they can
 */
bool forwarding_takes_ipv6(const struct forwarding *f)
{
	return f->has_ipv6 && !f->is_readonly;
}

/**
 * forwarding_switch_on() - Have the current network namespace forward, as far as it can be told so
 *	before it has the links
 * @f:		What it did
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int forwarding_switch_on(const struct forwarding *f, struct err *e)
{
	if (!f->ipv4 && !f->is_readonly && write_number(IP_FORWARD, '1', e) < 0)
		return -1;
	if (!forwarding_takes_ipv6(f))
		return 0;
	if (keep_all_router_advertisements(e) < 0)
		return -1;
	return write_number(IPV6_CONF "/all/forwarding", '1', e);
}

/**
 * forwarding_switch_links_on() - Have each link forward, where the namespace can't be told so
 * @f:		What it did
 * @e:		Set on failure
 *
 * To be called when the links are there; one that comes later does not forward.
 *
 * Return: 0 on success, -1 on failure
 */
int forwarding_switch_links_on(const struct forwarding *f, struct err *e)
{
	struct if_nameindex *links;
	int failed = 0;

	if (f->ipv4 || !f->is_readonly)
		return 0;
	links = if_nameindex();
	if (links == NULL)
		return err_set(e, errno, "list the interfaces");
	for (const struct if_nameindex *l = links; failed == 0 && l->if_index != 0; l++)
		if (strcmp(l->if_name, "lo") != 0)
			failed = rtnl_set_forwarding(l->if_name, e);
	if_freenameindex(links);
	return failed;
}

/**
 * forwarding_keep_requests() - Keep connections that wait for a listener which is closed
 * @e:		Set on failure
 *
 * Launches share the ports of their relays, and one that ends must not take along what waits for
 * any of them: tcp_migrate_req in ip-sysctl.rst.  Kernels before 5.14 do not have it, and a
 * /proc/sys that is read-only does not let us.
 *
 * Return: 0 on success, -1 on failure
 */
int forwarding_keep_requests(struct err *e)
{
	if (write_number(NET "ipv4/tcp_migrate_req", '1', e) == 0)
		return 0;
	return e->code == ENOENT || e->code == EROFS ? 0 : -1;
}
