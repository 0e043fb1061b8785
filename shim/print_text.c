/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: A launch as --print-plan writes it, for people
 *
 * In the order in which it happens.  Nothing of the container or of the workspace reaches the
 * terminal as it is.
 */
#include "config.h"

#include <string.h>

#include "confinement.h"
#include "environment.h"
#include "launch.h"
#include "prepared.h"
#include "printable.h"

#define INDENT "    "

static void put_key(FILE *f, const char *key)
{
	(void)fprintf(f, INDENT "%-12s ", key);
}

static void put_line(FILE *f, const char *key, const char *text)
{
	put_key(f, key);
	printable_put(f, text);
	(void)fputc('\n', f);
}

static void put_list(FILE *f, const char *key, const struct strlist *l)
{
	for (size_t i = 0; i < l->n; i++)
		put_line(f, key, l->v[i]);
}

static void put_names(FILE *f, const char *key, const struct confinements *c)
{
	put_key(f, key);
	for (size_t i = 0; i < c->n; i++)
		(void)fprintf(f, "%s%s", i == 0 ? "" : ", ", c->v[i].name);
	(void)fputc('\n', f);
}

static void put_ports(FILE *f, const char *key, const struct policy_numbers *ports,
		      const char *whose, const char *other)
{
	for (size_t i = 0; i < ports->n; i++) {
		put_key(f, key);
		(void)fprintf(f, "127.0.0.1:%u of the %s leads to that of the %s\n", ports->v[i],
			      whose, other);
	}
}

static void print_launch(FILE *f, const struct launch *l)
{
	(void)fputs("launch:\n", f);
	put_line(f, "agent", l->command);
	put_line(f, "profile", l->profile.name);
	put_key(f, "policy");
	if (l->hooked && l->manifest.policy == NULL)
		(void)fputs("the host's", f);
	else
		printable_put(f,
			      l->hooked ? l->manifest.policy : CONTAINER_CONFIG_DIR "/policy.conf");
	(void)fputs(l->hooked ? " (of the host)\n"
			      : " (of the image: no hook prepared this container)\n",
		    f);
	put_line(f, "user", l->user[0] != '\0' ? l->user : "without a name");
	put_key(f, "ids");
	(void)fprintf(f, "uid %u, gid %u; in the sandbox uid %u, gid %u\n", l->uid, l->gid,
		      launch_id_inside(l, l->uid), launch_id_inside(l, l->gid));
	put_line(f, "home", l->home);
	put_line(f, "workspace", l->workspace);
	if (l->git_common != NULL)
		put_line(f, "repository", l->git_common);
	put_line(f, "begins in", l->cwd);
}

static void print_first(FILE *f, const struct prepared *p)
{
	const bool asks = p->launch->asks_git;

	if (!asks && p->to_make.n == 0 && p->to_import.n == 0 && p->obstacles.n == 0)
		return;
	(void)fputs("\nfirst:\n", f);
	if (asks)
		put_line(f, "asks git",
			 p->launch->signing != NULL
				 ? "for your name and e-mail address"
				 : "for your name and e-mail address; and says so if you sign "
				   "what you commit");
	put_list(f, "makes", &p->to_make);
	put_list(f, "imports", &p->to_import);
	put_list(f, "would fail", &p->obstacles);
}

static void print_messages(FILE *f, const struct prepared *p)
{
	if (p->messages.n == 0)
		return;
	(void)fputs("\nmessages:\n", f);
	put_list(f, "says", &p->messages);
}

static void print_namespaces(FILE *f, const struct launch *l)
{
	const struct confinements made = confinement_namespaces(l);

	(void)fputs("\nnamespaces:\n", f);
	if (l->manifest.network == MANIFEST_NETWORK_NAMESPACE) {
		put_key(f, "joins");
		(void)fprintf(f, RUN_NS "/%u/user, " RUN_NS "/%u/net\n", l->uid, l->uid);
	}
	if (l->manifest.network == MANIFEST_NETWORK_PASTA)
		put_line(f, "makes", "user, net: for the network alone");
	put_names(f, "makes", &made);
}

static void print_resolvers(FILE *f, const struct launch *l)
{
	for (size_t i = 0; i < l->resolv.n; i++) {
		char address[RESOLV_ADDRESS_MAX];

		resolv_print_address(&l->resolv.resolvers[i], address);
		put_key(f, "names");
		(void)fprintf(f, "a relay on the agent's loopback asks %s\n", address);
	}
}

