/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Reading what a launch is made from
 *
 * Policy, manifest and profile come from the hook's folder, which must be the hook's: a
 * read-only tmpfs, as the hook mounts it.  The rest comes from the container and the
 * environment, and can only choose where, not what.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "agent.h"
#include "arguments.h"
#include "devices.h"
#include "directives.h"
#include "environment.h"
#include "err.h"
#include "git.h"
#include "idmap.h"
#include "io.h"
#include "launch.h"
#include "launch_read.h"
#include "path.h"
#include "plan_ops.h"
#include "routes.h"
#include "session_options.h"
#include "standalone.h"
#include "store.h"
#include "workspace.h"
#include "writable.h"

#define RESOLV_CONF "/etc/resolv.conf"

/* 127.64.0.0/10: room for every process ID, PID_MAX_LIMIT */
#define DNS_NETWORK 0x7f400000U
#define DNS_HOST_BITS 0x003fffffU

#define NAMES_MAX_BYTES (1024 * 1024)
#define ROUTES_MAX_BYTES (64 * 1024 * 1024)

static uint64_t namespace_inode(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_ino : 0;
}

/* An image can bring a folder of that name; only the hook can have mounted this one. */
static int check_run_dir(struct err *e)
{
	struct statfs fs;

	if (statfs(RUN_DIR, &fs) < 0)
		return err_set(e, errno, RUN_DIR);
	if (fs.f_type != TMPFS_MAGIC || (fs.f_flags & ST_RDONLY) == 0)
		return err_set(e, 0,
			       "%s is not the folder that oci-sandbox-hook mounts: no agent is "
			       "run with a policy of unknown origin",
			       RUN_DIR);
	return 0;
}

static int read_manifest(struct launch *l, struct err *e)
{
	cleanup_free char *text = read_path(RUN_MANIFEST, MANIFEST_MAX_BYTES, e);

	if (text == NULL)
		return -1;
	return manifest_parse(text, RUN_MANIFEST, &l->manifest, e);
}

static int read_policy(struct launch *l, struct err *e)
{
	cleanup_free char *text = read_path(RUN_POLICY, DIRECTIVES_MAX_BYTES, e);

	if (text == NULL)
		return -1;
	return policy_parse(text, RUN_POLICY, &l->policy, e);
}

static int read_hooks_profile(const char *name, struct profile *ret, struct err *e)
{
	cleanup_free char *path = NULL, *text = NULL;

	if (asprintf(&path, "%s/%s.conf", RUN_PROFILES, name) < 0) {
		path = NULL;
		return err_set(e, ENOMEM, "allocate a path");
	}
	text = read_path(path, DIRECTIVES_MAX_BYTES, e);
	return text == NULL ? -1 : profile_parse(text, path, name, ret, e);
}

static int read_hooks_profiles(struct launch *l, struct err *e)
{
	l->profiles.v = calloc(l->policy.agents.n + 1, sizeof(*l->profiles.v));
	if (l->profiles.v == NULL)
		return err_set(e, ENOMEM, "allocate the profiles");
	for (; l->profiles.n < l->policy.agents.n; l->profiles.n++)
		if (read_hooks_profile(l->policy.agents.v[l->profiles.n],
				       &l->profiles.v[l->profiles.n].profile, e) < 0)
			return -1;
	return 0;
}

/* What the hook said of the container, or what there is without it. */
static int read_container(struct launch *l, struct err *e)
{
	struct err why;

	if (check_run_dir(&why) < 0) {
		if (why.code == ENOENT)
			return standalone_read(l, e);
		*e = why;
		return -1;
	}
	l->hooked = true;
	if (read_manifest(l, e) < 0 || read_policy(l, e) < 0)
		return -1;
	return read_hooks_profiles(l, e);
}

static int refuse_command(const struct launch *l, struct err *e)
{
	char known[256] = "";

	for (size_t i = 0; i < l->profiles.n; i++) {
		const struct strlist *commands = &l->profiles.v[i].profile.commands;

		for (size_t k = 0; k < commands->n; k++) {
			size_t n = strlen(known);

			(void)snprintf(known + n, sizeof(known) - n, " %s", commands->v[k]);
		}
	}
	return err_set(e, 0, "no agent is called `%.60s` here; the policy has:%s", l->command,
		       known[0] != '\0' ? known : " none");
}

