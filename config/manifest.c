/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The manifest: what the hook tells the shim about the container
 *
 * The same line format as the policy.  Paths come from config.json and may hold anything but
 * NUL, so what the format can't hold is written as \ooo, as mountinfo in proc(5) does.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "capabilities.h"
#include "directives.h"
#include "err.h"
#include "manifest.h"
#include "path.h"

static bool is_plain(unsigned char c)
{
	return c > 0x20 && c != 0x7f && c != '\\' && c != '#' && c != '=';
}

static void print_escaped(FILE *f, const char *s)
{
	for (; *s != '\0'; s++) {
		unsigned char c = (unsigned char)*s;

		if (is_plain(c))
			(void)fputc(c, f);
		else
			(void)fprintf(f, "\\%03o", c);
	}
}

static void print_text(FILE *f, const char *key, const char *text)
{
	if (text == NULL)
		return;
	(void)fprintf(f, "%s = ", key);
	print_escaped(f, text);
	(void)fputc('\n', f);
}

static int set_inode(void *member, const char *value, struct err *e)
{
	char *end;

	errno = 0;
	*(uint64_t *)member = strtoull(value, &end, 10);
	if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0)
		return err_set(e, 0, "`%.60s` is not an inode number", value);
	return 0;
}

static int set_text(void *member, const char *value, struct err *e)
{
	char *text = path_unescape(value, strlen(value), e);

	if (text == NULL)
		return -1;
	*(char **)member = text;
	return 0;
}

static int add_mount(void *member, const char *value, struct err *e)
{
	cleanup_free char *path = path_unescape(value, strlen(value), e);

	if (path == NULL)
		return -1;
	if (path[0] != '/')
		return err_set(e, 0, "`%.60s` is not an absolute path", path);
	return strlist_add(member, path, e);
}

static int add_capability(void *member, const char *value, struct err *e)
{
	if (capability_find(value) == NULL)
		return err_set(e, 0, "`%.60s` is not known", value);
	return strlist_add(member, value, e);
}

/* A word of a line, which is moved behind it. */
static char *next_path(const char **line, struct err *e)
{
	size_t n = strcspn(*line, " ");
	cleanup_free char *path = path_unescape(*line, n, e);

	if (path == NULL)
		return NULL;
	if (path[0] != '/') {
		(void)err_set(e, 0, "`%.60s` is not an absolute path", path);
		return NULL;
	}
	*line += n + ((*line)[n] == ' ');
	return steal_ptr(&path);
}

/* @member is the whole manifest: the list and its length are two members of it. */
static int add_agent(void *member, const char *value, struct err *e)
{
	size_t n = strcspn(value, " ");
	cleanup_free char *command = strndup(value, n);
	cleanup_free char *path = NULL, *origin = NULL;
	const char *rest = value + n + (value[n] == ' ');

	if (command == NULL)
		return err_set(e, ENOMEM, "allocate a string");
	if (*rest == '\0')
		return err_set(e, 0, "`%.60s` is not COMMAND PATH [ORIGIN]", value);
	path = next_path(&rest, e);
	if (path == NULL)
		return -1;
	if (*rest != '\0') {
		origin = next_path(&rest, e);
		if (origin == NULL)
			return -1;
		if (*rest != '\0')
			return err_set(e, 0, "`%.60s` is not COMMAND PATH [ORIGIN]", value);
	}
	return manifest_add_agent(member, command, path, origin, e);
}

static const char *const networks[] = {
	[MANIFEST_NETWORK_NONE] = "none",
	[MANIFEST_NETWORK_NAMESPACE] = "namespace",
	[MANIFEST_NETWORK_PASTA] = "pasta",
};

static int set_network(void *member, const char *value, struct err *e)
{
	enum manifest_network *network = member;

	for (size_t i = 0; i < N_ELEMENTS(networks); i++)
		if (strcmp(value, networks[i]) == 0) {
			*network = (enum manifest_network)i;
			return 0;
		}
	return err_set(e, 0, "`%.60s` is neither none, namespace nor pasta", value);
}

/* @member is the whole manifest */
static int add_user(void *member, const char *value, struct err *e)
{
	uint32_t uid, gid;
	char end;

	if (sscanf(value, "%" SCNu32 " %" SCNu32 "%c", &uid, &gid, &end) != 2)
		return err_set(e, 0, "`%.60s` is not UID GID", value);
	return manifest_add_user(member, uid, gid, e);
}

/* clang-format off */
static const struct directive keys[] = {
	{ "id",      set_text,  offsetof(struct manifest, id),      true, false },
	{ "policy",  set_text,  offsetof(struct manifest, policy),  true, false },
	{ "user-ns", set_inode, offsetof(struct manifest, user_ns), true, false },
	{ "mnt-ns",  set_inode, offsetof(struct manifest, mnt_ns),  true, false },
	{ "pid-ns",  set_inode, offsetof(struct manifest, pid_ns),  true, false },
	{ "net-ns",  set_inode, offsetof(struct manifest, net_ns),  true, false },
	{ "mount",   add_mount, offsetof(struct manifest, mounts),  false, false },
	{ "capability", add_capability, offsetof(struct manifest, capabilities), false, false },
	{ "network", set_network, offsetof(struct manifest, network), true, false },
	{ "agent-user", add_user, 0,				    false, false },
	{ "agent",   add_agent, 0,				    false, false },
};
/* clang-format on */

