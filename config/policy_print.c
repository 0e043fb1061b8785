/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: A policy as text, which is read by the shim and by people
 */
#include "config.h"

#include <stdio.h>

#include "ip.h"
#include "policy.h"
#include "session.h"

static void print_each(FILE *f, const char *key, const struct strlist *l)
{
	for (size_t i = 0; i < l->n; i++)
		(void)fprintf(f, "%s = %s\n", key, l->v[i]);
}

static void print_words(FILE *f, const char *key, const struct strlist *l)
{
	if (l->n == 0)
		return;
	(void)fprintf(f, "%s =", key);
	for (size_t i = 0; i < l->n; i++)
		(void)fprintf(f, " %s", l->v[i]);
	(void)fputc('\n', f);
}

static void print_numbers(FILE *f, const char *key, const struct policy_numbers *l)
{
	if (l->n == 0)
		return;
	(void)fprintf(f, "%s =", key);
	for (size_t i = 0; i < l->n; i++)
		(void)fprintf(f, " %u", l->v[i]);
	(void)fputc('\n', f);
}

static void print_network(FILE *f, const struct policy *p)
{
	char buf[IP_PREFIX_STRLEN];

	(void)fprintf(f, "egress = %s\negress-scope = %s\nallow-connected = %s\n",
		      policy_egress_name(p->egress), policy_scope_name(p->egress_scope),
		      p->allow_connected ? "yes" : "no");
	if (p->agent_subnet.family != 0)
		(void)fprintf(f, "agent-subnet = %s\n", ip_prefix_format(&p->agent_subnet, buf));
	print_numbers(f, "agent-uid", &p->agent_uid);
	print_numbers(f, "local-port", &p->local_port);
	if (p->local_model_port == POLICY_NO_PORT)
		(void)fputs("local-model-port = none\n", f);
	else if (p->local_model_port != 0)
		(void)fprintf(f, "local-model-port = %u\n", p->local_model_port);
	print_numbers(f, "callback-port", &p->callback_port);
}

static void print_destinations(FILE *f, const char *key, const struct ip_destination *v, size_t n)
{
	char buf[IP_DESTINATION_STRLEN];

	for (size_t i = 0; i < n; i++)
		(void)fprintf(f, "%s = %s\n", key, ip_destination_format(&v[i], buf));
}

/**
 * policy_print() - Write a policy in the form that policy_parse() reads, defaults and all
 * @f:		Where to
 * @p:		Policy
 *
 * Return: 0 on success, -1 if @f has an error
 */
int policy_print(FILE *f, const struct policy *p)
{
	(void)fprintf(f, "match = %s\n", policy_match_name(p->match));
	if (p->selectable)
		(void)fputs("selectable = yes\n", f);
	if (p->require_hook)
		(void)fputs("require-hook = yes\n", f);
	print_words(f, "agents", &p->agents);
	if (p->workspace_root != NULL)
		(void)fprintf(f, "workspace-root = %s\n", p->workspace_root);
	print_each(f, "allow-mount", &p->allow_mount);
	print_each(f, "allow-write", &p->allow_write);
	if (p->share_write)
		(void)fputs("share-write = yes\n", f);
	print_each(f, "allow-device", &p->allow_device);
	if (p->gpu)
		(void)fputs("gpu = yes\n", f);
	print_words(f, "protect", &p->protect);
	print_each(f, "mask", &p->mask);
	print_words(f, "home-read", &p->home_read);
	print_words(f, "pass-env", &p->pass_env);
	for (size_t i = 0; i < p->n_forge; i++)
		(void)fprintf(f, "forge-host = %s %s\n", p->forge[i].host,
			      policy_forge_tool_name(p->forge[i].tool));
	if (p->no_forge)
		(void)fputs("no-forge\n", f);
	print_network(f, p);
	print_destinations(f, "allow-ip", p->allow_ip, p->n_allow_ip);
	print_destinations(f, "deny-ip", p->deny_ip, p->n_deny_ip);
	(void)fprintf(f, "agent-id = %u\n", p->agent_id);
	session_may_print(f, p->session_may);
	if (!p->nested_sandbox)
		(void)fputs("nested-sandbox = no\n", f);
	if (p->state_root != NULL)
		(void)fprintf(f, "state-root = %s\n", p->state_root);
	return ferror(f) ? -1 : 0;
}
