/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What a network namespace is part of
 *
 * Read by rtnetlink(7), of the current network namespace: which addresses are its own, which
 * networks it reaches without a gateway, and which gateways it has.
 */
#include "config.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>

#include "err.h"
#include "ip.h"
#include "links.h"
#include "ruleset.h"

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
 * @own:	Addresses so far
 * @networks:	Networks so far
 * @nomem:	Something did not fit into memory
 */
struct reader {
	struct links own;
	struct networks networks;
	bool nomem;
};

static void reader_done(struct reader *r)
{
	links_done(&r->own);
	networks_done(&r->networks);
}

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
static int add(struct reader *r, struct links *l, int family, unsigned len, const void *address)
{
	struct ip_prefix *p;

	/* doubles at each power of two */
	if ((l->n & (l->n - 1)) == 0) {
		p = reallocarray(l->v, l->n == 0 ? 1 : 2 * l->n, sizeof(*p));
		if (p == NULL) {
			r->nomem = true;
			return MNL_CB_ERROR;
		}
		l->v = p;
	}
	p = &l->v[l->n++];
	*p = (struct ip_prefix){ .family = family, .len = len };
	if (address != NULL)
		memcpy(p->addr, address, family_bytes(family));
	return MNL_CB_OK;
}

static int add_address(struct reader *r, struct links *l, int family, const void *address)
{
	return add(r, l, family, (unsigned)family_bytes(family) * 8, address);
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
	struct reader *r = data;
	struct found f;

	if (nlh->nlmsg_type != RTM_NEWADDR || !is_family(m->ifa_family) ||
	    m->ifa_scope == RT_SCOPE_HOST) /* 127.0.0.1, which is everybody's */
		return MNL_CB_OK;
	f = find(nlh, sizeof(*m));
	/* Where there is a peer, IFA_ADDRESS is his */
	own = f.v[IFA_LOCAL] != NULL ? f.v[IFA_LOCAL] : f.v[IFA_ADDRESS];
	if (!is_address(own, m->ifa_family))
		return MNL_CB_OK;
	return add_address(r, &r->own, m->ifa_family, mnl_attr_get_payload(own));
}

/* ---- networks ---- */

/*
 * The gateway among a next hop's attributes: of the route's family, or by RTA_VIA of another one.
 * Returns whether there is one; adding it can fail.
 */
static bool add_gateway(struct reader *r, int family, const struct nlattr *gateway,
			const struct nlattr *via)
{
	const struct rtvia *v;

	if (is_address(gateway, family)) {
		(void)add_address(r, &r->networks.gateways, family, mnl_attr_get_payload(gateway));
	} else if (via != NULL && mnl_attr_get_payload_len(via) >= sizeof(*v)) {
		v = mnl_attr_get_payload(via);
		if (is_family(v->rtvia_family) &&
		    mnl_attr_get_payload_len(via) >= sizeof(*v) + family_bytes(v->rtvia_family))
			(void)add_address(r, &r->networks.gateways, v->rtvia_family, v->rtvia_addr);
	}
	return gateway != NULL || via != NULL;
}

static bool see_hop(struct reader *r, int family, const struct rtnexthop *hop)
{
	const struct nlattr *attr = (const void *)(hop + 1), *gateway = NULL, *via = NULL;
	int left = hop->rtnh_len - (int)sizeof(*hop);

	for (; mnl_attr_ok(attr, left); attr = mnl_attr_next(attr)) {
		if (mnl_attr_get_type(attr) == RTA_GATEWAY)
			gateway = attr;
		if (mnl_attr_get_type(attr) == RTA_VIA)
			via = attr;
		left -= MNL_ALIGN(attr->nla_len);
	}
	return add_gateway(r, family, gateway, via);
}

