/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_GITCONFIG_H
#define SHIM_GITCONFIG_H

#include <stdbool.h>

struct err;
struct policy;

/**
 * struct gitconfig_input - what a session's git configuration is made from
 * @name:	user.name; NULL: none
 * @email:	user.email; NULL: none
 * @workspace:	Its repository is trusted, whoever owns it (safe.directory)
 * @policy:	Which forges there are
 * @signs_with:	ssh-keygen(1), which makes the signatures; NULL: commits are not signed
 * @signing_key: Private key that it signs with, as the sandbox has it
 * @lfs:	The developer has git-lfs(1) installed
 *
 * Everything is borrowed.
 */
struct gitconfig_input {
	const char *name;
	const char *email;
	const char *workspace;
	const struct policy *policy;
	const char *signs_with;
	const char *signing_key;
	bool lfs;
};

char *gitconfig_make(const struct gitconfig_input *in, struct err *e);

#endif
