/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The key that agents sign commits with
 *
 * Whoever makes a commit in a sandbox can use it, so an agent can read it: it says "an agent of
 * this developer's made this", and never that the developer did.  His own keys are in no sandbox.
 */
#include "config.h"

#include <errno.h>
#include <sys/stat.h>

#include "cleanup.h"
#include "err.h"
#include "path.h"
#include "program_find.h"
#include "signing.h"

/**
 * signing_program() - Find what makes keys and signatures
 *
 * Return: absolute path of ssh-keygen(1), static; NULL if the container has none
 */
const char *signing_program(void)
{
	static char path[PROGRAM_FIND_BYTES];

	return program_find("ssh-keygen", path);
}

static int look_at(const char *path, mode_t type, uid_t uid, struct err *e)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return err_set(e, errno, "%s", path);
	if ((st.st_mode & S_IFMT) != type)
		return err_set(e, 0, "%s is not a %s", path, type == S_IFDIR ? "folder" : "file");
	if (st.st_uid != uid)
		return err_set(e, 0, "%s belongs to uid %u, not to you (uid %u)", path, st.st_uid,
			       uid);
	if ((st.st_mode & (type == S_IFDIR ? 0022 : 0077)) != 0)
		return err_set(e, 0, "others can use %s (chmod go= %s)", path, path);
	return 0;
}

/**
 * signing_check() - Say whether there is a key, and nobody else's hand in it
 * @dir:	Folder SIGNING_DIR
 * @uid:	Whom it must belong to
 * @e:		Set if there is none; its code is ENOENT if there is nothing at all
 *
 * Return: 0 if there is, -1 if not
 */
int signing_check(const char *dir, uid_t uid, struct err *e)
{
	cleanup_free char *key = path_join(dir, SIGNING_KEY, e);
	cleanup_free char *public = key == NULL ? NULL : path_join(dir, SIGNING_PUBLIC, e);
	struct stat st;

	if (public == NULL || look_at(dir, S_IFDIR, uid, e) < 0 ||
	    look_at(key, S_IFREG, uid, e) < 0)
		return -1;
	if (lstat(public, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(e, 0, "%s is not a file", public);
	return 0;
}
