/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Containers and what was counted for them, for people and for programs
 */
#include "config.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include "containers.h"
#include "facts.h"
#include "json_out.h"
#include "report.h"

#define ID_SHORT 12

/* Room for [ADDRESS] PROTOCOL/PORT */
#define DESTINATION_STRLEN (INET6_ADDRSTRLEN + 24)
#define AGO_STRLEN 32

static bool is_counted(const struct container *c)
{
	return c->unread.msg[0] == '\0';
}

/* A rule that lets a packet out of the rules for nothing */
static bool refuses(const struct counter_rule *r)
{
	return r->verdict == RULESET_REFUSE || r->verdict == RULESET_DROP;
}

static uint64_t count_refused(const struct counters *c)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->n_rules; i++)
		if (refuses(&c->rules[i]))
			n += c->rules[i].packets;
	return n;
}

static const char *protocol_name(uint8_t protocol, char buf[8])
{
	static const struct {
		uint8_t protocol;
		const char *name;
	} names[] = {
		{ IPPROTO_TCP, "tcp" },       { IPPROTO_UDP, "udp" },   { IPPROTO_ICMP, "icmp" },
		{ IPPROTO_ICMPV6, "icmpv6" }, { IPPROTO_SCTP, "sctp" }, { IPPROTO_IGMP, "igmp" },
	};

	for (size_t i = 0; i < N_ELEMENTS(names); i++)
		if (names[i].protocol == protocol)
			return names[i].name;
	(void)snprintf(buf, 8, "%u", protocol);
	return buf;
}

static const char *destination(const struct counter_refusal *r, char buf[DESTINATION_STRLEN])
{
	char addr[INET6_ADDRSTRLEN] = "?", number[8];
	const char *protocol = protocol_name(r->protocol, number);

	(void)inet_ntop(r->family, r->addr, addr, sizeof(addr));
	if (r->port != 0)
		(void)snprintf(buf, DESTINATION_STRLEN, "%s %s/%u", addr, protocol, r->port);
	else
		(void)snprintf(buf, DESTINATION_STRLEN, "%s %s", addr, protocol);
	return buf;
}

static const char *ago(uint64_t seconds, char buf[AGO_STRLEN])
{
	if (seconds < 60)
		(void)snprintf(buf, AGO_STRLEN, "%" PRIu64 " s ago", seconds);
	else
		(void)snprintf(buf, AGO_STRLEN, "%" PRIu64 " min ago", seconds / 60);
	return buf;
}

/* ---- for people ---- */

static void print_line(const struct container *c, FILE *f)
{
	const char *id = c->run.manifest.id != NULL ? c->run.manifest.id : "?";
	char refused[24] = "?", where[DESTINATION_STRLEN] = "", when[AGO_STRLEN] = "", cut[64];

	(void)snprintf(cut, sizeof(cut), "%.*s", ID_SHORT, id);
	if (is_counted(c))
		(void)snprintf(refused, sizeof(refused), "%" PRIu64, count_refused(&c->counters));
	facts_print_text(f, cut);
	(void)fprintf(f, "%*s  %-7d  %-9s  %-9s  %7s  ", (int)(ID_SHORT - strlen(cut)), "",
		      (int)c->pid, facts_egress(&c->run), facts_scope(&c->run), refused);
	if (!is_counted(c))
		(void)fputs(c->unread.msg, f);
	else if (c->counters.n_refusals > 0)
		(void)fprintf(f, "%s, %s", destination(&c->counters.refusals[0], where),
			      ago(c->counters.refusals[0].seconds, when));
	else
		(void)fputc('-', f);
	(void)fputc('\n', f);
}

static void print_unknown(const struct containers *all, FILE *f)
{
	for (size_t i = 0; i < all->n_unknown; i++) {
		(void)fprintf(f, "%sprocess %d seems to be of a container under protection, but ",
			      i == 0 && all->n > 0 ? "\n" : "", (int)all->unknown[i].pid);
		facts_print_text(f, all->unknown[i].why);
		(void)fputc('\n', f);
	}
}

