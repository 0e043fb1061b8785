/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: A ruleset for people
 */
#include "config.h"

#include <stdio.h>

#include "ruleset.h"

static void print_rule(FILE *f, const struct ruleset *r, const struct ruleset_rule *rule)
{
	static const char *const verdicts[] = {
		[RULESET_ACCEPT] = "accept",
		[RULESET_REFUSE] = "refuse",
		[RULESET_DROP] = "drop",
		[RULESET_MASQUERADE] = "masquerade",
	};
	char buf[IP_RANGE_STRLEN];
	const struct ip_set *set;

	if (rule->set == RULESET_NO_SET) {
		(void)fprintf(f, "%s %s\n", verdicts[rule->verdict], rule->name);
		return;
	}
	set = &r->sets[rule->set].ip;
	for (size_t k = 0; k < set->n; k++)
		(void)fprintf(f, "%s %s: %s\n", verdicts[rule->verdict], rule->name,
			      ip_range_format(set->family, &set->v[k], buf));
}

static void print_chain(FILE *f, const struct ruleset *r, enum ruleset_chain chain)
{
	for (size_t i = 0; i < r->n_rules; i++) {
		const struct ruleset_rule *rule = &r->rules[i];

		if (rule->chain == chain && rule->verdict == RULESET_JUMP)
			print_chain(f, r, rule->target);
		else if (rule->chain == chain)
			print_rule(f, r, rule);
	}
}

/* What is about agents alone: they ask the same destinations. */
static void print_agents(FILE *f, const struct ruleset *r)
{
	for (size_t i = 0; i < r->n_rules; i++) {
		const struct ruleset_rule *rule = &r->rules[i];

		if (rule->verdict == RULESET_MASQUERADE || rule->to_agent ||
		    (rule->from_agent && rule->verdict == RULESET_REFUSE))
			print_rule(f, r, rule);
	}
}

/**
 * ruleset_print() - Write a ruleset for people
 * @f:		Where to; borrowed
 * @r:		Ruleset
 *
 * One line for each rule, or for each range of the set that a rule asks.  First what is about
 * agents' links alone; then, in the order in which the kernel asks, what the container itself
 * sends, or agents where only they are confined.  The first line that fits a packet decides.
 *
 * Return: 0 on success, -1 if @f has an error
 */
int ruleset_print(FILE *f, const struct ruleset *r)
{
	print_agents(f, r);
	print_chain(f, r,
		    ruleset_rule(r, RULESET_OUTPUT, 0) != NULL ? RULESET_OUTPUT
							       : RULESET_DESTINATIONS);
	return ferror(f) != 0 ? -1 : 0;
}
