/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "home.h"

/**
 * home_find() - Find the home, as a launch takes it
 * @e:		Set on failure: HOME is no folder; nobody types this without one
 *
 * Return: resolved path owned by the caller, NULL on failure
 */
char *home_find(struct err *e)
{
	const char *home = getenv("HOME");
	char *real = home != NULL && home[0] == '/' ? realpath(home, NULL) : NULL;

	if (real != NULL && strcmp(real, "/") == 0) {
		free(real);
		real = NULL;
	}
	if (real == NULL)
		(void)err_set(
			e, 0,
			"HOME is not set to a folder: that of your agents' state is below it");
	return real;
}