/**
 * report_print_list() - Write a line for each container
 * @all:	Containers, counted
 * @f:		Where to; the caller looks for its errors
 */
void report_print_list(const struct containers *all, FILE *f)
{
	if (all->n > 0)
		(void)fprintf(f, "%-12s  %-7s  %-9s  %-9s  %7s  %s\n", "CONTAINER", "PROCESS",
			      "EGRESS", "SCOPE", "REFUSED", "LAST REFUSAL");
	else if (all->n_unknown == 0)
		(void)fputs("no container is under protection\n", f);
	for (size_t i = 0; i < all->n; i++)
		print_line(&all->v[i], f);
	print_unknown(all, f);
}

/* The rules that come before, of both families, for one and the same thing */
static bool is_first(const struct counters *c, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(c->rules[k].name, c->rules[i].name) == 0 &&
		    strcmp(c->rules[k].chain, c->rules[i].chain) == 0)
			return false;
	return true;
}

static void print_rule(const struct counters *c, size_t i, FILE *f)
{
	const struct counter_rule *r = &c->rules[i];
	uint64_t packets = 0, bytes = 0;

	for (size_t k = i; k < c->n_rules; k++)
		if (strcmp(c->rules[k].name, r->name) == 0 &&
		    strcmp(c->rules[k].chain, r->chain) == 0) {
			packets += c->rules[k].packets;
			bytes += c->rules[k].bytes;
		}
	if (packets == 0)
		return;
	(void)fprintf(f, "%10" PRIu64 "  %12" PRIu64 "  %-10s  ", packets, bytes,
		      counters_verdict(r->verdict));
	facts_print_text(f, r->name);
	(void)fputs(" (", f);
	facts_print_text(f, r->chain);
	(void)fputs(")\n", f);
}

/* Those that only lead to others say nothing to people. */
static bool is_of_interest(const struct counter_rule *r)
{
	return r->verdict != RULESET_JUMP && r->verdict != RULESET_RECORD &&
	       r->verdict != RULESET_REJECT;
}

static void print_rules(const struct counters *c, FILE *f)
{
	(void)fputs("\nrules that packets have met\n", f);
	(void)fprintf(f, "%10s  %12s  %-10s  %s\n", "PACKETS", "BYTES", "VERDICT", "RULE");
	for (size_t i = 0; i < c->n_rules; i++)
		if (is_of_interest(&c->rules[i]) && is_first(c, i))
			print_rule(c, i, f);
}

static void print_refusals(const struct counters *c, FILE *f)
{
	char where[DESTINATION_STRLEN], when[AGO_STRLEN];

	(void)fputs("\nrefused within the last hour\n", f);
	if (c->n_refusals == 0) {
		(void)fputs("  nothing\n", f);
		return;
	}
	(void)fprintf(f, "%10s  %-12s  %s\n", "PACKETS", "LAST", "DESTINATION");
	for (size_t i = 0; i < c->n_refusals; i++)
		(void)fprintf(f, "%10" PRIu64 "  %-12s  %s\n", c->refusals[i].packets,
			      ago(c->refusals[i].seconds, when),
			      destination(&c->refusals[i], where));
	if (c->full)
		(void)fprintf(f,
			      "More destinations were refused than the kernel remembers at once "
			      "(%d of each family); the rules have counted them.\n",
			      RULESET_REFUSED_MAX);
}

/**
 * report_print_container() - Write what is known of a container
 * @c:		Container, counted
 * @f:		Where to; the caller looks for its errors
 */
void report_print_container(const struct container *c, FILE *f)
{
	facts_print(f, &c->run);
	facts_print_head(f, "process");
	(void)fprintf(f, "%d\n", (int)c->pid);
	if (!is_counted(c)) {
		(void)fprintf(f, "\nwhat was counted is not known: %s\n", c->unread.msg);
		return;
	}
	print_rules(&c->counters, f);
	print_refusals(&c->counters, f);
}