/**
 * manifest_parse() - Read a manifest
 * @text:	Its content, cut up while it is read
 * @name:	Name of the file, for errors
 * @ret:	Filled on success, untouched on failure; manifest_done() releases it
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int manifest_parse(char *text, const char *name, struct manifest *ret, struct err *e)
{
	cleanup_manifest struct manifest m = { 0 };

	if (directives_read(text, name, keys, N_ELEMENTS(keys), &m, e) < 0)
		return -1;
	if (m.user_ns == 0 || m.mnt_ns == 0 || m.pid_ns == 0 || m.net_ns == 0)
		return err_set(e, 0, "%s: a namespace of the container is missing", name);

	*ret = m;
	m = (struct manifest){ 0 };
	return 0;
}

/**
 * manifest_print() - Write a manifest in the form that manifest_parse() reads
 * @f:		Where to
 * @m:		Manifest
 *
 * Return: 0 on success, -1 if @f has an error
 */
int manifest_print(FILE *f, const struct manifest *m)
{
	(void)fprintf(f,
		      "user-ns = %" PRIu64 "\nmnt-ns = %" PRIu64 "\npid-ns = %" PRIu64
		      "\nnet-ns = %" PRIu64 "\n",
		      m->user_ns, m->mnt_ns, m->pid_ns, m->net_ns);
	print_text(f, "id", m->id);
	print_text(f, "policy", m->policy);
	(void)fprintf(f, "network = %s\n", networks[m->network]);
	for (size_t i = 0; i < m->n_users; i++)
		(void)fprintf(f, "agent-user = %u %u\n", m->users[i].uid, m->users[i].gid);
	for (size_t i = 0; i < m->n_agents; i++) {
		(void)fprintf(f, "agent = %s ", m->agents[i].command);
		print_escaped(f, m->agents[i].path);
		if (m->agents[i].origin != NULL) {
			(void)fputc(' ', f);
			print_escaped(f, m->agents[i].origin);
		}
		(void)fputc('\n', f);
	}
	for (size_t i = 0; i < m->mounts.n; i++) {
		(void)fputs("mount = ", f);
		print_escaped(f, m->mounts.v[i]);
		(void)fputc('\n', f);
	}
	for (size_t i = 0; i < m->capabilities.n; i++)
		(void)fprintf(f, "capability = %s\n", m->capabilities.v[i]);
	return ferror(f) ? -1 : 0;
}

/**
 * manifest_network_name() - What a manifest calls a network
 * @network:	Network
 *
 * Return: a static string
 */
const char *manifest_network_name(enum manifest_network network)
{
	return networks[network];
}

/**
 * manifest_add_agent() - Note an agent that was covered
 * @m:		Manifest
 * @command:	Name that it is launched by; copied
 * @path:	Where the real one is; copied
 * @origin:	Where it was, copied; NULL: there
 * @e:		Set on failure
 *
 * Return: 0, or -1 with the manifest as it was
 */
int manifest_add_agent(struct manifest *m, const char *command, const char *path,
		       const char *origin, struct err *e)
{
	cleanup_free char *c = strdup(command);
	cleanup_free char *p = strdup(path);
	cleanup_free char *o = origin != NULL ? strdup(origin) : NULL;
	struct manifest_agent *v = reallocarray(m->agents, m->n_agents + 1, sizeof(*v));

	if (v != NULL)
		m->agents = v;
	if (c == NULL || p == NULL || v == NULL || (origin != NULL && o == NULL))
		return err_set(e, ENOMEM, "allocate an agent");
	m->agents[m->n_agents++] = (struct manifest_agent){ .command = steal_ptr(&c),
							    .path = steal_ptr(&p),
							    .origin = steal_ptr(&o) };
	return 0;
}

/**
 * manifest_add_user() - Note a user whose agents have namespaces
 * @m:		Manifest
 * @uid:	User
 * @gid:	His group
 * @e:		Set on failure
 *
 * Return: 0, or -1 with the manifest as it was
 */
int manifest_add_user(struct manifest *m, uid_t uid, gid_t gid, struct err *e)
{
	struct manifest_user *v = reallocarray(m->users, m->n_users + 1, sizeof(*v));

	if (v == NULL)
		return err_set(e, ENOMEM, "allocate a user");
	m->users = v;
	v[m->n_users++] = (struct manifest_user){ .uid = uid, .gid = gid };
	return 0;
}

/**
 * manifest_user() - Find a user whose agents have namespaces
 * @m:		Manifest
 * @uid:	User
 *
 * Return: the user, owned by @m; NULL if he is none of them
 */
const struct manifest_user *manifest_user(const struct manifest *m, uid_t uid)
{
	for (size_t i = 0; i < m->n_users; i++)
		if (m->users[i].uid == uid)
			return &m->users[i];
	return NULL;
}

/**
 * manifest_agent() - Find a covered agent
 * @m:		Manifest
 * @command:	Name that it is launched by
 *
 * Return: the agent, owned by @m; NULL if none was covered
 */
const struct manifest_agent *manifest_agent(const struct manifest *m, const char *command)
{
	for (size_t i = 0; i < m->n_agents; i++)
		if (strcmp(m->agents[i].command, command) == 0)
			return &m->agents[i];
	return NULL;
}

/**
 * manifest_done() - Release what a manifest owns; it is empty afterwards
 * @m:		Manifest
 */
void manifest_done(struct manifest *m)
{
	free(m->id);
	free(m->policy);
	strlist_clear(&m->mounts);
	strlist_clear(&m->capabilities);
	for (size_t i = 0; i < m->n_agents; i++) {
		free(m->agents[i].command);
		free(m->agents[i].path);
		free(m->agents[i].origin);
	}
	free(m->agents);
	free(m->users);
	*m = (struct manifest){ 0 };
}
