/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The host's folder of programs, which runs in every container
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "libexec.h"
#include "path.h"
#include "survey.h"
#include "trusted.h"

static int check_program(const char *dir, const char *name, struct survey_id *ret, struct err *e)
{
	cleanup_free char *path = path_join(dir, name, e);
	cleanup_fd int fd = -1;
	struct stat st;

	if (path == NULL)
		return -1;
	fd = trusted_open(path, O_PATH | O_NOFOLLOW, S_IFREG, e);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_set(e, errno, "look at %s", path);
	if ((st.st_mode & 0111) != 0111)
		return err_set(e, 0, "%s can't be run by all (chmod 755 %s)", path, path);
	return survey_identify(fd, ret, e);
}

/**
 * libexec_open() - Open the host's folder of programs
 * @dir:	Folder, absolute; must be nobody's to write but root's, and have shim and cli in it
 * @ret_shim:	Which file the shim is; filled on success
 * @e:		Set on failure
 *
 * Return: O_PATH fd owned by the caller, -1 on failure
 */
int libexec_open(const char *dir, struct survey_id *ret_shim, struct err *e)
{
	cleanup_fd int fd = trusted_open(dir, O_PATH | O_DIRECTORY, S_IFDIR, e);
	struct survey_id cli;

	if (fd < 0 || check_program(dir, LIBEXEC_SHIM, ret_shim, e) < 0 ||
	    check_program(dir, LIBEXEC_CLI, &cli, e) < 0)
		return err_wrap(e, "programs for the container");
	return steal_fd(&fd);
}
