/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_SURVEY_H
#define HOOK_SURVEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cleanup.h"

struct err;
struct loaded_profiles;
struct oci_config;

/**
 * struct survey_id - which file something is
 * @mnt:	Mount that it was reached through, as statx(2) has it
 * @dev:	Device
 * @ino:	Inode
 */
struct survey_id {
	uint64_t mnt;
	dev_t dev;
	ino_t ino;
};

/**
 * struct survey_dir - a folder of the container's PATH
 * @path:	As PATH names it, made clean
 * @fd:		O_PATH, owned
 * @id:		Which it is; PATH may name one folder several times
 * @owned:	Container root owns it, and nobody else can write it
 */
struct survey_dir {
	char *path;
	int fd;
	struct survey_id id;
	bool owned;
};

/**
 * struct survey_found - something that has the name of an agent's command, or CLI_COMMAND
 * @dir:	Index of its folder
 * @command:	Name, borrowed from the profile
 * @fd:		O_PATH on itself, a symlink not followed; owned
 * @id:		Which it is
 * @type:	Its S_IFMT
 * @runnable:	It, or what it links to, is a regular file that can be run.  A mount point that an
 *		earlier start of the container left is not.
 * @target:	Symlink: what is at its end, if it is runnable: O_PATH, owned; else -1
 * @target_id:	Symlink: which that is
 * @real:	Symlink: path of that in the container, without symlinks; NULL as above
 */
struct survey_found {
	size_t dir;
	const char *command;
	int fd;
	struct survey_id id;
	mode_t type;
	bool runnable;
	int target;
	struct survey_id target_id;
	char *real;
};

/**
 * struct survey - what the hook has to know of a container's file system
 * @dirs:		Folders of PATH, in order, each once
 * @n_dirs:		How many
 * @found:		What there is under the agents' names and CLI_COMMAND, in the order of
 *			commands and PATH
 * @n_found:		How many
 * @resolv_conf:	Text of the engine's /etc/resolv.conf; NULL if it made none
 * @passwd:		Text of the image's /etc/passwd; NULL if it has none that can be read
 *
 * Owned by the caller; survey_done() releases it.
 */
struct survey {
	struct survey_dir *dirs;
	size_t n_dirs;
	struct survey_found *found;
	size_t n_found;
	char *resolv_conf;
	char *passwd;
};

/**
 * struct survey_input - where and what to look for
 * @root:	Container's root folder, O_PATH, borrowed
 * @root_uid:	Owner of what belongs to container root, as the hook sees it
 * @config:	Container's configuration
 * @profiles:	Profiles, whose commands are looked for
 * @bundle:	Where relative sources of mounts start, if the mounts are not there yet; NULL:
 *		they are
 */
struct survey_input {
	int root;
	uid_t root_uid;
	const struct oci_config *config;
	const struct loaded_profiles *profiles;
	const char *bundle;
};

int survey_identify(int fd, struct survey_id *ret, struct err *e);
char *survey_path_in_root(int root, int fd, struct err *e);
bool survey_same(const struct survey_id *a, const struct survey_id *b);
int survey_make(const struct survey_input *in, struct survey *ret, struct err *e);
void survey_done(struct survey *s);

#define cleanup_survey CLEANUP(survey_done)

#endif
