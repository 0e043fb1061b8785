/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_FORWARDING_H
#define HOOK_FORWARDING_H

#include <stdbool.h>

struct err;

/**
 * struct forwarding - what the current network namespace does with packets of others
 * @ipv4:	It forwards them, ip-sysctl.rst of the kernel
 * @has_ipv6:	It has IPv6 at all
 */
struct forwarding {
	bool ipv4;
	bool has_ipv6;
};

int forwarding_read(struct forwarding *ret, struct err *e);
int forwarding_switch_on(const struct forwarding *f, struct err *e);
int forwarding_keep_requests(struct err *e);

#endif