/* The profile that has this command. */
static int choose_profile(struct launch *l, struct err *e)
{
	for (size_t i = 0; i < l->profiles.n; i++) {
		struct profile *p = &l->profiles.v[i].profile;

		if (strlist_has(&p->commands, l->command)) {
			l->profile = *p;
			*p = (struct profile){ 0 };
			return 0;
		}
	}
	return refuse_command(l, e);
}

/* Field @n of a line of passwd(5), owned by the caller. */
static char *passwd_field(const char *line, unsigned n)
{
	for (; n > 0; n--) {
		line += strcspn(line, ":\n");
		line += *line == ':';
	}
	return strndup(line, strcspn(line, ":\n"));
}

static int read_user(struct launch *l, const char *passwd, struct err *e)
{
	const char *line = passwd;

	while (*line != '\0') {
		cleanup_free char *uid = passwd_field(line, 2);
		char *end;

		if (uid != NULL && uid[0] != '\0' && strtoul(uid, &end, 10) == l->uid &&
		    *end == '\0')
			break;
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	l->user = *line != '\0' ? passwd_field(line, 0) : strdup("");
	l->shell = *line != '\0' ? passwd_field(line, 6) : strdup("");
	if (l->user == NULL || l->shell == NULL)
		return err_set(e, ENOMEM, "allocate a name");
	if (*line != '\0') {
		cleanup_free char *home = passwd_field(line, 5);

		l->passwd_home = home == NULL ? NULL : realpath(home, NULL);
		if (l->passwd_home != NULL && strcmp(l->passwd_home, "/") == 0) {
			free(l->passwd_home);
			l->passwd_home = NULL;
		}
	}
	return 0;
}

/* Names for the swapped ids, if the container has such files at all. */
static int read_names(struct launch *l, struct err *e)
{
	cleanup_free char *passwd = read_path("/etc/passwd", NAMES_MAX_BYTES, e);
	cleanup_free char *group = read_path("/etc/group", NAMES_MAX_BYTES, e);

	if (read_user(l, passwd != NULL ? passwd : "", e) < 0)
		return -1;
	if (l->uid != 0)
		return 0;
	if (passwd != NULL) {
		l->passwd = idmap_swap_names(passwd, l->policy.agent_id, e);
		if (l->passwd == NULL)
			return -1;
	}
	if (group != NULL) {
		l->group = idmap_swap_names(group, l->policy.agent_id, e);
		if (l->group == NULL)
			return -1;
	}
	return 0;
}

/* $HOME as everything else in the container takes it, and the one of passwd without it. */
static int find_home(struct launch *l, const char *home, struct err *e)
{
	if (home == NULL || home[0] == '\0')
		home = l->passwd_home;
	if (home == NULL || home[0] != '/')
		return err_set(e, 0,
			       "HOME is not set to an absolute path, and /etc/passwd has no home "
			       "for uid %u",
			       l->uid);
	l->home = realpath(home, NULL);
	if (l->home == NULL)
		return err_set(e, errno, "home %s", home);
	if (strcmp(l->home, "/") == 0)
		return err_set(e, 0,
			       "HOME is /: an agent's home is replaced by an empty one, and that "
			       "can't be the whole container; set HOME to a folder");
	return 0;
}

/* Of what a policy names, a person may take a part. */
static int check_narrower(const struct launch *l, const char *asked, const char *named,
			  struct err *e)
{
	cleanup_free char *most = realpath(named, NULL);

	if (most == NULL)
		return err_set(e, errno, "workspace %s", named);
	if (path_is_at_or_below(l->workspace, most))
		return 0;
	return err_set(e, 0,
		       "--workspace %s: it is not in %s, which is the most that the policy gives "
		       "(workspace-root)",
		       asked, most);
}

/* By its own word a launch begins in the workspace, wherever it was asked for. */
static int ask_for_workspace(struct launch *l, const char *asked, struct err *e)
{
	const char *named = l->policy.workspace_root;
	struct stat st;

	if (l->workspace == NULL || stat(l->workspace, &st) < 0)
		return err_set(e, errno, "--workspace %s", asked);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ENOTDIR, "--workspace %s", asked);
	if (named != NULL && check_narrower(l, asked, named, e) < 0)
		return -1;
	if (path_is_at_or_below(l->cwd, l->workspace))
		return 0;
	free(l->cwd);
	l->cwd = strdup(l->workspace);
	return l->cwd != NULL ? 0 : err_set(e, ENOMEM, "allocate a path");
}

