/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The policy file
 *
 * Every key of the format is known here.  One whose feature isn't built yet is checked like
 * the others and then refused: to ignore it would run an agent with less confinement than the
 * file says.
 */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "directives.h"
#include "err.h"
#include "path.h"
#include "policy.h"
#include "profile.h"
#include "session.h"

#define AGENT_ID_DEFAULT 1000
#define AGENT_ID_MAX 65533 /* 65534 is the overflow id, user_namespaces(7) */

/*
 * Commands inside them are run by editors and shells that are not confined; commondir leads
 * git to another config and other hooks, gitrepository-layout(5).
 */
static const char protect_default[] =
	".git/hooks .git/config .git/config.worktree .git/commondir .git/info/attributes .vscode "
	".idea .devcontainer";

/* Where devcontainers keep toolchains; what .cargo keeps of logins is masked by the shim. */
static const char home_read_default[] =
	".cargo .rustup .nvm .pyenv .rbenv .sdkman .volta .asdf .bun .deno .dotnet .npm-global go "
	".jenv .goenv .nodenv .ghcup .opam .juliaup";

static const char agents_default[] = "claude codex pi";

/* ---- values ---- */

static int not_yet(struct err *e)
{
	return err_set(e, ENOTSUP, "not supported yet");
}

static const char *const matches[] = {
	[POLICY_MATCH_ANNOTATION] = "annotation",
	[POLICY_MATCH_DEVCONTAINER] = "devcontainer",
	[POLICY_MATCH_ALWAYS] = "always",
};

static const char *const egresses[] = {
	[POLICY_EGRESS_INTERNET] = "internet",
	[POLICY_EGRESS_ALLOWLIST] = "allowlist",
	[POLICY_EGRESS_NONE] = "none",
	[POLICY_EGRESS_OPEN] = "open",
};

static const char *const scopes[] = {
	[POLICY_SCOPE_CONTAINER] = "container",
	[POLICY_SCOPE_AGENT] = "agent",
};

/* @ret is set to the index of @value. */
static int find_word(const char *value, const char *const *words, size_t n, size_t *ret,
		     struct err *e)
{
	cleanup_free char *all = NULL;
	size_t size;
	FILE *f;

	for (*ret = 0; *ret < n; ++*ret)
		if (strcmp(value, words[*ret]) == 0)
			return 0;
	f = open_memstream(&all, &size);
	if (f == NULL)
		return err_set(e, ENOMEM, "allocate a list");
	for (size_t i = 0; i < n; i++)
		(void)fprintf(f, "%s%s", i == 0 ? "" : ", ", words[i]);
	if (fclose(f) != 0)
		return err_set(e, ENOMEM, "allocate a list");
	return err_set(e, 0, "`%.60s` is none of %s", value, all);
}

/**
 * policy_egress_name() - What a policy calls what is reached
 * @egress:	What
 *
 * Return: a static string
 */
const char *policy_egress_name(enum policy_egress egress)
{
	return egresses[egress];
}

/**
 * policy_scope_name() - What a policy calls whom its rules are for
 * @scope:	Whom
 *
 * Return: a static string
 */
const char *policy_scope_name(enum policy_scope scope)
{
	return scopes[scope];
}

/**
 * policy_match_name() - What a policy calls the way in which a container asks
 * @match:	Which
 *
 * Return: a static string
 */
const char *policy_match_name(enum policy_match match)
{
	return matches[match];
}

static int set_match(void *member, const char *value, struct err *e)
{
	size_t i;

	if (find_word(value, matches, N_ELEMENTS(matches), &i, e) < 0)
		return -1;
	*(enum policy_match *)member = (enum policy_match)i;
	return 0;
}

static int set_egress(void *member, const char *value, struct err *e)
{
	size_t i;

	if (find_word(value, egresses, N_ELEMENTS(egresses), &i, e) < 0)
		return -1;
	*(enum policy_egress *)member = (enum policy_egress)i;
	return 0;
}

static int set_scope(void *member, const char *value, struct err *e)
{
	size_t i;

	if (find_word(value, scopes, N_ELEMENTS(scopes), &i, e) < 0)
		return -1;
	*(enum policy_scope *)member = (enum policy_scope)i;
	return 0;
}

static int set_yes_no(void *member, const char *value, struct err *e)
{
	if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
		return err_set(e, 0, "`%.60s` is none of yes no", value);
	*(bool *)member = strcmp(value, "yes") == 0;
	return 0;
}

