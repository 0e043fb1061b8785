/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The host's configuration: policy and profiles
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "directives.h"
#include "err.h"
#include "io.h"
#include "load.h"
#include "path.h"
#include "trusted.h"

static char *read_trusted(const char *path, struct err *e)
{
	cleanup_fd int fd = trusted_open(path, O_RDONLY, S_IFREG, e);
	char *text;

	if (fd < 0)
		return NULL;
	text = read_fd(fd, DIRECTIVES_MAX_BYTES, e);
	if (text == NULL) {
		(void)err_wrap(e, "%s", path);
		e->code = 0; /* the file is there */
	}
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
