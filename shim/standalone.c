/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: A container without the hook
 *
 * Policy and profiles are what root put into the image.  What the engine has mounted is not known,
 * but what is mounted: all of it is hidden that a policy does not name.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "err.h"
#include "io.h"
#include "launch.h"
#include "mountinfo.h"
#include "standalone.h"

static int read_namespaces(struct manifest *m, struct err *e)
{
	const struct {
		const char *path;
		uint64_t *ret;
	} all[] = {
		{ "/proc/self/ns/user", &m->user_ns },
		{ "/proc/self/ns/mnt", &m->mnt_ns },
		{ "/proc/self/ns/pid", &m->pid_ns },
		{ "/proc/self/ns/net", &m->net_ns },
	};
	struct stat st;

	for (size_t i = 0; i < N_ELEMENTS(all); i++) {
		if (stat(all[i].path, &st) < 0)
			return err_set(e, errno, "look at %s", all[i].path);
		*all[i].ret = st.st_ino;
	}
	return 0;
}

static int read_mounts(struct manifest *m, struct err *e)
{
	cleanup_free char *text = read_path("/proc/self/mountinfo", MANIFEST_MAX_BYTES, e);

	return text == NULL ? -1 : mountinfo_points(text, &m->mounts, e);
}

static int check_policy(const struct launch *l, bool missing, struct err *e)
{
	if (missing)
		return err_set(e, 0,
			       "this container was started without oci-sandbox-hook, so nothing "
			       "confines an agent here (`oci-sandbox-hook --check` on the host "
			       "says why), and its image has no " CONTAINER_CONFIG_DIR
			       "/policy.conf to go by");
	if (l->policy.require_hook)
		return err_set(e, 0,
			       "this container was started without oci-sandbox-hook, "
			       "and " CONTAINER_CONFIG_DIR "/policy.conf says `require-hook = yes` "
			       "(`oci-sandbox-hook --check` on the host says why)");
	return 0;
}

/**
 * standalone_read() - Find out what the hook would have said of the container
 * @l:		Gets policy, profiles and manifest
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int standalone_read(struct launch *l, struct err *e)
{
	bool missing;

	if (load_policy(CONTAINER_CONFIG_DIR, &l->policy, &missing, e) < 0 ||
	    check_policy(l, missing, e) < 0 ||
	    load_profiles(CONTAINER_CONFIG_DIR, &l->policy, &l->profiles, e) < 0 ||
	    read_namespaces(&l->manifest, e) < 0 || read_mounts(&l->manifest, e) < 0)
		return -1;
	l->manifest.network = MANIFEST_NETWORK_PASTA;
	return 0;
}