static int set_agents(void *member, const char *value, struct err *e)
{
	cleanup_strlist struct strlist words = { 0 };

	if (strlist_add_words(&words, value, e) < 0)
		return -1;
	for (size_t i = 0; i < words.n; i++) {
		if (profile_name_check(words.v[i], e) < 0)
			return -1;
		if (strlist_has(member, words.v[i]))
			return err_set(e, 0, "`%s` is named twice", words.v[i]);
		if (strlist_add(member, words.v[i], e) < 0)
			return -1;
	}
	return 0;
}

/* A value that is one path: so a path with spaces needs no quoting. */
static int add_path(void *member, const char *value, struct err *e)
{
	cleanup_free char *clean = path_clean(value, e);

	if (clean == NULL)
		return -1;
	if (strcmp(clean, "/") == 0)
		return err_set(e, 0, "`/` would name everything");
	return strlist_add(member, clean, e);
}

static int add_device(void *member, const char *value, struct err *e)
{
	cleanup_free char *clean = path_clean(value, e);

	if (clean == NULL)
		return -1;
	if (!path_is_below(clean, "/dev"))
		return err_set(e, 0, "`%.60s` is not below /dev", value);
	return strlist_add(member, clean, e);
}

/* Like add_path(), or ~/ and a path in the home. */
static int add_home_path(void *member, const char *value, struct err *e)
{
	cleanup_free char *clean = NULL;

	if (strncmp(value, "~/", 2) != 0)
		return add_path(member, value, e);
	clean = path_clean(value + 1, e);
	if (clean == NULL)
		return -1;
	if (strcmp(clean, "/") == 0)
		return err_set(e, 0, "`%s` would name all of the home", value);
	return strlist_add_fmt(member, e, "~%s", clean);
}

static int add_relative(struct strlist *l, const char *value, struct err *e)
{
	cleanup_free char *absolute = path_join("/", value, e);

	if (absolute == NULL)
		return -1;
	if (!path_is_clean(absolute) || strcmp(absolute, "/") == 0)
		return err_set(e, 0, "`%.60s` is not a path relative to its folder, without ..",
			       value);
	return strlist_add(l, value, e);
}

static int add_relatives(void *member, const char *value, struct err *e)
{
	cleanup_strlist struct strlist words = { 0 };

	if (strlist_add_words(&words, value, e) < 0)
		return -1;
	for (size_t i = 0; i < words.n; i++)
		if (add_relative(member, words.v[i], e) < 0)
			return -1;
	return 0;
}

static int set_true(void *member, const char *value, struct err *e)
{
	(void)value;
	(void)e;
	*(bool *)member = true;
	return 0;
}

/**
 * struct destinations - the pair of members that allow-ip or deny-ip fills
 *
 * Laid out as in struct policy, see the assertions below.
 */
struct destinations {
	struct ip_destination *v;
	size_t n;
};
_Static_assert(offsetof(struct policy, n_allow_ip) - offsetof(struct policy, allow_ip) ==
		       offsetof(struct destinations, n),
	       "allow_ip and n_allow_ip stand together");
_Static_assert(offsetof(struct policy, n_deny_ip) - offsetof(struct policy, deny_ip) ==
		       offsetof(struct destinations, n),
	       "deny_ip and n_deny_ip stand together");

static int add_destination(void *member, const char *value, struct err *e)
{
	struct destinations *l = member;
	struct ip_destination d;

	if (ip_destination_parse(value, &d, e) < 0)
		return -1;

	/* doubles at each power of two: 10,000 entries are normal */
	if ((l->n & (l->n - 1)) == 0) {
		struct ip_destination *v = reallocarray(l->v, l->n == 0 ? 1 : l->n * 2, sizeof(*v));

		if (v == NULL)
			return err_set(e, ENOMEM, "allocate %zu addresses", l->n);
		l->v = v;
	}
	l->v[l->n++] = d;
	return 0;
}

static int set_agent_id(void *member, const char *value, struct err *e)
{
	unsigned long id;

	/* 0 would appear as root again, and the agents' own sandboxes fail as uid 0 */
	if (directive_number(value, 1, AGENT_ID_MAX, &id, e) < 0)
		return -1;
	*(unsigned *)member = (unsigned)id;
	return 0;
}

/**
 * policy_numbers_have() - Say whether a number is in a list
 * @l:		List
 * @number:	Number
 *
 * Return: true if it is
 */
bool policy_numbers_have(const struct policy_numbers *l, uint32_t number)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == number)
			return true;
	return false;
}

static int add_number(struct policy_numbers *l, uint32_t number, struct err *e)
{
	uint32_t *v;

	if (policy_numbers_have(l, number))
		return err_set(e, 0, "%u is named twice", number);
	v = reallocarray(l->v, l->n + 1, sizeof(*v));
	if (v == NULL)
		return err_set(e, ENOMEM, "allocate a list");
	l->v = v;
	v[l->n++] = number;
	return 0;
}

