/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_LINKS_H
#define EGRESS_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "cleanup.h"

struct err;
struct ip_prefix;

/**
 * struct links - addresses or networks that were read from a network namespace
 * @v:		Prefixes, both families, any order
 * @n:		How many
 *
 * Owned by the caller; links_done() releases it.
 */
struct links {
	struct ip_prefix *v;
	size_t n;
};

/**
 * struct networks - what the routes of a network namespace say
 * @on_link:	Networks that it reaches without a gateway
 * @gateways:	Addresses of the gateways
 * @taken:	Destinations of all routes, but for the default routes and @agents
 * @agents:	Networks of links to agents
 * @late:	No route leads out of it: it has no network, or not yet
 *
 * Owned by the caller; networks_done() releases it.
 */
struct networks {
	struct links on_link;
	struct links gateways;
	struct links taken;
	struct links agents;
	bool late;
};

int links_read_own(struct links *ret, struct err *e);
void links_done(struct links *l);
int networks_read(struct networks *ret, struct err *e);
void networks_done(struct networks *n);

#define cleanup_links CLEANUP(links_done)
#define cleanup_networks CLEANUP(networks_done)

#endif
