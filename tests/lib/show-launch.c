/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DOC: what the shim's pure functions make of a launch, for tests
 *
 * show-launch plan POLICY PROFILE MANIFEST [KEY=VALUE...]: the mounts, one a line
 * show-launch launch|json POLICY PROFILE MANIFEST [KEY=VALUE...]: all of it, as --print-plan does
 * show-launch run [ARG...]: what the command line of `oci-sandbox run` asks for
 * show-launch env POLICY PROFILE MANIFEST [KEY=VALUE...]: the environment made of this process's
 * show-launch workspace PATH HOME: exit 0 if it may be one
 * show-launch idmap AGENT_ID: the map for the parent's map on stdin
 * show-launch names AGENT_ID: passwd or group on stdin, as the sandbox sees it
 * show-launch policy POLICY: as the hook writes it into a container
 * show-launch resolv: whom the relay asks by the resolv.conf on stdin, and its other lines
 * show-launch gitconfig NAME EMAIL: the session's git configuration; NO_FORGE, SIGNS_WITH, LFS as
 *				     its input
 * show-launch mountinfo: the mount points of the mountinfo on stdin
 * show-launch settings: exit 0 if the settings on stdin may be given to an agent
 * show-launch routes IPV4 IPV6: exit 0 if these, as /proc/net has them, have a default route
 *
 * Keys: hooked (0: without the hook), asks-git, nameservers (a resolv.conf), left-out, git-common,
 * git-dir, uid (and gid), user, home, passwd-home, cwd, workspace, state, agent, agent-at, signing,
 * resolv-path, resolv-conf, share, share-store, and, once for each, option (--NAME=VALUE of
 * `oci-sandbox run`), skill, writable, device and shared (the last three as REAL[,NAMED]).
 */
#include "config.h"

#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "err.h"
#include "gitconfig.h"
#include "idmap.h"
#include "io.h"
#include "launch.h"
#include "mountinfo.h"
#include "plan.h"
#include "prepared.h"
#include "resolv.h"
#include "routes.h"
#include "session_options.h"
#include "settings.h"
#include "workspace.h"

#define MAX_BYTES (1024 * 1024)

static int add_place(struct places *l, char *value, struct err *e)
{
	char *comma = strchr(value, ',');

	if (comma != NULL)
		*comma++ = '\0';
	return places_add(l, value, comma != NULL ? comma : value, e);
}

static int add_option(struct launch *l, char *option, struct err *e)
{
	char name[] = "claude";
	char *argv[] = { option, name, NULL };
	cleanup_arguments struct arguments a = { 0 };

	return arguments_parse_run(argv, &a, e) < 0 ? -1 : session_apply(&a, l, e);
}

static int set(struct launch *l, char *assignment, struct err *e)
{
	const struct {
		const char *key;
		char **member;
	} keys[] = {
		{ "user=", &l->user },
		{ "home=", &l->home },
		{ "passwd-home=", &l->passwd_home },
		{ "cwd=", &l->cwd },
		{ "workspace=", &l->workspace },
		{ "state=", &l->state },
		{ "agent=", &l->agent },
		{ "agent-at=", &l->agent_at },
		{ "passwd=", &l->passwd },
		{ "git-common=", &l->git_common },
		{ "git-dir=", &l->git_dir },
		{ "signing=", &l->signing },
		{ "share=", &l->share },
		{ "share-store=", &l->share_store },
		{ "resolv-path=", &l->resolv_path },
		{ "resolv-conf=", &l->resolv_conf },
	};

	if (strncmp(assignment, "uid=", 4) == 0) {
		l->uid = (uid_t)strtoul(assignment + 4, NULL, 10);
		l->gid = (gid_t)l->uid;
		return 0;
	}
	if (strncmp(assignment, "option=", 7) == 0)
		return add_option(l, assignment + 7, e);
	if (strncmp(assignment, "skill=", 6) == 0)
		return strlist_add(&l->skills, assignment + 6, e);
	if (strncmp(assignment, "nameservers=", 12) == 0)
		return resolv_parse(assignment + 12, &l->resolv, e);
	if (strncmp(assignment, "left-out=", 9) == 0)
		return strlist_add(&l->left_out, assignment + 9, e);
	if (strncmp(assignment, "writable=", 9) == 0)
		return add_place(&l->writable, assignment + 9, e);
	if (strncmp(assignment, "device=", 7) == 0)
		return add_place(&l->devices, assignment + 7, e);
	if (strncmp(assignment, "shared=", 7) == 0)
		return add_place(&l->shared, assignment + 7, e);
	if (strcmp(assignment, "asks-git") == 0) {
		l->asks_git = true;
		return 0;
	}
	if (strncmp(assignment, "hooked=", 7) == 0) {
		l->hooked = strcmp(assignment + 7, "0") != 0;
		return 0;
	}
	for (size_t i = 0; i < N_ELEMENTS(keys); i++) {
		size_t n = strlen(keys[i].key);

		if (strncmp(assignment, keys[i].key, n) == 0) {
			free(*keys[i].member);
			*keys[i].member = strdup(assignment + n);
			return 0;
		}
	}
	return err_set(e, 0, "unknown: %s", assignment);
}

