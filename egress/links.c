/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What a network namespace is part of
 *
 * Read by rtnetlink(7), of the current network namespace: which addresses are its own, and which
 * networks it reaches without a gateway.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include "err.h"
#include "ip.h"
#include "links.h"

/* The kernel fills up to 32 KiB at a time, see NLMSG_GOODSIZE and netlink_recvmsg() */
#define REPLY_BYTES (64 * 1024)

/*
 * A route of fewer bits leads to the rest of the world by a tunnel, whole or in halves, and not
 * to a network that one is part of.
 */
#define ON_LINK_LEN_MIN 8

#define TRIES 100

/**
 * struct reader - what came of a question to the kernel
 * @links:	Prefixes so far
 * @size:	Room in them
 * @routes:	There is a route that leads out of this namespace
 * @nomem:	Something did not fit into memory
 */
struct reader {
	struct links links;
	size_t size;
	bool routes;
	bool nomem;
};

static void mnl_socket_p(struct mnl_socket **nl)
{
	int saved = errno;

	if (*nl != NULL)
		(void)mnl_socket_close(*nl);
	errno = saved;
}

static size_t family_bytes(int family)
{
	return family == AF_INET ? 4 : 16;
}

/* @address is NULL for the address of all zeros. */
static int add(struct reader *r, int family, unsigned len, const struct nlattr *address)
{
	struct ip_prefix *p;

	if (r->links.n == r->size) {
		size_t size = 2 * r->size + 16;

		p = reallocarray(r->links.v, size, sizeof(*p));
		if (p == NULL) {
			r->nomem = true;
			return MNL_CB_ERROR;
		}
		r->links.v = p;
		r->size = size;
	}
	p = &r->links.v[r->links.n++];
	*p = (struct ip_prefix){ .family = family, .len = len };
	if (address != NULL)
		memcpy(p->addr, mnl_attr_get_payload(address), family_bytes(family));
	return MNL_CB_OK;
}

static bool is_family(int family)
{
	return family == AF_INET || family == AF_INET6;
}

/**
 * struct found - attributes by their numbers, the same for addresses and routes
 * @v:		NULL where there is none
 */
struct found {
	const struct nlattr *v[RTA_MAX + 1];
};
_Static_assert(IFA_MAX <= RTA_MAX, "room for the attributes of addresses");

static int see_attribute(const struct nlattr *attr, void *data)
{
	struct found *f = data;

	if (mnl_attr_get_type(attr) <= RTA_MAX)
		f->v[mnl_attr_get_type(attr)] = attr;
	return MNL_CB_OK;
}

static struct found find(const struct nlmsghdr *nlh, unsigned header)
{
	struct found f = { 0 };

	(void)mnl_attr_parse(nlh, header, see_attribute, &f);
	return f;
}

static bool is_address(const struct nlattr *attr, int family)
{
	return attr != NULL && mnl_attr_get_payload_len(attr) == family_bytes(family);
}

/* ---- own addresses ---- */

static int see_address(const struct nlmsghdr *nlh, void *data)
{
	const struct ifaddrmsg *m = mnl_nlmsg_get_payload(nlh);
	const struct nlattr *own;
	struct found f;

	if (nlh->nlmsg_type != RTM_NEWADDR || !is_family(m->ifa_family) ||
	    m->ifa_scope == RT_SCOPE_HOST) /* 127.0.0.1, which is everybody's */
		return MNL_CB_OK;
	f = find(nlh, sizeof(*m));
	/* Where there is a peer, IFA_ADDRESS is his */
	own = f.v[IFA_LOCAL] != NULL ? f.v[IFA_LOCAL] : f.v[IFA_ADDRESS];
	if (!is_address(own, m->ifa_family))
		return MNL_CB_OK;
	return add(data, m->ifa_family, (unsigned)family_bytes(m->ifa_family) * 8, own);
}

/* ---- networks ---- */

static bool has_gateway(const struct rtnexthop *hop)
{
	const struct nlattr *attr = (const void *)(hop + 1);
	int left = hop->rtnh_len - (int)sizeof(*hop);

	for (; mnl_attr_ok(attr, left); attr = mnl_attr_next(attr)) {
		if (mnl_attr_get_type(attr) == RTA_GATEWAY || mnl_attr_get_type(attr) == RTA_VIA)
			return true;
		left -= MNL_ALIGN(attr->nla_len);
	}
	return false;
}

/* Does one of several next hops have no gateway? */
static bool has_direct_hop(const struct nlattr *multipath)
{
	const struct rtnexthop *hop = mnl_attr_get_payload(multipath);
	int left = mnl_attr_get_payload_len(multipath);

	while (left >= (int)sizeof(*hop) && hop->rtnh_len >= sizeof(*hop) &&
	       hop->rtnh_len <= left) {
		if (!has_gateway(hop))
			return true;
		left -= MNL_ALIGN(hop->rtnh_len);
		hop = (const void *)((const char *)hop + MNL_ALIGN(hop->rtnh_len));
	}
	return false;
}

