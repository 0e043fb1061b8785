/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_CONFINEMENT_H
#define SHIM_CONFINEMENT_H

#include <stddef.h>
#include <stdint.h>

struct launch;

/**
 * struct confinement - something that each sandbox has, or lacks
 * @name:	What the kernel's manual pages call it
 * @bits:	A flag or a request, as the kernel knows it; 0 where the name is enough
 */
struct confinement {
	const char *name;
	uint64_t bits;
};

/**
 * struct confinements - a list of them
 * @v:	The list, static
 * @n:	How many
 */
struct confinements {
	const struct confinement *v;
	size_t n;
};

extern const struct confinements confinement_securebits;
extern const struct confinements confinement_refused_calls;
extern const struct confinements confinement_refused_ioctls;
extern const struct confinements confinement_refused_nesting;
extern const struct confinements confinement_sockets;

struct confinements confinement_namespaces(const struct launch *l);
uint64_t confinement_bits(const struct confinements *c);

#endif