static int add_numbers(struct policy_numbers *l, const char *value, unsigned long min,
		       unsigned long max, struct err *e)
{
	cleanup_strlist struct strlist words = { 0 };
	unsigned long number;

	if (strlist_add_words(&words, value, e) < 0)
		return -1;
	for (size_t i = 0; i < words.n; i++)
		if (directive_number(words.v[i], min, max, &number, e) < 0 ||
		    add_number(l, (uint32_t)number, e) < 0)
			return -1;
	return l->n <= POLICY_NUMBERS_MAX ? 0 : err_set(e, 0, "more than %d", POLICY_NUMBERS_MAX);
}

/* ---- ports: the member is the whole policy, as one port can't be a service of both ---- */

static int check_ports(const struct policy *p, struct err *e)
{
	const struct policy_numbers *callback = &p->callback_port;

	for (size_t i = 0; i < p->local_port.n; i++)
		if (policy_numbers_have(callback, p->local_port.v[i]))
			return err_set(e, 0, "%u is both a local-port and a callback-port",
				       p->local_port.v[i]);
	if (policy_numbers_have(callback, p->local_model_port))
		return err_set(e, 0, "%u is both the local-model-port and a callback-port",
			       p->local_model_port);
	return 0;
}

static int add_local_ports(void *member, const char *value, struct err *e)
{
	struct policy *p = member;

	return add_numbers(&p->local_port, value, 1, UINT16_MAX, e) < 0 ? -1 : check_ports(p, e);
}

static int add_callback_ports(void *member, const char *value, struct err *e)
{
	struct policy *p = member;

	return add_numbers(&p->callback_port, value, 1, UINT16_MAX, e) < 0 ? -1 : check_ports(p, e);
}

static int set_model_port(void *member, const char *value, struct err *e)
{
	struct policy *p = member;

	if (strcmp(value, "none") == 0) {
		p->local_model_port = POLICY_NO_PORT;
		return 0;
	}
	if (directive_port(&p->local_model_port, value, e) < 0)
		return err_set(e, 0, "%s, or none", e->msg);
	return check_ports(p, e);
}

static int set_uids(void *member, const char *value, struct err *e)
{
	return add_numbers(member, value, 0, UINT32_MAX - 1, e);
}

static int set_subnet(void *member, const char *value, struct err *e)
{
	struct ip_prefix p;

	if (ip_prefix_parse(value, &p, e) < 0)
		return -1;
	if (p.family != AF_INET || p.len < 8 || p.len > 30)
		return err_set(e, 0, "`%.60s` is not an IPv4 network of /8 to /30", value);
	*(struct ip_prefix *)member = p;
	return 0;
}

/* ---- values of keys whose feature is not there yet: checked, then refused ---- */

static int refuse_path(void *member, const char *value, struct err *e)
{
	cleanup_free char *clean = path_clean(value, e);

	(void)member;
	return clean == NULL ? -1 : not_yet(e);
}

static int refuse_pids(void *member, const char *value, struct err *e)
{
	unsigned long n;

	(void)member;
	return directive_number(value, 1, INT32_MAX, &n, e) < 0 ? -1 : not_yet(e);
}

/* A number of bytes, or of KiB, MiB, GiB with K, M, G behind it */
static int refuse_bytes(void *member, const char *value, struct err *e)
{
	size_t digits = strspn(value, "0123456789");

	(void)member;
	if (digits == 0 || digits > 15 ||
	    (value[digits] != '\0' &&
	     (strchr("KMG", value[digits]) == NULL || value[digits + 1] != '\0')))
		return err_set(e, 0, "`%.60s` is not a size such as 4G", value);
	return not_yet(e);
}

