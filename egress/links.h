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

int links_read_own(struct links *ret, struct err *e);
int links_read_on_link(struct links *ret, bool *ret_late, struct err *e);
void links_done(struct links *l);

#define cleanup_links CLEANUP(links_done)

#endif
