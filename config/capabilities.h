/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_CAPABILITIES_H
#define CONFIG_CAPABILITIES_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct capability - one that undoes a part of what the hook does
 * @name:	As runtimes and capabilities(7) have it
 * @so:		What container root can do with it
 * @at_launch:	To be said at each launch; else engines give it to everyone
 */
struct capability {
	const char *name;
	const char *so;
	bool at_launch;
};

const struct capability *capability_get(size_t i);
const struct capability *capability_find(const char *name);

#endif
