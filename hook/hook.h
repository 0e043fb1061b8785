/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_HOOK_H
#define HOOK_HOOK_H

/**
 * struct hook_paths - where the hook finds things on the host
 * @config:	folder of policy.conf and agents/, such as /etc/oci-sandbox
 * @libexec:	folder of the shim and its companions, such as /usr/libexec/oci-sandbox
 * @hooks_dir:	folder of the engines' hook descriptions, such as /etc/containers/oci/hooks.d
 * @self:	path of the hook's own program
 *
 * All strings are borrowed from the caller and live as long as it.
 */
struct hook_paths {
	const char *config;
	const char *libexec;
	const char *hooks_dir;
	const char *self;
};

#endif
