/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Files of the host that the hook obeys
 *
 * Whoever can write the policy, a profile or the shim decides what runs in every container.
 * So each is used only if it, and each folder above it, belongs to someone who could do as he
 * likes anyway, and nobody else can write it.  What is checked is the file that was opened.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "directives.h"
#include "err.h"
#include "io.h"
#include "load.h"
#include "path.h"

#define OVERFLOW_UID 65534 /* Linux's default, which nobody changes: kernel/sys.c */

/*
 * In a sticky folder nobody can replace what others own, and what he puts there himself belongs
 * to him.  In a user namespace that does not help: all who are not mapped look like the owner
 * of "/".
 */
static bool is_sticky(const struct stat *st, const struct stat *root)
{
	return S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX) != 0 && root->st_uid != OVERFLOW_UID;
}

/*
 * The hook's own user, and the owner of "/": for the hook of a rootless engine, which runs in
 * a user namespace, the host's root is the overflow uid.
 */
static int check_owner(const struct stat *st, const char *path, struct err *e)
{
	struct stat root;

	if (stat("/", &root) < 0)
		return err_set(e, errno, "look at /");
	if (st->st_uid != geteuid() && st->st_uid != root.st_uid)
		return err_set(e, 0, "%s belongs to uid %u (chown it to root)", path,
			       (unsigned)st->st_uid);
	if ((st->st_mode & (S_IWGRP | S_IWOTH)) != 0 && !is_sticky(st, &root))
		return err_set(e, 0, "%s can be written by others (chmod go-w %s)", path, path);
	return 0;
}

/* @path has no symlinks; it is cut up. */
static int check_parents(char *path, struct err *e)
{
	struct stat st;

	for (char *slash; (slash = strrchr(path, '/')) != NULL;) {
		const char *dir = slash == path ? "/" : path;

		*slash = '\0';
		if (lstat(dir, &st) < 0)
			return err_set(e, errno, "look at %s", dir);
		if (check_owner(&st, dir, e) < 0)
			return -1;
	}
	return 0;
}

/* Where an open file is, without symlinks. */
static int real_path(int fd, char real[PATH_MAX], struct err *e)
{
	char link[64];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, real, PATH_MAX);
	if (n < 0)
		return err_set(e, errno, "read %s", link);
	if (n >= PATH_MAX || real[0] != '/')
		return err_set(e, ENAMETOOLONG, "read %s", link);
	real[n] = '\0';
	return 0;
}

/**
 * load_open_trusted() - Open a file or folder of the host that the hook may obey
 * @path:	Absolute path; symlinks are followed, and what counts is where they end
 * @flags:	As open(2); O_CLOEXEC and what keeps open(2) from waiting are implied
 * @type:	S_IFREG or S_IFDIR: anything else is refused
 * @e:		Set on failure, with errno ENOENT as its code if there is nothing
 *
 * Return: fd owned by the caller, -1 on failure
 */
int load_open_trusted(const char *path, int flags, mode_t type, struct err *e)
{
	cleanup_fd int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char real[PATH_MAX];
	struct stat st;

	if (fd < 0)
		return err_set(e, errno, "open %s", path);
	if (fstat(fd, &st) < 0)
		return err_set(e, errno, "look at %s", path);
	if ((st.st_mode & S_IFMT) != type)
		return err_set(e, 0, "%s is not a %s", path,
			       type == S_IFDIR ? "folder" : "regular file");
	if (check_owner(&st, path, e) < 0)
		return -1;
	if (real_path(fd, real, e) < 0 || check_parents(real, e) < 0) {
		(void)err_wrap(e, "%s", path);
		e->code = 0; /* the file is there: this is not its ENOENT */
		return -1;
	}
	return steal_fd(&fd);
}

static char *read_trusted(const char *path, struct err *e)
{
	cleanup_fd int fd = load_open_trusted(path, O_RDONLY, S_IFREG, e);
	char *text;

	if (fd < 0)
		return NULL;
	text = read_fd(fd, DIRECTIVES_MAX_BYTES, e);
	if (text == NULL)
		(void)err_wrap(e, "%s", path);
	return text;
}

/**
 * load_policy() - Read the policy
 * @dir:	Configuration folder
 * @ret:	Filled on success, untouched on failure and if there is none
 * @ret_missing: There is no policy
 * @e:		Set on failure
 *
 * Return: 0 on success, also if there is none; -1 on failure
 */
