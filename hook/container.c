/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: A container, from its bundle and the host's configuration
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "container.h"
#include "decide.h"
#include "err.h"
#include "hook.h"
#include "io.h"
#include "path.h"

static int load_config(const char *bundle, struct oci_config *ret, struct err *e)
{
	cleanup_free char *path = path_join(bundle, "config.json", e);
	cleanup_free char *text = NULL;

	if (path == NULL)
		return -1;
	text = read_path(path, OCI_CONFIG_MAX_BYTES, e);
	if (text == NULL && e->code == ENOENT)
		/* https://github.com/containers/crun/issues/2025 */
		return err_wrap(e,
				"the bundle that the runtime named has no config.json (with a user "
				"namespace, crun up to 1.29 can give `/` for it: use a newer crun, "
				"or runc)");
	if (text == NULL)
		return -1;
	return oci_config_parse(text, ret, e);
}

/* What would be confined if there were a policy must not run without. */
static int check_missing(const struct container *c, const char *dir, struct err *e)
{
	if (c->why == NULL)
		return 0;
	return err_set(e, 0,
		       "the container asks to be confined (%s), but there is no %s/policy.conf "
		       "(an empty file has the defaults)",
		       c->why, dir);
}

/* In the place of the host's policy, which says that the container is ours. */
static int choose_policy(struct container *c, const char *dir, const char *name, struct err *e)
{
	struct policy p;

	if (load_named_policy(dir, name, &p, e) < 0)
		return err_wrap(e, "annotation io.oci-sandbox.policy");
	policy_done(&c->policy);
	c->policy = p;
	return 0;
}

static int name_policy(struct container *c, const char *dir, const char *name, struct err *e)
{
	int n = name == NULL ? asprintf(&c->policy_path, "%s/policy.conf", dir)
			     : asprintf(&c->policy_path, "%s/policies/%s.conf", dir, name);

	if (n >= 0)
		return 0;
	c->policy_path = NULL;
	return err_set(e, ENOMEM, "allocate a path");
}

/**
 * container_load() - Read what says whether and how a container is confined
 * @paths:	Where the configuration is
 * @bundle:	Folder of its config.json, absolute; must outlive @ret
 * @ret:	Filled on success, untouched on failure
 * @e:		Set on failure.  A policy that can't be read is one for every container: without
 *		it nobody can tell which ones it means.
 *
 * Return: 0 on success, a status of sysexits(3) on failure
 */
int container_load(const struct hook_paths *paths, const char *bundle, struct container *ret,
		   struct err *e)
{
	cleanup_container struct container c = { .bundle = bundle };
	const char *name;
	bool missing;

	if (load_config(bundle, &c.config, e) < 0)
		return EX_DATAERR;
	if (load_policy(paths->config, &c.policy, &missing, e) < 0)
		return EX_CONFIG;
	if (decide(&c.config, missing ? NULL : &c.policy, &c.why, &name, e) < 0)
		return EX_DATAERR;
	if (missing && check_missing(&c, paths->config, e) < 0)
		return EX_CONFIG;
	if (name != NULL && choose_policy(&c, paths->config, name, e) < 0)
		return EX_CONFIG;
	if (name_policy(&c, paths->config, name, e) < 0)
		return EX_OSERR;
	if (c.why != NULL && load_profiles(paths->config, &c.policy, &c.profiles, e) < 0)
		return EX_CONFIG;

	*ret = c;
	c = (struct container){ 0 };
	return 0;
}

/**
 * container_open_root() - Open a container's root folder, in the current mount namespace
 * @c:		Container
 * @e:		Set on failure, also if the folder is the host's own root: what is made in a root
 *		stays there
 *
 * Return: O_PATH fd owned by the caller, -1 on failure
 */
int container_open_root(const struct container *c, struct err *e)
{
	const char *root = c->config.root_path;
	cleanup_free char *path = root[0] == '/' ? strdup(root) : path_join(c->bundle, root, e);
	cleanup_fd int fd = -1;
	struct stat top, is;

	if (path == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || stat("/", &top) < 0 || fstat(fd, &is) < 0)
		return err_set(e, errno, "open the container's root %s", path);
	if (is.st_dev == top.st_dev && is.st_ino == top.st_ino)
		return err_set(e, 0,
			       "the container's root %s is the host's own, so an agent would lose "
			       "nothing by being in it (use an image, or a folder with a copy)",
			       path);
	return steal_fd(&fd);
}

/**
 * container_check_mounted() - Make sure that the runtime has got as far as a root folder
 * @root:	From container_open_root(), in the container's mount namespace
 * @e:		Set on failure
 *
 * Both runtimes mount the root before they call the hook, and only what is mounted can become a
 * root: pivot_root(2).
 *
 * Return: 0 on success, -1 on failure
 */
int container_check_mounted(int root, struct err *e)
{
	struct statx st;

	if (statx(root, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) < 0)
		return err_set(e, errno, "look at the container's root");
	if ((st.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0)
		return err_set(e, 0,
			       "the container's root is not mounted: the hook was not called at "
			       "createRuntime or prestart, or not by runc or crun");
	return 0;
}

/**
 * container_done() - Release what container_load() read; it is empty afterwards
 * @c:		Container
 */
void container_done(struct container *c)
{
	oci_config_done(&c->config);
	policy_done(&c->policy);
	free(c->policy_path);
	loaded_profiles_done(&c->profiles);
	*c = (struct container){ 0 };
}