static int find_workspace(struct launch *l, const char *asked, struct err *e)
{
	const char *named = asked != NULL ? asked : l->policy.workspace_root;

	l->cwd = realpath(".", NULL);
	if (l->cwd == NULL)
		return err_set(e, errno, "current folder");
	l->workspace = realpath(named != NULL ? named : l->cwd, NULL);
	if (asked != NULL && ask_for_workspace(l, asked, e) < 0)
		return -1;
	if (l->workspace == NULL)
		return err_set(e, errno, "workspace %s", named != NULL ? named : l->cwd);
	if (workspace_check(l->workspace, l->home, l->policy.workspace_root != NULL, e) < 0)
		return -1;
	if (!path_is_at_or_below(l->cwd, l->workspace))
		return err_set(e, 0,
			       "the current folder %s is not in the workspace %s: go there first",
			       l->cwd, l->workspace);
	return 0;
}

/* Resolved as far as it exists already, so that no agent is found in it. */
static int find_state(struct launch *l, struct err *e)
{
	l->state = store_root_path(l->policy.state_root, l->home, e);
	return l->state != NULL ? 0 : -1;
}

/*
 * A variable can take the network away, and nothing else: a file of the workspace may have set it.
 */
static int narrow_network(struct launch *l, const char *egress, struct err *e)
{
	if (egress == NULL || egress[0] == '\0')
		return 0;
	if (strcmp(egress, "none") != 0)
		return err_set(
			e, 0,
			"OCI_SANDBOX_EGRESS is `%.60s`: it can only be none, which takes the "
			"network away (the policy's `egress` is where it is given)",
			egress);
	l->manifest.network = MANIFEST_NETWORK_NONE;
	return 0;
}

/* The same for the forges' logins: any value but 0 or no takes them away. */
static void narrow_forges(struct launch *l, bool asked, const char *no_forge)
{
	if (asked)
		l->policy.no_forge = true;
	if (no_forge != NULL && no_forge[0] != '\0' && strcmp(no_forge, "0") != 0 &&
	    strcmp(no_forge, "no") != 0)
		l->policy.no_forge = true;
}

/* pasta(1) connects an agent to what the container itself is connected to. */
static void narrow_to_routes(struct launch *l)
{
	struct err ignored;
	cleanup_free char *ipv4 = NULL, *ipv6 = NULL;

	if (l->manifest.network != MANIFEST_NETWORK_PASTA)
		return;
	if (l->policy.egress != POLICY_EGRESS_NONE) {
		ipv4 = read_path("/proc/net/route", ROUTES_MAX_BYTES, &ignored);
		ipv6 = read_path("/proc/net/ipv6_route", ROUTES_MAX_BYTES, &ignored);
		if (routes_lead_out(ipv4, ipv6))
			return;
		l->no_route = true;
	}
	l->manifest.network = MANIFEST_NETWORK_NONE;
}

/* The relay asks from the container's network, so what it asks there must be no agent's to choose.
 */
static bool is_agents_to_write(const struct launch *l, const char *path)
{
	return launch_agent_writes(l, path) || path_is_at_or_below(path, l->home);
}