/* Does one of several next hops have no gateway? */
static bool see_hops(struct reader *r, int family, const struct nlattr *multipath)
{
	const struct rtnexthop *hop = mnl_attr_get_payload(multipath);
	int left = mnl_attr_get_payload_len(multipath);
	bool direct = false;

	while (left >= (int)sizeof(*hop) && hop->rtnh_len >= sizeof(*hop) &&
	       hop->rtnh_len <= left) {
		direct |= !see_hop(r, family, hop);
		left -= MNL_ALIGN(hop->rtnh_len);
		hop = (const void *)((const char *)hop + MNL_ALIGN(hop->rtnh_len));
	}
	return direct;
}

static bool is_direct(struct reader *r, int family, const struct nlattr *const v[RTA_MAX + 1])
{
	if (v[RTA_MULTIPATH] != NULL)
		return see_hops(r, family, v[RTA_MULTIPATH]);
	return !add_gateway(r, family, v[RTA_GATEWAY], v[RTA_VIA]);
}

/* Links to agents are no network of the container's. */
static bool is_to_agent(const struct nlattr *oif)
{
	char name[IF_NAMESIZE];

	return oif != NULL && mnl_attr_get_payload_len(oif) == sizeof(uint32_t) &&
	       if_indextoname(mnl_attr_get_u32(oif), name) != NULL &&
	       strncmp(name, RULESET_AGENT_LINK, strlen(RULESET_AGENT_LINK)) == 0;
}

static int see_route(const struct nlmsghdr *nlh, void *data)
{
	const struct rtmsg *m = mnl_nlmsg_get_payload(nlh);
	struct reader *r = data;
	const void *to;
	struct found f;
	bool direct, agent;

	if (nlh->nlmsg_type != RTM_NEWROUTE || !is_family(m->rtm_family))
		return MNL_CB_OK;
	f = find(nlh, sizeof(*m));
	if (m->rtm_dst_len != 0 && !is_address(f.v[RTA_DST], m->rtm_family))
		return MNL_CB_OK;
	to = m->rtm_dst_len == 0 ? NULL : mnl_attr_get_payload(f.v[RTA_DST]);
	agent = is_to_agent(f.v[RTA_OIF]);
	if (to != NULL && add(r, agent ? &r->networks.agents : &r->networks.taken, m->rtm_family,
			      m->rtm_dst_len, to) != MNL_CB_OK)
		return MNL_CB_ERROR;
	if (m->rtm_type != RTN_UNICAST || m->rtm_table == RT_TABLE_LOCAL || agent)
		return MNL_CB_OK;
	/* Each interface that is up has fe80::/64, which leads nowhere else */
	if (m->rtm_family == AF_INET || to == NULL ||
	    !IN6_IS_ADDR_LINKLOCAL((const struct in6_addr *)to))
		r->networks.late = false;
	direct = is_direct(r, m->rtm_family, f.v);
	if (m->rtm_dst_len >= ON_LINK_LEN_MIN && direct)
		(void)add(r, &r->networks.on_link, m->rtm_family, m->rtm_dst_len, to);
	return r->nomem ? MNL_CB_ERROR : MNL_CB_OK;
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
		reader_done(r);
		r->networks.late = true;
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
	CLEANUP(reader_done) struct reader r = { 0 };

	if (ask(RTM_GETADDR, "list addresses", see_address, &r, e) < 0)
		return -1;
	*ret = r.own;
	r.own = (struct links){ 0 };
	return 0;
}

/**
 * networks_read() - Read the routes of the current network namespace
 * @ret:	Filled on success, untouched on failure
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int networks_read(struct networks *ret, struct err *e)
{
	CLEANUP(reader_done) struct reader r = { 0 };

	if (ask(RTM_GETROUTE, "list routes", see_route, &r, e) < 0)
		return -1;
	*ret = r.networks;
	r.networks = (struct networks){ 0 };
	return 0;
}

/**
 * networks_done() - Release what networks_read() filled; it is empty afterwards
 * @n:		Networks
 */
void networks_done(struct networks *n)
{
	links_done(&n->on_link);
	links_done(&n->gateways);
	links_done(&n->taken);
	links_done(&n->agents);
	n->late = false;
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