static int fill(struct launch *l, char **argv, struct err *e)
{
	cleanup_free char *policy = read_path(argv[0], MAX_BYTES, e);
	cleanup_free char *profile = policy == NULL ? NULL : read_path(argv[1], MAX_BYTES, e);
	cleanup_free char *manifest = profile == NULL ? NULL : read_path(argv[2], MAX_BYTES, e);

	if (manifest == NULL || policy_parse(policy, "policy", &l->policy, e) < 0 ||
	    profile_parse(profile, "profile", "claude", &l->profile, e) < 0 ||
	    manifest_parse(manifest, "manifest", &l->manifest, e) < 0)
		return -1;
	l->hooked = true;
	l->command = strdup("claude");
	l->shell = strdup("/bin/sh");
	for (argv += 3; *argv != NULL; argv++)
		if (set(l, *argv, e) < 0)
			return -1;
	l->signs_with = l->signing != NULL ? "/usr/bin/ssh-keygen" : NULL;
	if (l->agent_at == NULL && l->agent != NULL)
		l->agent_at = strdup(l->agent);
	return 0;
}

static int show_launch(const char *what, char **argv, char **envp, struct err *e)
{
	char name[] = "claude", option[] = "--resume";
	char *const agent_argv[] = { name, option, NULL };
	cleanup_prepared struct prepared p = PREPARED_NONE;
	cleanup_launch struct launch l = { 0 };

	if (fill(&l, argv, e) < 0)
		return -1;
	p.launch = &l;
	p.argv = agent_argv;
	if (prepared_build(&p, envp, e) < 0 || strlist_add(&p.missing, ".idea", e) < 0 ||
	    strlist_add(&p.to_make, l.state, e) < 0 ||
	    strlist_add_fmt(&p.to_import, e, "%s/.claude.json", l.home) < 0)
		return -1;
	if (strcmp(what, "plan") == 0)
		plan_print(stdout, "", &p.mounts);
	else if (strcmp(what, "launch") == 0)
		prepared_print(stdout, &p);
	else if (strcmp(what, "json") == 0)
		return prepared_print_json(stdout, &p, e);
	else
		for (size_t i = 0; i < p.env.n; i++)
			(void)puts(p.env.v[i]);
	return 0;
}

static int show_arguments(char **argv, struct err *e)
{
	cleanup_arguments struct arguments a = { 0 };

	if (arguments_parse_run(argv, &a, e) < 0)
		return -1;
	(void)printf("%s%s%s%s%s", a.print_plan ? "print-plan " : "", a.json ? "json " : "",
		     a.no_forge ? "no-forge " : "", a.workspace != NULL ? "workspace=" : "",
		     a.workspace != NULL ? a.workspace : "");
	(void)printf("%s%s:", a.workspace != NULL ? " " : "", a.agent);
	for (char **arg = a.argv; *arg != NULL; arg++)
		(void)printf(" [%s]", *arg);
	(void)putchar('\n');
	return 0;
}

static int show_ids(const char *what, const char *agent_id, struct err *e)
{
	unsigned id = (unsigned)strtoul(agent_id, NULL, 10);
	cleanup_free char *text = read_fd(0, MAX_BYTES, e);
	cleanup_free char *made = NULL;

	if (text == NULL)
		return -1;
	made = strcmp(what, "idmap") == 0 ? idmap_swapped(text, id, e)
					  : idmap_swap_names(text, id, e);
	return made == NULL || fputs(made, stdout) < 0 ? -1 : 0;
}

