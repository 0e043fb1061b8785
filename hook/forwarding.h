/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_FORWARDING_H
#define HOOK_FORWARDING_H

#include <stdbool.h>

struct err;

/**
 * struct forwarding - what the current network namespace does with packets of others
 * @ipv4:	It forwards them, ip-sysctl.rst of the kernel
 * @has_ipv6:	It has IPv6 at all
 * @is_readonly: /proc/sys can't be written, as in a container that has an engine of its own
 */
struct forwarding {
	bool ipv4;
	bool has_ipv6;
	bool is_readonly;
};

int forwarding_read(struct forwarding *ret, struct err *e);
bool forwarding_takes_ipv6(const struct forwarding *f);
int forwarding_switch_on(const struct forwarding *f, struct err *e);
int forwarding_switch_links_on(const struct forwarding *f, struct err *e);
int forwarding_keep_requests(struct err *e);

#endif
