/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Where podman looks for hooks
 *
 * containers.conf(5).  These functions read the environment, as podman does: they are for a
 * person who registers the hook or checks the host, and never for a container's start.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "io.h"
#include "podman.h"
#include "strlist.h"

#define CONF_MAX_BYTES (1024 * 1024)
#define DROP_IN "containers.conf.d/50-oci-sandbox.conf"

/* The user's folder of configuration, with @rel below it. */
static char *user_path(const char *rel, struct err *e)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	char *path = NULL;
	int n;

	if (config != NULL && config[0] == '/') {
		n = asprintf(&path, "%s/containers/%s", config, rel);
	} else if (home != NULL && home[0] == '/') {
		n = asprintf(&path, "%s/.config/containers/%s", home, rel);
	} else {
		(void)err_set(e, 0, "HOME is not set, and says where podman's configuration is");
		return NULL;
	}
	if (n < 0) {
		(void)err_set(e, ENOMEM, "allocate a path");
		return NULL;
	}
	return path;
}

/**
 * podman_hooks_dir() - Where a hook is registered if nobody says where
 * @e:		Set on failure
 *
 * Return: folder, owned by the caller; NULL on failure
 */
char *podman_hooks_dir(struct err *e)
{
	char *dir;

	if (geteuid() != 0)
		return user_path("oci/hooks.d", e);
	dir = strdup(PODMAN_HOOKS_DIR);
	if (dir == NULL)
		(void)err_set(e, ENOMEM, "allocate a path");
	return dir;
}

/**
 * podman_drop_in() - The file of ours that tells a user's podman about his folder
 * @e:		Set on failure
 *
 * Return: path, owned by the caller; NULL on failure
 */
char *podman_drop_in(struct err *e)
{
	return user_path(DROP_IN, e);
}

/**
 * podman_only_conf() - The file that podman reads in the place of all others
 *
 * Return: path, NULL if it reads the usual ones
 */
const char *podman_only_conf(void)
{
	return getenv("CONTAINERS_CONF");
}

static int is_conf(const struct dirent *d)
{
	const char *dot = strrchr(d->d_name, '.');

	return dot != NULL && strcmp(dot, ".conf") == 0;
}

/* CONF, and the files of CONF.d */
static int add_conf(struct strlist *files, const char *conf, struct err *e)
{
	cleanup_free char *dir = NULL;
	struct dirent **found = NULL;
	int n, ret;

	if (asprintf(&dir, "%s.d", conf) < 0) {
		dir = NULL;
		return err_set(e, ENOMEM, "allocate a path");
	}
	ret = strlist_add(files, conf, e);
	n = scandir(dir, &found, is_conf, alphasort);
	if (n < 0 && errno != ENOENT)
		ret = err_set(e, errno, "read %s", dir);
	for (int i = 0; i < n; i++) {
		if (ret == 0)
			ret = strlist_add_fmt(files, e, "%s/%s", dir, found[i]->d_name);
		free(found[i]);
	}
	free(found);
	return ret;
}

/* containers.conf(5): what podman reads, in this order */
static int list_files(struct strlist *ret, struct err *e)
{
	cleanup_free char *user = NULL;

	if (podman_only_conf() != NULL)
		return strlist_add(ret, podman_only_conf(), e);
	if (add_conf(ret, "/usr/share/containers/containers.conf", e) < 0 ||
	    add_conf(ret, "/etc/containers/containers.conf", e) < 0)
		return -1;
	if (geteuid() == 0)
		return 0;
	user = user_path("containers.conf", e);
	return user == NULL ? -1 : add_conf(ret, user, e);
}

/* Where a file sets hooks_dir; NULL if it doesn't. */
static const char *find_setting(const char *text)
{
	for (const char *line = text; line != NULL;) {
		line += strspn(line, " \t\n");
		if (strncmp(line, "hooks_dir", strlen("hooks_dir")) == 0) {
			const char *equals = line + strlen("hooks_dir");

			equals += strspn(equals, " \t");
			if (*equals == '=')
				return equals;
		}
		line = strchr(line, '\n');
	}
	return NULL;
}

/* Is @dir, in quotes, an element of the array that follows? */
static bool has_element(const char *setting, const char *dir)
{
	size_t n = strlen(dir);
	const char *end = strchr(setting, ']');

	for (const char *p = strstr(setting, dir); p != NULL; p = strstr(p + 1, dir)) {
		if (end != NULL && p > end)
			return false;
		if ((p[-1] == '"' || p[-1] == '\'') && p[n] == p[-1])
			return true;
	}
	return false;
}

/**
 * podman_find_dir() - Say whether podman's configuration has it read a hooks folder
 * @dir:	Folder
 * @ret:	Filled on success
 * @ret_file:	LACKING: the first file that names other folders; owned by the caller, else NULL
 * @e:		Set on failure
 *
 * The last file wins, but which one that is differs from version to version: each has to name
 * the folder.  Our own drop-in counts like any other.
 *
 * Return: 0 on success, -1 on failure
 */
int podman_find_dir(const char *dir, enum podman_dirs *ret, char **ret_file, struct err *e)
{
	cleanup_strlist struct strlist files = { 0 };

	if (list_files(&files, e) < 0)
		return -1;
	*ret = PODMAN_DIRS_DEFAULT;
	*ret_file = NULL;
	for (size_t i = 0; i < files.n; i++) {
		cleanup_free char *text = read_path(files.v[i], CONF_MAX_BYTES, e);
		const char *setting;

		if (text == NULL && e->code == ENOENT)
			continue;
		if (text == NULL)
			return -1;
		setting = find_setting(text);
		if (setting == NULL)
			continue;
		if (has_element(setting, dir)) {
			*ret = PODMAN_DIRS_NAMED;
			continue;
		}
		*ret = PODMAN_DIRS_LACKING;
		*ret_file = steal_ptr(&files.v[i]);
		break;
	}
	return 0;
}
