/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_ROOT_H
#define UTIL_ROOT_H

#include <sys/types.h>

struct err;

/**
 * struct root_owner - whom what is made below a root belongs to
 * @uid:	User, as the caller sees it
 * @gid:	Group
 * @uid_map:	/proc/PID/uid_map of his user namespace, as the caller sees it: where he could make
 *		nothing, nothing is made for him.  NULL: he has every id.
 * @gid_map:	Likewise
 */
struct root_owner {
	uid_t uid;
	gid_t gid;
	const char *uid_map;
	const char *gid_map;
};

int root_open(int root, const char *path, int flags, struct err *e);
int root_open_nofollow(int root, const char *path, int flags, struct err *e);
int root_open_no_links(int root, const char *path, int flags, struct err *e);
int root_mkdirs(int root, const char *path, mode_t mode, const struct root_owner *owner,
		struct err *e);
int root_mkfile(int root, const char *path, mode_t mode, const struct root_owner *owner,
		struct err *e);

#endif
