/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdio.h>
#include <unistd.h>

#include "cleanup.h"
#include "program_find.h"

/**
 * program_find() - Find a program of the container where packages put it
 * @name:	Its name, at most 40 bytes
 * @ret:	Gets its path
 *
 * In the folders of PROGRAM_PATH, and not by the PATH of the environment: a file of the workspace
 * could have set that.
 *
 * Return: @ret, NULL if there is none
 */
const char *program_find(const char *name, char ret[PROGRAM_FIND_BYTES])
{
	static const char *const dirs[] = { "/usr/local/bin", "/usr/bin", "/bin" };

	for (size_t i = 0; i < N_ELEMENTS(dirs); i++) {
		(void)snprintf(ret, PROGRAM_FIND_BYTES, "%s/%s", dirs[i], name);
		if (access(ret, X_OK) == 0)
			return ret;
	}
	return NULL;
}
