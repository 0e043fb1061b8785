/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The state stores of a launch
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "cleanup.h"
#include "err.h"
#include "launch.h"
#include "store.h"
#include "stores.h"

/* Makes STATE and resolves it: the sandbox binds what is in it without following links. */
static int resolve_root(struct launch *l, struct err *e)
{
	cleanup_fd int made = store_root_open(l->state, e);
	char *real;

	if (made < 0)
		return -1;
	real = realpath(l->state, NULL);
	if (real == NULL)
		return err_set(e, errno, "state store %s", l->state);
	free(l->state);
	l->state = real;
	return launch_check_state(l, e);
}

/**
 * stores_enter() - Make what is missing of the stores that a launch uses, and keep them
 * @l:		The launch; its state becomes a resolved path
 * @ret:	As store_enter()
 * @e:		As store_enter()
 *
 * Return: as store_enter()
 */
int stores_enter(struct launch *l, struct store_news *ret, struct err *e)
{
	if (resolve_root(l, e) < 0)
		return -1;
	return store_enter(
		&(struct store_of){
			.root = l->state, .home = l->home, .profile = &l->profile, .uid = l->uid },
		ret, e);
}
