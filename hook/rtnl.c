/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Interfaces, addresses and routes of the current network namespace
 *
 * rtnetlink(7), one acknowledged request a call.
 */
#include "config.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>

#include "cleanup.h"
#include "err.h"
#include "ip.h"
#include "rtnl.h"

#define REQUEST_BYTES 1024

/**
 * struct request - a request being built
 * @buf:	Its bytes
 * @nlh:	Its header, at their start
 */
struct request {
	char buf[REQUEST_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *nlh;
};

static void mnl_socket_p(struct mnl_socket **nl)
{
	int saved = errno;

	if (*nl != NULL)
		(void)mnl_socket_close(*nl);
	errno = saved;
}

/* Returns the family's own header, all zeros. */
static void *start(struct request *r, uint16_t type, uint16_t flags, size_t header)
{
	memset(r->buf, 0, sizeof(r->buf));
	r->nlh = mnl_nlmsg_put_header(r->buf);
	r->nlh->nlmsg_type = type;
	r->nlh->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	return mnl_nlmsg_put_extra_header(r->nlh, header);
}

static int send_request(struct request *r)
{
	CLEANUP(mnl_socket_p)
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	char reply[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
	int on = 1;
	ssize_t n;

	/* Without it an error carries its whole message */
	if (nl == NULL || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_setsockopt(nl, NETLINK_CAP_ACK, &on, sizeof(on)) < 0 ||
	    mnl_socket_sendto(nl, r->nlh, r->nlh->nlmsg_len) < 0)
		return -1;
	do
		n = mnl_socket_recvfrom(nl, reply, sizeof(reply));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	return mnl_cb_run(reply, (size_t)n, 0, mnl_socket_get_portid(nl), NULL, NULL) < 0 ? -1 : 0;
}

static size_t family_bytes(int family)
{
	return family == AF_INET ? 4 : 16;
}

/**
 * rtnl_add_pair() - Make two interfaces that are each other's other end, veth(4)
 * @name:	Of the one in this network namespace
 * @peer:	Of the other
 * @peer_ns:	Network namespace of the other, borrowed
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int rtnl_add_pair(const char *name, const char *peer, int peer_ns, struct err *e)
{
	struct request r;
	struct ifinfomsg *m = start(&r, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, sizeof(*m));
	struct nlattr *info, *data, *other;

	mnl_attr_put_strz(r.nlh, IFLA_IFNAME, name);
	info = mnl_attr_nest_start(r.nlh, IFLA_LINKINFO);
	mnl_attr_put_strz(r.nlh, IFLA_INFO_KIND, "veth");
	data = mnl_attr_nest_start(r.nlh, IFLA_INFO_DATA);
	other = mnl_attr_nest_start(r.nlh, VETH_INFO_PEER);
	(void)mnl_nlmsg_put_extra_header(r.nlh, sizeof(struct ifinfomsg));
	mnl_attr_put_strz(r.nlh, IFLA_IFNAME, peer);
	mnl_attr_put_u32(r.nlh, IFLA_NET_NS_FD, (uint32_t)peer_ns);
	mnl_attr_nest_end(r.nlh, other);
	mnl_attr_nest_end(r.nlh, data);
	mnl_attr_nest_end(r.nlh, info);
	if (send_request(&r) < 0)
		return err_set(e, errno, "make the pair of interfaces %s%s", name,
			       errno == EOPNOTSUPP
				       ? " (the kernel has no veth; on the host: modprobe veth)"
				       : "");
	return 0;
}

/**
 * rtnl_set_forwarding() - Have IPv4 packets forwarded that come in by an interface
 * @name:	Interface
 * @e:		Set on failure
 *
 * What /proc/sys/net/ipv4/conf/NAME/forwarding does, see inet_set_link_af() of the kernel.
 *
 * Return: 0 on success, -1 on failure
 */
int rtnl_set_forwarding(const char *name, struct err *e)
{
	struct request r;
	struct ifinfomsg *m = start(&r, RTM_SETLINK, 0, sizeof(*m));
	struct nlattr *families, *ipv4, *settings;

	m->ifi_index = (int)if_nametoindex(name);
	families = mnl_attr_nest_start(r.nlh, IFLA_AF_SPEC);
	ipv4 = mnl_attr_nest_start(r.nlh, AF_INET);
	settings = mnl_attr_nest_start(r.nlh, IFLA_INET_CONF);
	mnl_attr_put_u32(r.nlh, IPV4_DEVCONF_FORWARDING, 1);
	mnl_attr_nest_end(r.nlh, settings);
	mnl_attr_nest_end(r.nlh, ipv4);
	mnl_attr_nest_end(r.nlh, families);
	return send_request(&r) == 0 ? 0 : err_set(e, errno, "have %s forward", name);
}

/**
 * rtnl_set_up() - Switch an interface on
 * @name:	Its name
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int rtnl_set_up(const char *name, struct err *e)
{
	struct request r;
	struct ifinfomsg *m = start(&r, RTM_NEWLINK, 0, sizeof(*m));

	m->ifi_flags = IFF_UP;
	m->ifi_change = IFF_UP;
	mnl_attr_put_strz(r.nlh, IFLA_IFNAME, name);
	if (send_request(&r) < 0)
		return err_set(e, errno, "switch the interface %s on", name);
	return 0;
}

/**
 * rtnl_add_address() - Give an interface an address
 * @name:	Its name
 * @p:		Address, and the length of its network
 * @e:		Set on failure
 *
 * It can be used at once: nobody else can have it, so nobody is asked (RFC 4862, section 5.4).
 *
 * Return: 0 on success, -1 on failure
 */
int rtnl_add_address(const char *name, const struct ip_prefix *p, struct err *e)
{
	struct request r;
	struct ifaddrmsg *m = start(&r, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, sizeof(*m));
	char buf[IP_PREFIX_STRLEN];

	m->ifa_family = (uint8_t)p->family;
	m->ifa_prefixlen = (uint8_t)p->len;
	m->ifa_flags = p->family == AF_INET6 ? IFA_F_NODAD : 0;
	m->ifa_index = if_nametoindex(name);
	mnl_attr_put(r.nlh, IFA_LOCAL, family_bytes(p->family), p->addr);
	mnl_attr_put(r.nlh, IFA_ADDRESS, family_bytes(p->family), p->addr);
	if (m->ifa_index == 0 || send_request(&r) < 0)
		return err_set(e, errno, "give the interface %s the address %s", name,
			       ip_prefix_format(p, buf));
	return 0;
}

/**
 * rtnl_add_default_route() - Send everything to a gateway
 * @gateway:	Its address; what it is part of does not matter
 * @name:	Interface that leads to it
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int rtnl_add_default_route(const struct ip_prefix *gateway, const char *name, struct err *e)
{
	struct request r;
	struct rtmsg *m = start(&r, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, sizeof(*m));
	char buf[IP_PREFIX_STRLEN];
	unsigned index = if_nametoindex(name);

	m->rtm_family = (uint8_t)gateway->family;
	m->rtm_table = RT_TABLE_MAIN;
	m->rtm_protocol = RTPROT_STATIC;
	m->rtm_scope = RT_SCOPE_UNIVERSE;
	m->rtm_type = RTN_UNICAST;
	mnl_attr_put(r.nlh, RTA_GATEWAY, family_bytes(gateway->family), gateway->addr);
	mnl_attr_put_u32(r.nlh, RTA_OIF, index);
	if (index == 0 || send_request(&r) < 0)
		return err_set(e, errno, "make the route by %s", ip_prefix_format(gateway, buf));
	return 0;
}
