/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The devices that the policy gives an agent, as far as this container has them
 *
 * An agent's /dev is a folder of its own with the few devices that each program needs.  What is
 * added comes from the container's, which is the engine's: only container root can write there.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "devices.h"
#include "err.h"
#include "launch.h"
#include "path.h"

/* What gpu = yes means: the nodes of NVIDIA's drivers, of DRM and of AMD's compute driver */
static const struct {
	const char *dir, *pattern;
} gpus[] = {
	{ "/dev", "nvidia[0-9]*" },  { "/dev", "nvidiactl" },
	{ "/dev", "nvidia-uvm*" },   { "/dev", "nvidia-modeset" },
	{ "/dev/nvidia-caps", "*" }, { "/dev/nvidia-caps-imex-channels", "*" },
	{ "/dev/dri", "*" },         { "/dev", "kfd" },
};

/* The launch has terminals of its own, and these are other programs'. */
static bool is_terminal(const char *real)
{
	return path_is_at_or_below(real, "/dev/pts") || strcmp(real, "/dev/ptmx") == 0 ||
	       strcmp(real, "/dev/console") == 0;
}

static bool is_device(const char *real)
{
	struct stat st;

	return stat(real, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode));
}

static int add(struct launch *l, const char *real, const char *named, struct err *e)
{
	if (!places_have(&l->devices, real) && places_add(&l->devices, real, real, e) < 0)
		return -1;
	return places_have(&l->devices, named) ? 0 : places_add(&l->devices, real, named, e);
}

static int read_named(struct launch *l, const char *named, struct err *e)
{
	cleanup_free char *real = realpath(named, NULL);

	if (real == NULL)
		return strlist_add_fmt(&l->left_out, e, "allow-device: %s: %s (left out)", named,
				       strerror(errno));
	if (!path_is_below(real, "/dev") || is_terminal(real) || !is_device(real))
		return err_set(e, 0,
			       "allow-device = %s: it is no device below /dev, or another "
			       "program's terminal",
			       named);
	return add(l, real, named, e);
}

/* A folder or a node that isn't there is no error: each kind of GPU has others. */
static int read_matching(struct launch *l, const char *dir, const char *pattern, struct err *e)
{
	DIR *d = opendir(dir);
	struct dirent *entry;
	int ret = 0;

	while (ret == 0 && d != NULL && (entry = readdir(d)) != NULL) {
		cleanup_free char *path = NULL;

		if (fnmatch(pattern, entry->d_name, FNM_PERIOD) != 0)
			continue;
		path = path_join(dir, entry->d_name, e);
		if (path == NULL || (is_device(path) && add(l, path, path, e) < 0))
			ret = -1;
	}
	if (d != NULL)
		(void)closedir(d);
	return ret;
}

/**
 * devices_read() - Find the devices that allow-device and gpu mean
 * @l:		The launch; gets devices, and what is missing in left_out
 * @e:		Set on failure: what allow-device names is no device
 *
 * Return: 0 on success, -1 on failure
 */
int devices_read(struct launch *l, struct err *e)
{
	for (size_t i = 0; i < l->policy.allow_device.n; i++)
		if (read_named(l, l->policy.allow_device.v[i], e) < 0)
			return -1;
	for (size_t i = 0; i < N_ELEMENTS(gpus) && l->policy.gpu; i++)
		if (read_matching(l, gpus[i].dir, gpus[i].pattern, e) < 0)
			return -1;
	return 0;
}
