/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What to do about user namespaces that are refused
 *
 * The same errno has causes that are far apart, and each of them has its own switch.  The one
 * that is named opens no more than is needed.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "advice.h"
#include "cleanup.h"
#include "err.h"
#include "hook.h"
#include "io.h"
#include "libexec.h"

#define SYSCTL_MAX_BYTES 64

static bool sysctl_is(const char *path, const char *value)
{
	struct err ignored = { 0 }; /* most kernels lack most of them */
	cleanup_free char *text = read_path(path, SYSCTL_MAX_BYTES, &ignored);

	if (text == NULL)
		return false;
	text[strcspn(text, "\n")] = '\0';
	return strcmp(text, value) == 0;
}

/*
 * apparmor.d(5): a profile that confines nothing, and lets these two programs alone make user
 * namespaces.  The sysctl would let every program of the host make them.
 */
static void advise_apparmor(FILE *out, const struct hook_paths *paths)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	(void)fprintf(out,
		      "AppArmor keeps them from programs without a profile "
		      "(kernel.apparmor_restrict_unprivileged_userns is 1): write `abi <abi/4.0>, "
		      "profile oci-sandbox /{%s,%s/" LIBEXEC_SHIM
		      "} flags=(unconfined) { userns, }` into /etc/apparmor.d/oci-sandbox, and "
		      "apparmor_parser -r it",
		      self + strspn(self, "/"), paths->libexec + strspn(paths->libexec, "/"));
}

/**
 * advice_sandbox() - Say what to do when a sandbox's namespaces are refused
 * @out:	Where to
 * @paths:	Where things are on the host
 * @why:	What was refused
 */
void advice_sandbox(FILE *out, const struct hook_paths *paths, const struct err *why)
{
	const bool refused = why->code == EPERM || why->code == EACCES;
	const char *text = "use Linux 5.12 or newer, with CONFIG_USER_NS and CONFIG_UNIX98_PTYS";

	if (sysctl_is("/proc/sys/user/max_user_namespaces", "0"))
		text = "user.max_user_namespaces is 0: sysctl user.max_user_namespaces=15000, and "
		       "a file in /etc/sysctl.d that says so";
	else if (why->code == ENOSPC)
		text = "raise the user.max_*_namespaces that is used up, sysctl(8)";
	else if (refused && sysctl_is("/proc/sys/kernel/unprivileged_userns_clone", "0"))
		text = "kernel.unprivileged_userns_clone is 0: sysctl "
		       "kernel.unprivileged_userns_clone=1, and a file in /etc/sysctl.d that says "
		       "so";
	else if (refused &&
		 sysctl_is("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"))
		text = NULL;
	else if (refused)
		text = "a seccomp filter, a security module or a chroot forbids it: try outside of "
		       "it, or have it allow this";
	if (text != NULL)
		(void)fputs(text, out);
	else
		advise_apparmor(out, paths);
}
