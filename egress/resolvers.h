/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_RESOLVERS_H
#define EGRESS_RESOLVERS_H

#include <stddef.h>

#include "ip.h"

struct err;

int resolvers_parse(const char *resolv_conf, struct ip_prefix **ret, size_t *ret_n, struct err *e);

#endif
