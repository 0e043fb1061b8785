/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_AGENT_NS_H
#define HOOK_AGENT_NS_H

#include <stdbool.h>

struct agent_nets;
struct container_ids;
struct err;

/**
 * struct agent_ns_input - what agents' namespaces are made with
 * @nets:	Which
 * @ids:	The container; the hook is in its mount and network namespaces
 * @root:	The container's root, O_PATH; RUN_DIR is mounted below it
 * @mountinfo:	From bind_read_mountinfo()
 * @ipv6:	Their links have IPv6 addresses
 */
struct agent_ns_input {
	const struct agent_nets *nets;
	const struct container_ids *ids;
	int root;
	const char *mountinfo;
	bool ipv6;
};

int agent_ns_make(const struct agent_ns_input *in, struct err *e);

#endif
