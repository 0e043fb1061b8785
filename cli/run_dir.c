/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What the hook has left in a container
 *
 * Below a root that may be hostile: each path is resolved below it, what is opened must be a
 * regular file of the hook's tmpfs, and is read up to a limit.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include "directives.h"
#include "err.h"
#include "io.h"
#include "root.h"
#include "run_dir.h"

/**
 * run_dir_open() - Open the hook's folder in a container
 * @root:	The container's root
 * @owner:	Whom it must belong to; RUN_DIR_ANY_OWNER: anybody
 * @e:		Set on failure; its code is ENOENT if there is none that the hook can have mounted:
 *		an image can bring a folder of that name
 *
 * Return: O_PATH fd owned by the caller, -1 on failure
 */
int run_dir_open(int root, uid_t owner, struct err *e)
{
	cleanup_fd int fd = root_open(root, RUN_DIR, O_PATH | O_DIRECTORY, e);
	struct statfs fs;
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstatfs(fd, &fs) < 0 || fstat(fd, &st) < 0)
		return err_set(e, errno, "look at " RUN_DIR);
	if (fs.f_type != TMPFS_MAGIC || (fs.f_flags & ST_RDONLY) == 0 ||
	    (owner != RUN_DIR_ANY_OWNER && st.st_uid != owner) ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		(void)err_set(e, 0, RUN_DIR " is not the folder that oci-sandbox-hook mounts");
		e->code = ENOENT;
		return -1;
	}
	return steal_fd(&fd);
}

/* Of the same tmpfs: nothing that was mounted over it. */
static char *read_file(int dir, const char *path, size_t max, struct err *e)
{
	cleanup_fd int fd = root_open(dir, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, e);
	struct stat st, top;
	char *text;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0 || fstat(dir, &top) < 0) {
		(void)err_set(e, errno, "look at " RUN_DIR "/%s", path);
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || st.st_dev != top.st_dev || st.st_uid != top.st_uid) {
		(void)err_set(e, 0, RUN_DIR "/%s is not the hook's", path);
		return NULL;
	}
	text = read_fd(fd, max, e);
	if (text == NULL)
		(void)err_wrap(e, RUN_DIR "/%s", path);
	return text;
}

/**
 * run_dir_read_manifest() - Read what the hook knew of a container
 * @dir:	From run_dir_open()
 * @ret:	Gets the manifest
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int run_dir_read_manifest(int dir, struct run_dir *ret, struct err *e)
{
	cleanup_free char *text = read_file(dir, "container", MANIFEST_MAX_BYTES, e);

	return text == NULL ? -1 : manifest_parse(text, RUN_MANIFEST, &ret->manifest, e);
}

static int read_profile(int dir, const char *name, struct run_dir *ret, struct err *e)
{
	cleanup_free char *path = NULL, *text = NULL;

	if (asprintf(&path, "profiles/%s.conf", name) < 0) {
		path = NULL;
		return err_set(e, ENOMEM, "allocate a path");
	}
	text = read_file(dir, path, DIRECTIVES_MAX_BYTES, e);
	if (text == NULL || profile_parse(text, path, name, &ret->profiles[ret->n_profiles], e) < 0)
		return -1;
	ret->n_profiles++;
	return 0;
}

/**
 * run_dir_read_policy() - Read a container's policy, and the profiles that it names
 * @dir:	From run_dir_open()
 * @ret:	Gets policy and profiles
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int run_dir_read_policy(int dir, struct run_dir *ret, struct err *e)
{
	cleanup_free char *text = read_file(dir, "policy.conf", DIRECTIVES_MAX_BYTES, e);

	if (text == NULL || policy_parse(text, RUN_POLICY, &ret->policy, e) < 0)
		return -1;
	ret->profiles = calloc(ret->policy.agents.n + 1, sizeof(*ret->profiles));
	if (ret->profiles == NULL)
		return err_set(e, ENOMEM, "allocate profiles");
	for (size_t i = 0; i < ret->policy.agents.n; i++)
		if (read_profile(dir, ret->policy.agents.v[i], ret, e) < 0)
			return -1;
	return 0;
}

/**
 * run_dir_done() - Release what was read; it is empty afterwards
 * @r:		What was read
 */
void run_dir_done(struct run_dir *r)
{
	manifest_done(&r->manifest);
	policy_done(&r->policy);
	for (size_t i = 0; i < r->n_profiles; i++)
		profile_done(&r->profiles[i]);
	free(r->profiles);
	*r = (struct run_dir){ 0 };
}