/* clang-format off */
#define AT(member) offsetof(struct policy, member)
static const struct directive keys[] = {
	/* key		     set		  offset		single	bare */
	{ "match",	     set_match,		  AT(match),		true,	false },
	{ "agents",	     set_agents,	  AT(agents),		true,	false },
	{ "workspace-root",  directive_path,	  AT(workspace_root),	true,	false },
	{ "allow-mount",     add_path,		  AT(allow_mount),	false,	false },
	{ "allow-write",     add_home_path,	  AT(allow_write),	false,	false },
	{ "share-write",     set_yes_no,	  AT(share_write),	true,	false },
	{ "allow-device",    add_device,	  AT(allow_device),	false,	false },
	{ "gpu",	     set_yes_no,	  AT(gpu),		true,	false },
	{ "protect",	     add_relatives,	  AT(protect),		false,	false },
	{ "mask",	     add_path,		  AT(mask),		false,	false },
	{ "home-read",	     add_relatives,	  AT(home_read),	false,	false },
	{ "pass-env",	     directive_env,		  AT(pass_env),		false,	false },
	{ "no-forge",	     set_true,		  AT(no_forge),		true,	true },
	{ "forge-host",	     policy_forge_add,	  0,			false,	false },
	{ "allow-ip",	     add_destination,	  AT(allow_ip),		false,	false },
	{ "deny-ip",	     add_destination,	  AT(deny_ip),		false,	false },
	{ "selectable",	     set_yes_no,	  AT(selectable),	true,	false },
	{ "require-hook",    set_yes_no,	  AT(require_hook),	true,	false },
	{ "egress",	     set_egress,	  AT(egress),		true,	false },
	{ "egress-scope",    set_scope,		  AT(egress_scope),	true,	false },
	{ "allow-connected", set_yes_no,	  AT(allow_connected),	true,	false },
	{ "agent-subnet",    set_subnet,	  AT(agent_subnet),	true,	false },
	{ "agent-uid",	     set_uids,		  AT(agent_uid),	true,	false },
	{ "local-port",	     add_local_ports,	  0,			false,	false },
	{ "local-model-port", set_model_port,	  0,			true,	false },
	{ "callback-port",   add_callback_ports,  0,			false,	false },
	{ "agent-id",	     set_agent_id,	  AT(agent_id),		true,	false },
	{ "state-root",	     directive_path,	  AT(state_root),	true,	false },
	{ "session-may",     session_may_set,	  AT(session_may),	true,	false },
	{ "nested-sandbox",  set_yes_no,	  AT(nested_sandbox),	true,	false },
	/* refused */
	{ "runtime",	     refuse_path,	  0,			true,	false },
	{ "memory-max",	     refuse_bytes,	  0,			true,	false },
	{ "pids-max",	     refuse_pids,	  0,			true,	false },
};
/* clang-format on */

/* The lists' defaults stand where the file does not name the key. */
static int fill_defaults(struct policy *p, struct err *e)
{
	if (p->agents.n == 0 && strlist_add_words(&p->agents, agents_default, e) < 0)
		return -1;
	if (p->protect.n == 0 && strlist_add_words(&p->protect, protect_default, e) < 0)
		return -1;
	if (p->home_read.n == 0 && strlist_add_words(&p->home_read, home_read_default, e) < 0)
		return -1;
	return 0;
}

/**
 * policy_parse() - Read a policy
 * @text:	Content of the file, cut up while it is read; "" is the policy of all defaults
 * @name:	Name of the file, for errors
 * @ret:	Filled on success, untouched on failure; policy_done() releases it
 * @e:		Set on failure: "NAME:LINE: KEY: why"
 *
 * Return: 0 on success, -1 on failure
 */
int policy_parse(char *text, const char *name, struct policy *ret, struct err *e)
{
	cleanup_policy struct policy p = { .match = POLICY_MATCH_ANNOTATION,
					   .agent_id = AGENT_ID_DEFAULT,
					   .session_may = POLICY_SESSION_ALL,
					   .nested_sandbox = true };

	if (directives_read(text, name, keys, N_ELEMENTS(keys), &p, e) < 0)
		return -1;
	if (fill_defaults(&p, e) < 0)
		return err_wrap(e, "%s", name);

	*ret = p;
	p = (struct policy){ 0 };
	return 0;
}

/**
 * policy_add() - Add to a key that may be given more than once, as one more line would
 * @p:		Policy; half changed on failure: drop it
 * @key:	The key
 * @value:	Its value
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int policy_add(struct policy *p, const char *key, const char *value, struct err *e)
{
	for (size_t i = 0; i < N_ELEMENTS(keys); i++)
		if (!keys[i].single && strcmp(key, keys[i].key) == 0)
			return keys[i].set((char *)p + keys[i].offset, value, e);
	return err_set(e, EINVAL, "nothing can be added to %s", key);
}

/**
 * policy_done() - Release what a policy owns; it is empty afterwards
 * @p:		Policy
 */
void policy_done(struct policy *p)
{
	strlist_clear(&p->agents);
	strlist_clear(&p->allow_mount);
	strlist_clear(&p->allow_write);
	strlist_clear(&p->allow_device);
	strlist_clear(&p->protect);
	strlist_clear(&p->mask);
	strlist_clear(&p->home_read);
	strlist_clear(&p->pass_env);
	for (size_t i = 0; i < p->n_forge; i++)
		free(p->forge[i].host);
	free(p->forge);
	free(p->workspace_root);
	free(p->state_root);
	free(p->agent_uid.v);
	free(p->local_port.v);
	free(p->callback_port.v);
	free(p->allow_ip);
	free(p->deny_ip);
	*p = (struct policy){ 0 };
}