/* Whom the relay asks; where it is, is different for each launch of a container. */
static int read_resolv(struct launch *l, struct err *e)
{
	cleanup_free char *text = NULL;
	struct in_addr address;
	char buf[INET_ADDRSTRLEN];

	l->resolv_path = realpath(RESOLV_CONF, NULL);
	if (l->resolv_path != NULL) {
		if (is_agents_to_write(l, l->resolv_path))
			return err_set(e, 0,
				       RESOLV_CONF " leads to %s, which agents could have written",
				       l->resolv_path);
		text = read_path(l->resolv_path, NAMES_MAX_BYTES, e);
		if (text == NULL)
			return -1;
	}
	if (resolv_parse(text != NULL ? text : "", &l->resolv, e) < 0)
		return -1;
	l->dns_address = DNS_NETWORK | ((uint32_t)getpid() & DNS_HOST_BITS);
	address.s_addr = htonl(l->dns_address);
	if (asprintf(&l->resolv_conf, "nameserver %s\n%s",
		     inet_ntop(AF_INET, &address, buf, sizeof(buf)), l->resolv.others) < 0) {
		l->resolv_conf = NULL;
		return err_set(e, ENOMEM, "allocate resolv.conf");
	}
	return 0;
}

/**
 * launch_read() - Gather all that a launch is made from
 * @a:		What was asked for; for print_plan no process is started
 * @vars:	The developer's environment
 * @nested:	Inside a sandbox already: workspace and state are not asked for
 * @ret:	Filled on success, untouched on failure; launch_done() releases it
 * @e:		Set on failure; its code is ENOENT if there is no real agent
 *
 * Return: 0 on success, -1 on failure
 */
int launch_read(const struct arguments *a, char *const vars[], bool nested, struct launch *ret,
		struct err *e)
{
	cleanup_launch struct launch l = { .uid = geteuid(), .gid = getegid() };

	l.command = strdup(a->agent);
	if (l.command == NULL)
		return err_set(e, ENOMEM, "allocate a name");
	if (read_container(&l, e) < 0 || choose_profile(&l, e) < 0 || read_names(&l, e) < 0 ||
	    find_home(&l, environment_get(vars, "HOME"), e) < 0 ||
	    narrow_network(&l, environment_get(vars, "OCI_SANDBOX_EGRESS"), e) < 0 ||
	    (!nested && session_apply(a, &l, e) < 0))
		goto fail;
	narrow_to_routes(&l);
	narrow_forges(&l, a->no_forge, environment_get(vars, "OCI_SANDBOX_NO_FORGE"));
	if (!nested && (find_workspace(&l, a->workspace, e) < 0 || find_state(&l, e) < 0 ||
			git_read(&l, !a->print_plan, e) < 0 || writable_read(&l, e) < 0 ||
			devices_read(&l, e) < 0 || read_resolv(&l, e) < 0))
		goto fail;
	l.agent = agent_find(&l, environment_get(vars, "PATH"), e);
	if (l.agent == NULL)
		return -1;
	l.agent_at = agent_place(&l, e);
	if (l.agent_at == NULL)
		goto fail;

	*ret = l;
	l = (struct launch){ 0 };
	return 0;
fail:
	e->code = 0;
	return -1;
}

/**
 * launch_is_nested() - Say whether this process is in a sandbox of this container already
 *
 * From kernel facts only: another user namespace than the container's, no_new_privs, and a
 * mount of the sandbox's own with the session's facts.
 *
 * Return: true if it is; false if not, or if it can't be told
 */
bool launch_is_nested(void)
{
	struct launch l = { 0 };
	struct err e = { 0 };
	struct stat run, session;
	bool nested;

	if (check_run_dir(&e) < 0 || read_manifest(&l, &e) < 0)
		return false;
	nested = namespace_inode("/proc/self/ns/user") != l.manifest.user_ns &&
		 prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 && stat(RUN_DIR, &run) == 0 &&
		 stat(SESSION_FACTS, &session) == 0 && run.st_dev != session.st_dev;
	launch_done(&l);
	return nested;
}

/**
 * launch_is_in_container() - Say whether this process is in the container the hook prepared
 * @l:		The launch
 * @e:		Set if it isn't
 *
 * Return: 0 if it is, -1 if not
 */
int launch_is_in_container(const struct launch *l, struct err *e)
{
	if (namespace_inode("/proc/self/ns/user") == l->manifest.user_ns)
		return 0;
	return err_set(e, 0,
		       "this shell is in a user namespace of its own: launch agents from the "
		       "container itself");
}