/* ---- for programs ---- */

static void add_number(struct json_out *o, const char *key, uint64_t value)
{
	json_out_key(o, key);
	json_out_integer(o, value > INT64_MAX ? INT64_MAX : (long long)value);
}

static void add_string(struct json_out *o, const char *key, const char *value)
{
	json_out_key(o, key);
	json_out_string(o, value);
}

static void add_rule(struct json_out *o, const struct counter_rule *r)
{
	json_out_open(o, '{');
	add_string(o, "chain", r->chain);
	add_string(o, "name", r->name);
	if (r->set[0] != '\0')
		add_string(o, "set", r->set);
	add_string(o, "verdict", counters_verdict(r->verdict));
	add_number(o, "packets", r->packets);
	add_number(o, "bytes", r->bytes);
	json_out_close(o, '}');
}

static void add_refusal(struct json_out *o, const struct counter_refusal *r)
{
	char addr[INET6_ADDRSTRLEN] = "", number[8];

	(void)inet_ntop(r->family, r->addr, addr, sizeof(addr));
	json_out_open(o, '{');
	add_string(o, "address", addr);
	add_string(o, "protocol", protocol_name(r->protocol, number));
	add_number(o, "port", r->port);
	add_number(o, "packets", r->packets);
	add_number(o, "bytes", r->bytes);
	add_number(o, "seconds_ago", r->seconds);
	json_out_close(o, '}');
}

static void add_counters(struct json_out *o, const struct counters *c)
{
	add_number(o, "refused", count_refused(c));
	json_out_key(o, "rules");
	json_out_open(o, '[');
	for (size_t i = 0; i < c->n_rules; i++)
		add_rule(o, &c->rules[i]);
	json_out_close(o, ']');
	json_out_key(o, "refusals");
	json_out_open(o, '[');
	for (size_t i = 0; i < c->n_refusals; i++)
		add_refusal(o, &c->refusals[i]);
	json_out_close(o, ']');
	json_out_key(o, "refusals_full");
	json_out_bool(o, c->full);
}

static void add_container(struct json_out *o, const struct container *c)
{
	json_out_open(o, '{');
	facts_add_json(o, &c->run);
	add_number(o, "pid", (uint64_t)c->pid);
	if (is_counted(c))
		add_counters(o, &c->counters);
	else
		add_string(o, "unread", c->unread.msg);
	json_out_close(o, '}');
}

static void add_unknown(struct json_out *o, const struct unknown *u)
{
	json_out_open(o, '{');
	add_number(o, "pid", (uint64_t)u->pid);
	add_string(o, "why", u->why);
	json_out_close(o, '}');
}

/**
 * report_print_json() - Write all of it for programs, as docs/status.schema.json has it
 * @all:	Containers, counted
 * @one:	The one of them that was asked for; NULL: all
 * @f:		Where to; the caller looks for its errors
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int report_print_json(const struct containers *all, const struct container *one, FILE *f,
		      struct err *e)
{
	cleanup_json_out struct json_out *o = json_out_new();

	json_out_open(o, '{');
	json_out_key(o, "version");
	json_out_integer(o, 1);
	add_string(o, "where", "host");
	json_out_key(o, "containers");
	json_out_open(o, '[');
	for (size_t i = 0; i < all->n; i++)
		if (one == NULL || one == &all->v[i])
			add_container(o, &all->v[i]);
	json_out_close(o, ']');
	if (one == NULL) {
		json_out_key(o, "unknown");
		json_out_open(o, '[');
		for (size_t i = 0; i < all->n_unknown; i++)
			add_unknown(o, &all->unknown[i]);
		json_out_close(o, ']');
	}
	json_out_close(o, '}');
	return json_out_print(o, f, e);
}