static int show_gitconfig(const char *name, const char *email, struct err *e)
{
	cleanup_policy struct policy policy = { 0 };
	cleanup_free char *text = NULL;
	char policy_text[] = "forge-host = git.example.com glab\nforge-host = ghe.example.com gh";

	if (policy_parse(policy_text, "policy", &policy, e) < 0)
		return -1;
	policy.no_forge = getenv("NO_FORGE") != NULL;
	text = gitconfig_make(&(struct gitconfig_input){ name, email, "/workspace", &policy,
							 getenv("SIGNS_WITH"), "/key",
							 getenv("LFS") != NULL },
			      e);

	return text == NULL || fputs(text, stdout) < 0 ? -1 : 0;
}

static int show_policy(const char *path, struct err *e)
{
	cleanup_free char *text = read_path(path, MAX_BYTES, e);
	cleanup_policy struct policy p = { 0 };

	if (text == NULL || policy_parse(text, path, &p, e) < 0)
		return -1;
	return policy_print(stdout, &p);
}

static int show_resolv(struct err *e)
{
	cleanup_free char *text = read_fd(0, MAX_BYTES, e);
	CLEANUP(resolv_done) struct resolv r = { 0 };
	char host[INET6_ADDRSTRLEN + IF_NAMESIZE], port[8];

	if (text == NULL || resolv_parse(text, &r, e) < 0)
		return -1;
	for (size_t i = 0; i < r.n; i++) {
		if (getnameinfo((const void *)&r.resolvers[i], sizeof(r.resolvers[i]), host,
				sizeof(host), port, sizeof(port),
				NI_NUMERICHOST | NI_NUMERICSERV) != 0)
			return err_set(e, 0, "a resolver that is no address");
		(void)printf("ask %s port %s\n", host, port);
	}
	return fputs(r.others, stdout) < 0 ? -1 : 0;
}

static int show_mountinfo(struct err *e)
{
	cleanup_free char *text = read_fd(0, MAX_BYTES, e);
	cleanup_strlist struct strlist points = { 0 };

	if (text == NULL || mountinfo_points(text, &points, e) < 0)
		return -1;
	for (size_t i = 0; i < points.n; i++)
		(void)puts(points.v[i]);
	return 0;
}

static int show_settings(struct err *e)
{
	cleanup_free char *text = read_fd(0, MAX_BYTES, e);
	const char *why;
	char word[64];

	if (text == NULL)
		return -1;
	why = settings_refusal(text, word, sizeof(word));
	return why == NULL ? 0 : err_set(e, 0, "%s %s", why, word);
}

static int show_routes(const char *ipv4, const char *ipv6, struct err *e)
{
	if (routes_lead_out(ipv4, ipv6))
		return 0;
	return err_set(e, 0, "no default route");
}

int main(int argc, char **argv, char **envp)
{
	struct err e = { 0 };
	int rc = -1;

	if (argc >= 2 && strcmp(argv[1], "run") == 0)
		rc = show_arguments(argv + 2, &e);
	else if (argc >= 5 && (strcmp(argv[1], "plan") == 0 || strcmp(argv[1], "env") == 0 ||
			       strcmp(argv[1], "launch") == 0 || strcmp(argv[1], "json") == 0))
		rc = show_launch(argv[1], argv + 2, envp, &e);
	else if (argc == 4 && strcmp(argv[1], "workspace") == 0)
		rc = workspace_check(argv[2], argv[3], 0, &e);
	else if (argc == 4 && strcmp(argv[1], "gitconfig") == 0)
		rc = show_gitconfig(argv[2], argv[3], &e);
	else if (argc == 4 && strcmp(argv[1], "routes") == 0)
		rc = show_routes(argv[2], argv[3], &e);
	else if (argc == 2 && strcmp(argv[1], "mountinfo") == 0)
		rc = show_mountinfo(&e);
	else if (argc == 2 && strcmp(argv[1], "settings") == 0)
		rc = show_settings(&e);
	else if (argc == 3 && strcmp(argv[1], "policy") == 0)
		rc = show_policy(argv[2], &e);
	else if (argc == 2 && strcmp(argv[1], "resolv") == 0)
		rc = show_resolv(&e);
	else if (argc == 3)
		rc = show_ids(argv[1], argv[2], &e);
	if (rc < 0)
		(void)fprintf(stderr, "show-launch: %s\n", e.msg);
	return rc < 0 ? 1 : 0;
}
