/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Bind mounts that stay in the container
 *
 * Shared mounts cross namespaces in both directions: a clone of a shared mount of the host is
 * a peer of it, and what is mounted on a shared mount of the container appears on the host.
 * So clones are made private, and a shared target is refused.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "bind.h"
#include "cleanup.h"
#include "err.h"
#include "io.h"
#include "mount.h"
#include "survey.h"

#define MOUNTINFO_MAX_BYTES (64 * 1024 * 1024)

/**
 * bind_clone() - Make a detached bind mount, read-only and private
 * @fd:		What it shows, in the current mount namespace; O_PATH will do
 * @e:		Set on failure
 *
 * Return: mount fd owned by the caller, -1 on failure
 */
int bind_clone(int fd, struct err *e)
{
	cleanup_fd int mnt = mount_clone(fd, "", false, e);

	if (mnt < 0 || mount_private(mnt, e) < 0 || mount_set(mnt, BIND_ATTR, false, e) < 0)
		return -1;
	return steal_fd(&mnt);
}

/**
 * bind_read_mountinfo() - Read what is mounted in the current mount namespace
 * @e:		Set on failure
 *
 * Return: text for bind_attach(), owned by the caller; NULL on failure
 */
char *bind_read_mountinfo(struct err *e)
{
	return read_path("/proc/self/mountinfo", MOUNTINFO_MAX_BYTES, e);
}

/* The line of a mount; proc(5): its number comes first. */
static const char *find_line(const char *mountinfo, uint64_t mnt)
{
	char start[32];
	size_t n = (size_t)snprintf(start, sizeof(start), "%" PRIu64 " ", mnt);

	for (const char *line = mountinfo; line != NULL;) {
		if (strncmp(line, start, n) == 0)
			return line;
		line = strchr(line, '\n');
		if (line != NULL)
			line++;
	}
	return NULL;
}

/* Optional fields are between the options and " - "; blanks in paths are written as \040. */
static bool is_shared(const char *line)
{
	const char *end = strstr(line, " - ");
	const char *shared = strstr(line, " shared:");

	return shared != NULL && (end == NULL || shared < end);
}

/**
 * bind_check_target() - Refuse a target where a mount would show outside of the container
 * @target:	As mount_attach()
 * @mountinfo:	From bind_read_mountinfo(); mounts that were attached since are private
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int bind_check_target(int target, const char *mountinfo, struct err *e)
{
	struct survey_id id;
	const char *line;

	if (survey_identify(target, &id, e) < 0)
		return -1;
	line = find_line(mountinfo, id.mnt);
	if (line != NULL && is_shared(line))
		return err_set(e, 0,
			       "it is in a mount that is shared with the host (mount it with "
			       "propagation rslave or rprivate)");
	return 0;
}

/**
 * bind_attach() - Attach a detached mount, unless that would show outside of the container
 * @mnt:	Mount fd, borrowed
 * @target:	As mount_attach()
 * @mountinfo:	From bind_read_mountinfo(); mounts that were attached since are private
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int bind_attach(int mnt, int target, const char *mountinfo, struct err *e)
{
	return bind_check_target(target, mountinfo, e) < 0 ? -1 : mount_attach(mnt, target, e);
}
