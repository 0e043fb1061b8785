/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_RTNL_H
#define HOOK_RTNL_H

struct err;
struct ip_prefix;

int rtnl_add_pair(const char *name, const char *peer, int peer_ns, struct err *e);
int rtnl_set_forwarding(const char *name, struct err *e);
int rtnl_set_up(const char *name, struct err *e);
int rtnl_add_address(const char *name, const struct ip_prefix *p, struct err *e);
int rtnl_add_default_route(const struct ip_prefix *gateway, const char *name, struct err *e);

#endif
