/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The DNS relay: queries of one network namespace go to the resolvers of another
 *
 * The sockets that clients ask on are the caller's, made in the agent's network namespace.  The
 * sockets that resolvers are asked on are made here, one for each query, in the namespace that
 * this process is in.  So the agent needs no route to a resolver, and a resolver on the
 * container's loopback serves it as well.
 *
 * dns.c knows messages, dns_ask.c asks the resolvers one question, dns_udp.c and dns_tcp.c are
 * the clients' side.
 *
 * A full house needs 704 file descriptors: one for each query, one for each connection.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "dns_relay.h"
#include "dns_tcp.h"
#include "dns_udp.h"
#include "err.h"

#define UDP_QUERIES 512
#define TCP_QUERIES 128
#define TCP_CLIENTS 64
#define TCP_IDLE_MS 10000
#define AGAIN_MS 30000

/**
 * struct dns_relay - see DOC
 * @resolvers:	Whom to ask
 * @udp:	Clients
 * @tcp:	Clients
 * @scratch:	Where a message lies while it is handled
 */
struct dns_relay {
	struct dns_resolvers resolvers;
	struct dns_udp udp;
	struct dns_tcp tcp;
	uint8_t scratch[DNS_MESSAGE_BYTES];
};

static size_t or_default(size_t value, size_t otherwise)
{
	return value != 0 ? value : otherwise;
}

static int check_resolvers(const struct dns_relay_options *o, struct err *e)
{
	if (o->n_resolvers < 1 || o->n_resolvers > DNS_RESOLVERS_MAX)
		return err_set(e, EINVAL, "a DNS relay for %zu resolvers", o->n_resolvers);
	for (size_t i = 0; i < o->n_resolvers; i++)
		if (o->resolvers[i].ss_family != AF_INET && o->resolvers[i].ss_family != AF_INET6)
			return err_set(e, EAFNOSUPPORT, "a DNS relay's resolver");
	return 0;
}

/**
 * dns_relay_new() - Make a relay that nobody can ask yet
 * @loop:	Loop to run in; borrowed until dns_relay_free()
 * @o:		Resolvers and limits; copied
 * @e:		Set on failure
 *
 * Return: relay owned by the caller, NULL on failure
 */
struct dns_relay *dns_relay_new(struct relay_loop *loop, const struct dns_relay_options *o,
				struct err *e)
{
	struct dns_relay *r;

	if (check_resolvers(o, e) < 0)
		return NULL;
	r = calloc(1, sizeof(*r));
	if (r == NULL) {
		(void)err_set(e, ENOMEM, "allocate a DNS relay");
		return NULL;
	}
	r->resolvers.loop = loop;
	r->resolvers.scratch = r->scratch;
	r->resolvers.n = o->n_resolvers;
	r->resolvers.try_ms = o->try_ms != 0 ? o->try_ms : dns_ask_try_ms(o->n_resolvers);
	r->resolvers.again_ms = o->again_ms != 0 ? o->again_ms : AGAIN_MS;
	memcpy(r->resolvers.address, o->resolvers, o->n_resolvers * sizeof(o->resolvers[0]));
	dns_udp_init(&r->udp, &r->resolvers, or_default(o->max_udp, UDP_QUERIES));
	dns_tcp_init(&r->tcp, &r->resolvers, or_default(o->max_clients, TCP_CLIENTS),
		     or_default(o->max_tcp, TCP_QUERIES),
		     o->idle_ms != 0 ? o->idle_ms : TCP_IDLE_MS);
	return r;
}

/**
 * dns_relay_free() - Release a relay; whoever waits for an answer gets none
 * @r:		Relay, or NULL; not from one of its own handlers
 *
 * Return: NULL
 */
struct dns_relay *dns_relay_free(struct dns_relay *r)
{
	if (r == NULL)
		return NULL;
	dns_udp_done(&r->udp);
	dns_tcp_done(&r->tcp);
	free(r);
	return NULL;
}

/**
 * dns_relay_take_udp() - Answer queries that come to a UDP socket
 * @r:		Relay
 * @fd:		Non-blocking, CLOEXEC, and bound to one address: of a wildcard's answers nobody
 *		could say where they come from.  Any network namespace.  Consumed, on failure too.
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int dns_relay_take_udp(struct dns_relay *r, int fd, struct err *e)
{
	return dns_udp_take_listener(&r->udp, fd, e);
}

/**
 * dns_relay_take_tcp() - Answer queries on the connections that come to a TCP socket
 * @r:		Relay
 * @fd:		Non-blocking, CLOEXEC, and listening, in any network namespace.  Consumed, on
 *		failure too.
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int dns_relay_take_tcp(struct dns_relay *r, int fd, struct err *e)
{
	return dns_tcp_take_listener(&r->tcp, fd, e);
}
