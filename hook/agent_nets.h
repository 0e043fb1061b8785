/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_AGENT_NETS_H
#define HOOK_AGENT_NETS_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cleanup.h"
#include "ip.h"

struct err;
struct networks;
struct oci_config;
struct policy;

/* An end of a pair of addresses for each family */
struct agent_end {
	struct ip_prefix v4;
	struct ip_prefix v6;
};

/**
 * struct agent_net - the network namespace of one user's agents
 * @uid:	User, in the container
 * @gid:	His group there
 * @link:	What the interface that leads to it is called in the container's
 * @container:	Addresses of that interface: pairs of RFC 3021 and RFC 6164
 * @agent:	Addresses of its other end
 */
struct agent_net {
	uid_t uid;
	gid_t gid;
	char link[IFNAMSIZ];
	struct agent_end container;
	struct agent_end agent;
};

/**
 * struct agent_nets - those of a container
 * @v:		In the policy's order
 * @n:		How many
 * @subnet4:	What their IPv4 addresses are of
 *
 * Owned by the caller; agent_nets_done() releases it.
 */
struct agent_nets {
	struct agent_net *v;
	size_t n;
	struct ip_prefix subnet4;
};

/**
 * struct agent_nets_input - what they are made from
 * @policy:	Policy
 * @config:	Container's configuration
 * @uid_map:	/proc/PID/uid_map of the container
 * @gid_map:	Likewise
 * @passwd:	Text of the image's /etc/passwd; NULL: none
 * @networks:	Networks that the container has routes to
 */
struct agent_nets_input {
	const struct policy *policy;
	const struct oci_config *config;
	const char *uid_map;
	const char *gid_map;
	const char *passwd;
	const struct networks *networks;
};

extern const struct ip_prefix agent_nets_subnet6;

int agent_nets_plan(const struct agent_nets_input *in, struct agent_nets *ret, struct err *e);
int agent_nets_check(const struct networks *now, struct err *e);
void agent_nets_done(struct agent_nets *n);

#define cleanup_agent_nets CLEANUP(agent_nets_done)

#endif
