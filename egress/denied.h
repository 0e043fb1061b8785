/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_DENIED_H
#define EGRESS_DENIED_H

#include <stddef.h>

#include "ip.h"

#define DENIED_INTERNAL_MAX 32
#define DENIED_FORMS 3 /* itself, and an IPv4 address in two kinds of IPv6 ones */

size_t denied_internal(struct ip_prefix ret[DENIED_INTERNAL_MAX]);
size_t denied_forms(const struct ip_prefix *p, struct ip_prefix ret[DENIED_FORMS]);

#endif