int load_policy(const char *dir, struct policy *ret, bool *ret_missing, struct err *e)
{
	cleanup_free char *path = path_join(dir, "policy.conf", e);
	cleanup_free char *text = NULL;

	if (path == NULL)
		return -1;
	text = read_trusted(path, e);
	if (text == NULL && e->code != ENOENT)
		return err_wrap(e, "policy");
	*ret_missing = text == NULL;
	return text == NULL ? 0 : policy_parse(text, path, ret, e);
}

/**
 * load_named_policy() - Read a policy that a container asks for
 * @dir:	Configuration folder
 * @name:	Name that the container gives
 * @ret:	Filled on success, untouched on failure
 * @e:		Set on failure, also if it is not there or not for containers to choose
 *
 * Return: 0 on success, -1 on failure
 */
int load_named_policy(const char *dir, const char *name, struct policy *ret, struct err *e)
{
	cleanup_policy struct policy p = { 0 };
	cleanup_free char *path = NULL, *text = NULL;

	if (profile_name_check(name, e) < 0)
		return err_wrap(e, "policy");
	if (asprintf(&path, "%s/policies/%s.conf", dir, name) < 0) {
		path = NULL;
		return err_set(e, ENOMEM, "allocate a path");
	}
	text = read_trusted(path, e);
	if (text == NULL)
		return err_wrap(e, "policy `%s`", name);
	if (policy_parse(text, path, &p, e) < 0)
		return -1;
	if (!p.selectable)
		return err_set(e, 0,
			       "policy `%s`: %s does not say `selectable = yes`, so no container "
			       "may ask for it",
			       name, path);

	*ret = p;
	p = (struct policy){ 0 };
	return 0;
}

static int load_profile(const char *dir, const char *name, struct loaded_profile *ret,
			struct err *e)
{
	cleanup_free char *path = NULL, *text = NULL, *copy = NULL;

	if (asprintf(&path, "%s/agents/%s.conf", dir, name) < 0) {
		path = NULL;
		return err_set(e, ENOMEM, "allocate a path");
	}
	text = read_trusted(path, e);
	if (text == NULL)
		return err_wrap(e, "profile `%s`", name);
	copy = strdup(text);
	if (copy == NULL)
		return err_set(e, ENOMEM, "allocate a profile");
	if (profile_parse(copy, path, name, &ret->profile, e) < 0)
		return -1;
	ret->text = steal_ptr(&text);
	return 0;
}

/* One name can start one agent only: the last profile against those before it. */
static int check_commands(const struct loaded_profiles *l, struct err *e)
{
	const struct profile *p = &l->v[l->n - 1].profile;

	for (size_t i = 0; i + 1 < l->n; i++)
		for (size_t k = 0; k < p->commands.n; k++)
			if (strlist_has(&l->v[i].profile.commands, p->commands.v[k]))
				return err_set(e, 0,
					       "profiles `%s` and `%s` both have the command `%s`",
					       l->v[i].profile.name, p->name, p->commands.v[k]);
	return 0;
}

/**
 * load_profiles() - Read the profiles that a policy names
 * @dir:	Configuration folder
 * @p:		Policy
 * @ret:	Filled on success, untouched on failure
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int load_profiles(const char *dir, const struct policy *p, struct loaded_profiles *ret,
		  struct err *e)
{
	cleanup_loaded_profiles struct loaded_profiles l = { 0 };

	l.v = calloc(p->agents.n + 1, sizeof(*l.v));
	if (l.v == NULL)
		return err_set(e, ENOMEM, "allocate the profiles");
	for (size_t i = 0; i < p->agents.n; i++) {
		if (load_profile(dir, p->agents.v[i], &l.v[l.n], e) < 0)
			return -1;
		l.n++;
		if (check_commands(&l, e) < 0)
			return -1;
	}

	*ret = l;
	l = (struct loaded_profiles){ 0 };
	return 0;
}

/**
 * loaded_profiles_done() - Release profiles; there are none afterwards
 * @l:		Profiles
 */
void loaded_profiles_done(struct loaded_profiles *l)
{
	for (size_t i = 0; i < l->n; i++) {
		profile_done(&l->v[i].profile);
		free(l->v[i].text);
	}
	free(l->v);
	*l = (struct loaded_profiles){ 0 };
}
