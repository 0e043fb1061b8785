/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATE_TREE_H
#define STATE_TREE_H

#include <stdint.h>

struct err;

/**
 * struct tree_room - how much more may be copied
 * @bytes:	Of all files together
 * @entries:	Files and folders
 * @links:	Counted: symlinks that were left out
 */
struct tree_room {
	uint64_t bytes;
	uint32_t entries;
	uint32_t links;
};

enum tree_result {
	TREE_DONE = 0,
	TREE_FAILED = -1,  /* the copy can't be written */
	TREE_LEFT_OUT = 1, /* the original can't be read, is too large, or a symlink */
};

int tree_open(int dir, const char *path, int flags, struct err *e);
enum tree_result tree_copy(int from, const char *path, int to, const char *name,
			   struct tree_room *room, struct err *e);
int tree_remove(int dir, const char *name, struct err *e);

#endif