static void print_network(FILE *f, const struct launch *l)
{
	static const char *const kinds[] = {
		[MANIFEST_NETWORK_NONE] = "none: a loopback of its own, and nothing else",
		[MANIFEST_NETWORK_NAMESPACE] = "namespace: this user's, with the rules of the hook",
		[MANIFEST_NETWORK_PASTA] =
			"pasta: this launch's, with rules of its own, connected by pasta(1)",
	};
	const bool connected = l->manifest.network != MANIFEST_NETWORK_NONE;
	const uint32_t model = launch_model_port(l);

	(void)fputs("\nnetwork:\n", f);
	put_line(f, "network", kinds[l->manifest.network]);
	put_key(f, "egress");
	(void)fprintf(f, "%s", connected ? policy_egress_name(l->policy.egress) : "none");
	if (connected && (l->policy.n_allow_ip > 0 || l->policy.n_deny_ip > 0))
		(void)fprintf(f, ", %zu allow-ip, %zu deny-ip", l->policy.n_allow_ip,
			      l->policy.n_deny_ip);
	(void)fputc('\n', f);
	if (connected)
		print_resolvers(f, l);
	if (model != 0 && !policy_numbers_have(&l->policy.local_port, model)) {
		const struct policy_numbers one = { (uint32_t[]){ model }, 1 };

		put_ports(f, "local-model", &one, "agent", "container");
	}
	put_ports(f, "local-port", &l->policy.local_port, "agent", "container");
	put_ports(f, "callback", &l->policy.callback_port, "container", "agent");
}

static void print_privileges(FILE *f, const struct launch *l)
{
	(void)fputs("\nprivileges:\n", f);
	if (l->uid == 0)
		put_line(f, "groups", "dropped, but for the first");
	put_line(f, "capabilities",
		 "none: permitted, effective, inheritable, ambient and bounding "
		 "sets are empty");
	put_names(f, "securebits", &confinement_securebits);
	put_line(f, "no_new_privs", "set");
	put_names(f, "refused", &confinement_refused_calls);
	put_names(f, "refused", &confinement_refused_ioctls);
	put_names(f, "sockets", &confinement_sockets);
	if (!l->policy.nested_sandbox)
		put_names(f, "no nesting", &confinement_refused_nesting);
}

static void print_environment(FILE *f, const struct prepared *p)
{
	(void)fputs("\nenvironment:\n", f);
	for (size_t i = 0; i < p->env.n; i++) {
		cleanup_free char *name = strndup(p->env.v[i], strcspn(p->env.v[i], "="));

		(void)fputs(INDENT, f);
		if (name == NULL || environment_is_secret(p->launch, name)) {
			printable_put(f, name != NULL ? name : "a variable");
			(void)fputs(" as it is outside", f);
		} else {
			printable_put(f, p->env.v[i]);
		}
		(void)fputc('\n', f);
	}
}

static void print_command(FILE *f, const struct launch *l, char *const argv[])
{
	put_line(f, "runs", l->agent_at);
	for (size_t i = 0; argv[i] != NULL; i++)
		put_line(f, i == 0 ? "as" : "argument", argv[i]);
}

/**
 * prepared_print() - Write a launch for people
 * @f:		Where to; the caller looks for its errors
 * @p:		The launch
 */
void prepared_print(FILE *f, const struct prepared *p)
{
	print_launch(f, p->launch);
	print_first(f, p);
	print_messages(f, p);
	print_namespaces(f, p->launch);
	print_network(f, p->launch);
	(void)fputs("\nmounts:\n", f);
	plan_print(f, INDENT, &p->mounts);
	print_privileges(f, p->launch);
	print_environment(f, p);
	(void)fputs("\ncommand:\n", f);
	print_command(f, p->launch, p->argv);
	if (p->missing.n == 0)
		return;
	(void)fputs("\nafterwards:\n", f);
	put_list(f, "says if new", &p->missing);
}

/**
 * nested_print() - Write a launch in a sandbox for people
 * @f:		Where to; the caller looks for its errors
 * @l:		The launch
 * @argv:	The agent's arguments, NULL at the end
 */
void nested_print(FILE *f, const struct launch *l, char *const argv[])
{
	(void)fputs("This is a sandbox already, so nothing is wrapped twice: the agent has what\n"
		    "this process has.\n\ncommand:\n",
		    f);
	print_command(f, l, argv);
}
