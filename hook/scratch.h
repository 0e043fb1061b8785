/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_SCRATCH_H
#define HOOK_SCRATCH_H

#include <stddef.h>
#include <sys/types.h>

#include "cleanup.h"
#include "strlist.h"

struct err;
struct hook_plan;
struct steps;

/**
 * struct scratch_overlay - a folder of a read-only root in which mount points are missing
 * @path:	In the container, all symlinks resolved; owned
 * @fd:		The folder, O_PATH, owned
 * @dirs:	Folders that are missing, relative to it
 * @files:	Files that are missing, relative to it; their folders are there
 */
struct scratch_overlay {
	char *path;
	int fd;
	struct strlist dirs;
	struct strlist files;
};

/**
 * struct scratch - where a read-only root needs overlays, so that nothing is made in it
 * @v:		Folders, none inside of another
 * @n:		How many
 *
 * Owned by the caller; scratch_done() releases it.
 */
struct scratch {
	struct scratch_overlay *v;
	size_t n;
};

/**
 * struct scratch_input - what overlays are made with
 * @root:	The container's root, O_PATH, in the current mount namespace
 * @root_uid:	Owner of what is made
 * @root_gid:	Its group
 * @mountinfo:	From bind_read_mountinfo()
 */
struct scratch_input {
	int root;
	uid_t root_uid;
	gid_t root_gid;
	const char *mountinfo;
};

int scratch_find(int root, const struct hook_plan *p, struct scratch *ret, struct err *e);
int scratch_steps(const struct scratch *s, struct steps *ret, struct err *e);
int scratch_apply(const struct scratch *s, const struct scratch_input *in, struct err *e);
void scratch_done(struct scratch *s);

#define cleanup_scratch CLEANUP(scratch_done)

#endif
