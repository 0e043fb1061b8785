/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Profiles: what the sandbox has to know of an agent, as a file
 *
 * A profile comes from the host, as the policy does.  It still can't name a path outside the
 * agent's home as state, nor one that the agent writes as the place of its binary: a slip in a
 * profile must not become a hole.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "directives.h"
#include "env.h"
#include "err.h"
#include "manifest.h"
#include "path.h"
#include "profile.h"

#define PROFILE_NAME_MAX 32
#define COMMAND_MAX 64

/**
 * profile_name_check() - Check the name of a profile or policy, which is part of file names
 * @name:	Name
 * @e:		Set on failure
 *
 * Return: 0 if it is good, -1 if not
 */
int profile_name_check(const char *name, struct err *e)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	if (n == 0 || n > PROFILE_NAME_MAX || name[n] != '\0' || name[0] == '-')
		return err_set(e, 0,
			       "`%.60s` is not a name (lower-case letters, digits and -, at most "
			       "%d)",
			       name, PROFILE_NAME_MAX);
	return 0;
}

static int add_commands(void *member, const char *value, struct err *e)
{
	cleanup_strlist struct strlist words = { 0 };

	if (strlist_add_words(&words, value, e) < 0)
		return -1;
	for (size_t i = 0; i < words.n; i++) {
		size_t n = strspn(words.v[i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					      "0123456789-_.+");

		if (words.v[i][n] != '\0' || words.v[i][0] == '.' || words.v[i][0] == '-' ||
		    n > COMMAND_MAX)
			return err_set(e, 0, "`%.60s` is not the name of a command", words.v[i]);
		if (strcmp(words.v[i], CLI_COMMAND) == 0)
			return err_set(e, 0, "`%s` is no agent", words.v[i]);
		if (strlist_has(member, words.v[i]))
			return err_set(e, 0, "`%s` is named twice", words.v[i]);
		if (strlist_add(member, words.v[i], e) < 0)
			return -1;
	}
	return 0;
}

static int check_home_relative(const char *value, struct err *e)
{
	cleanup_free char *absolute = path_join("/", value, e);

	if (absolute == NULL)
		return -1;
	if (value[0] == '/' || !path_is_clean(absolute) || strcmp(absolute, "/") == 0)
		return err_set(e, 0, "`%.60s` is not a relative path without ..", value);
	return 0;
}

static int add_candidate(void *member, const char *value, struct err *e)
{
	if (strncmp(value, "~/", 2) == 0)
		return check_home_relative(value + 2, e) < 0 ? -1 : strlist_add(member, value, e);
	if (!path_is_clean(value) || strcmp(value, "/") == 0)
		return err_set(e, 0, "`%.60s` is neither an absolute path nor ~/PATH", value);
	return strlist_add(member, value, e);
}

static int set_relative(void *member, const char *value, struct err *e)
{
	if (check_home_relative(value, e) < 0)
		return -1;
	return directive_string(member, value, e);
}

/**
 * profile_import_target() - Say where the store has what is imported
 * @import:	One of a profile's imports
 *
 * What is beside the state folder goes into it: the agent is told of that folder alone.
 *
 * Return: path relative to the state folder, part of @import
 */
const char *profile_import_target(const char *import)
{
	return strncmp(import, "~/", 2) == 0 ? strrchr(import, '/') + 1 : import;
}

/* One inside the other would be copied onto itself. */
static int check_import_target(const struct strlist *imports, const char *import, struct err *e)
{
	cleanup_free char *target = path_join("/", profile_import_target(import), e);

	if (target == NULL)
		return -1;
	for (size_t i = 0; i < imports->n; i++) {
		const char *name = profile_import_target(imports->v[i]);
		cleanup_free char *other = path_join("/", name, e);

		if (other == NULL)
			return -1;
		if (path_is_at_or_below(target, other) || path_is_at_or_below(other, target))
			return err_set(e, 0, "`%.60s` and `%.60s` would both be `%.60s`", import,
				       imports->v[i], name);
	}
	return 0;
}

static int add_imports(void *member, const char *value, struct err *e)
{
	cleanup_strlist struct strlist words = { 0 };

	if (strlist_add_words(&words, value, e) < 0)
		return -1;
	for (size_t i = 0; i < words.n; i++) {
		const char *path = words.v[i];

		if (check_home_relative(strncmp(path, "~/", 2) == 0 ? path + 2 : path, e) < 0 ||
		    check_import_target(member, path, e) < 0 || strlist_add(member, path, e) < 0)
			return -1;
	}
	return 0;
}

static int add_masks(void *member, const char *value, struct err *e)
{
	cleanup_strlist struct strlist words = { 0 };

	if (strlist_add_words(&words, value, e) < 0)
		return -1;
	for (size_t i = 0; i < words.n; i++)
		if (check_home_relative(words.v[i], e) < 0 ||
		    strlist_add(member, words.v[i], e) < 0)
			return -1;
	return 0;
}

static int set_state_env(void *member, const char *value, struct err *e)
{
	if (env_name_check(value, e) < 0)
		return -1;
	return directive_string(member, value, e);
}

static int add_set_env(void *member, const char *value, struct err *e)
{
	const char *eq = strchr(value, '=');
	cleanup_free char *name = NULL;

	if (eq == NULL)
		return err_set(e, 0, "`%.60s` is not NAME=VALUE", value);
	name = strndup(value, (size_t)(eq - value));
	if (name == NULL)
		return err_set(e, ENOMEM, "allocate a string");
	if (env_name_check(name, e) < 0)
		return -1;
	return strlist_add(member, value, e);
}

static int add_arguments(void *member, const char *value, struct err *e)
{
	return strlist_add_words(member, value, e);
}

/* clang-format off */
#define AT(member) offsetof(struct profile, member)
static const struct directive keys[] = {
	/* key		set		offset		single	bare */
	{ "commands",	add_commands,	AT(commands),	true,	false },
	{ "candidate",	add_candidate,	AT(candidates),	false,	false },
	{ "state",	set_relative,	AT(state),	true,	false },
	{ "state-env",	set_state_env,	AT(state_env),	true,	false },
	{ "skills",	set_relative,	AT(skills),	true,	false },
	{ "import",	add_imports,	AT(import),	false,	false },
	{ "mask",	add_masks,	AT(mask),	false,	false },
	{ "arguments",	add_arguments,	AT(arguments),	false,	false },
	{ "set-env",	add_set_env,	AT(set_env),	false,	false },
	{ "pass-env",	directive_env,	AT(pass_env),	false,	false },
	{ "local-model-port", directive_port, AT(local_model_port), true, false },
};
/* clang-format on */

/* The agent may write its state: a binary there would be whatever the last session left. */
static int check_candidates(const struct profile *p, struct err *e)
{
	cleanup_free char *state = path_join("~", p->state, e);

	if (state == NULL)
		return -1;
	for (size_t i = 0; i < p->candidates.n; i++)
		if (path_is_at_or_below(p->candidates.v[i], state))
			return err_set(
				e, 0,
				"candidate: `%s` is in the state folder, which the agent writes",
				p->candidates.v[i]);
	return 0;
}

/**
 * profile_parse() - Read a profile
 * @text:	Content of the file, cut up while it is read
 * @file:	Name of the file, for errors
 * @name:	Name of the profile
 * @ret:	Filled on success, untouched on failure; profile_done() releases it
 * @e:		Set on failure: "FILE:LINE: KEY: why", or "FILE: why"
 *
 * Return: 0 on success, -1 on failure
 */
int profile_parse(char *text, const char *file, const char *name, struct profile *ret,
		  struct err *e)
{
	cleanup_profile struct profile p = { 0 };

	if (profile_name_check(name, e) < 0)
		return err_wrap(e, "%s", file);
	if (directives_read(text, file, keys, N_ELEMENTS(keys), &p, e) < 0)
		return -1;
	if (p.commands.n == 0)
		return err_set(e, 0, "%s: `commands` is missing: no name would start the agent",
			       file);
	if (p.state == NULL)
		return err_set(e, 0, "%s: `state` is missing: the agent could keep nothing", file);
	if (strcmp(name, "skills") == 0 || strcmp(name, "signing") == 0)
		return err_set(e, 0,
			       "%s: `%s` is no name: the stores have a folder that is called so",
			       file, name);
	if (check_candidates(&p, e) < 0 || directive_string(&p.name, name, e) < 0)
		return err_wrap(e, "%s", file);

	*ret = p;
	p = (struct profile){ 0 };
	return 0;
}

/**
 * profile_done() - Release what a profile owns; it is empty afterwards
 * @p:		Profile
 */
void profile_done(struct profile *p)
{
	free(p->name);
	strlist_clear(&p->commands);
	strlist_clear(&p->candidates);
	free(p->state);
	strlist_clear(&p->import);
	strlist_clear(&p->mask);
	free(p->state_env);
	free(p->skills);
	strlist_clear(&p->arguments);
	strlist_clear(&p->set_env);
	strlist_clear(&p->pass_env);
	*p = (struct profile){ 0 };
}
