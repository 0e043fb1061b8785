/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Capabilities of a container that are told of
 *
 * None of them reaches a confined agent.  But what else runs as container root has them, and
 * somebody who made the container privileged may not know what that takes back.
 */
#include "config.h"

#include <string.h>

#include "capabilities.h"
#include "cleanup.h"

static const struct capability capabilities[] = {
	{ "CAP_SYS_ADMIN", "can unmount what oci-sandbox put into the container", true },
	{ "CAP_NET_ADMIN", "can take the network rules away", true },
	{ "CAP_NET_RAW", "can send packets past the network rules", false },
	{ "CAP_SYS_MODULE", "can load code into the kernel, unless it has a user namespace", true },
	{ "CAP_SYS_RAWIO", "can write to devices, unless it has a user namespace", true },
	{ "CAP_DAC_READ_SEARCH", "can open files of the host, unless it has a user namespace",
	  true },
};

/**
 * capability_get() - One of the capabilities that are told of
 * @i:		From 0
 *
 * Return: a static struct, NULL after the last one
 */
const struct capability *capability_get(size_t i)
{
	return i < N_ELEMENTS(capabilities) ? &capabilities[i] : NULL;
}

/**
 * capability_find() - Find a capability by its name
 * @name:	Name
 *
 * Return: a static struct, NULL if it is not told of
 */
const struct capability *capability_find(const char *name)
{
	for (size_t i = 0; i < N_ELEMENTS(capabilities); i++)
		if (strcmp(capabilities[i].name, name) == 0)
			return &capabilities[i];
	return NULL;
}
