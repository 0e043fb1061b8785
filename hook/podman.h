/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_PODMAN_H
#define HOOK_PODMAN_H

struct err;

/* Whether podman's configuration names a hooks folder */
enum podman_dirs {
	PODMAN_DIRS_DEFAULT, /* no file has hooks_dir: podman reads PODMAN_HOOKS_DIR */
	PODMAN_DIRS_NAMED,   /* each file with hooks_dir names the folder */
	PODMAN_DIRS_LACKING, /* a file with hooks_dir does not */
};

/*
 * What podman 4.3.1 reads when nothing is configured, as root and as a user; it does not read
 * /etc/containers/oci/hooks.d, whatever oci-hooks(5) says.
 */
#define PODMAN_HOOKS_DIR "/usr/share/containers/oci/hooks.d"

char *podman_hooks_dir(struct err *e);
char *podman_drop_in(struct err *e);
const char *podman_only_conf(void);
int podman_find_dir(const char *dir, enum podman_dirs *ret, char **ret_file, struct err *e);

#endif