static bool is_direct(const struct nlattr *const v[RTA_MAX + 1])
{
	if (v[RTA_MULTIPATH] != NULL)
		return has_direct_hop(v[RTA_MULTIPATH]);
	return v[RTA_GATEWAY] == NULL && v[RTA_VIA] == NULL;
}

static int see_route(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *m = mnl_nlmsg_get_payload(nlh);
	struct reader *r = data;
	struct found f;

	if (nlh->nlmsg_type != RTM_NEWROUTE || !is_family(m->rtm_family) ||
	    m->rtm_type != RTN_UNICAST || m->rtm_table == RT_TABLE_LOCAL)
		return MNL_CB_OK;
	f = find(nlh, sizeof(*m));
	if (m->rtm_dst_len != 0 && !is_address(f.v[RTA_DST], m->rtm_family))
		return MNL_CB_OK;
	/* Each interface that is up has fe80::/64, which leads nowhere else */
	if (m->rtm_family == AF_INET || m->rtm_dst_len == 0 ||
	    !IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)mnl_attr_get_payload(f.v[RTA_DST])))
		r->routes = true;
	if (m->rtm_dst_len < ON_LINK_LEN_MIN || !is_direct(f.v))
		return MNL_CB_OK;
	return add(r, m->rtm_family, m->rtm_dst_len, f.v[RTA_DST]);
}

/* ---- asking ---- */

/* Returns MNL_CB_*; MNL_CB_ERROR with errno EINTR if things changed meanwhile. */
static int receive(struct mnl_socket *nl, mnl_cb_t each, struct reader *r)
{
	cleanup_free char *buf = malloc(REPLY_BYTES);
	unsigned port = mnl_socket_get_portid(nl);
	int more = MNL_CB_OK;

	if (buf == NULL) {
		r->nomem = true;
		return MNL_CB_ERROR;
	}
	while (more > MNL_CB_STOP) {
		ssize_t n = mnl_socket_recvfrom(nl, buf, REPLY_BYTES);

		if (n < 0)
			return MNL_CB_ERROR;
		more = mnl_cb_run(buf, (size_t)n, 0, port, each, r);
	}
	return more;
}

static int ask_once(uint16_t type, mnl_cb_t each, struct reader *r)
{
	char buf[256] __attribute__((aligned(NLMSG_ALIGNTO))) = { 0 };
	CLEANUP(mnl_socket_p)
	struct mnl_socket *nl = mnl_socket_open2(NETLINK_ROUTE, SOCK_CLOEXEC);
	struct nlmsghdr *nlh = mnl_nlmsg_put_header(buf);
	struct rtgenmsg *m;

	nlh->nlmsg_type = type;
	nlh->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	m = mnl_nlmsg_put_extra_header(nlh, sizeof(*m));
	m->rtgen_family = AF_UNSPEC; /* both */
	if (nl == NULL || mnl_socket_bind(nl, 0, MNL_SOCKET_AUTOPID) < 0 ||
	    mnl_socket_sendto(nl, nlh, nlh->nlmsg_len) < 0)
		return MNL_CB_ERROR;
	return receive(nl, each, r);
}

/* A host that starts a hundred containers changes while it is read (NLM_F_DUMP_INTR). */
static int ask(uint16_t type, const char *what, mnl_cb_t each, struct reader *r, struct err *e)
{
	for (int tries = 0; tries < TRIES; tries++) {
		r->links.n = 0;
		r->routes = false;
		if (ask_once(type, each, r) != MNL_CB_ERROR)
			return 0;
		if (r->nomem || errno != EINTR)
			break;
	}
	return err_set(e, r->nomem ? ENOMEM : errno, "rtnetlink: %s", what);
}

/**
 * links_read_own() - List the addresses of the current network namespace
 * @ret:	Filled on success, untouched on failure; full-length prefixes, without those that
 *		only loopback has
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int links_read_own(struct links *ret, struct err *e)
{
	struct reader r = { 0 };

	if (ask(RTM_GETADDR, "list addresses", see_address, &r, e) < 0) {
		links_done(&r.links);
		return -1;
	}
	*ret = r.links;
	return 0;
}

/**
 * links_read_on_link() - List the networks that the current network namespace is part of
 * @ret:	Filled on success, untouched on failure: destinations of routes without a gateway
 * @ret_late:	No route leads out of it: it has no network, or not yet
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int links_read_on_link(struct links *ret, bool *ret_late, struct err *e)
{
	struct reader r = { 0 };

	if (ask(RTM_GETROUTE, "list routes", see_route, &r, e) < 0) {
		links_done(&r.links);
		return -1;
	}
	*ret = r.links;
	*ret_late = !r.routes;
	return 0;
}

/**
 * links_done() - Release a list; it is empty afterwards
 * @l:		List
 */
void links_done(struct links *l)
{
	free(l->v);
	*l = (struct links){ 0 };
}
