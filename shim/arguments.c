/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The command line of `oci-sandbox run`
 *
 * Options come before the agent's name; all that follows it is the agent's.  What of them
 * gives an agent more than a launch by its name does is checked against the policy:
 * session_apply().
 */
#include "config.h"

#include <string.h>

#include "arguments.h"
#include "cleanup.h"
#include "err.h"

/* How much of a word an error quotes */
#define QUOTED "%.60s"

/**
 * struct option - where an option goes
 * @name:	As it is written
 * @flag:	Set by it; NULL: it has a value
 * @value:	Set to what follows it
 * @list:	Gets what follows it; the option may be repeated
 */
struct option {
	const char *name;
	bool *flag;
	const char **value;
	struct strlist *list;
};

/* Returns the last word that belongs to the option, NULL on failure. */
static char **take_option(char **arg, const struct option *o, struct err *e)
{
	const char *what = strchr(*arg, '=');

	if (o->list == NULL && (o->flag != NULL ? *o->flag : *o->value != NULL)) {
		(void)err_set(e, 0, "%s is given twice", o->name);
		return NULL;
	}
	if (o->flag != NULL) {
		*o->flag = true;
		return arg;
	}
	what = what != NULL ? what + 1 : *++arg;
	if (what == NULL || *what == '\0') {
		(void)err_set(e, 0, "%s needs a value", o->name);
		return NULL;
	}
	if (o->list != NULL)
		return strlist_add(o->list, what, e) < 0 ? NULL : arg;
	*o->value = what;
	return arg;
}

static bool is_option(const char *arg, const struct option *o)
{
	size_t n = strlen(o->name);

	return strncmp(arg, o->name, n) == 0 &&
	       (arg[n] == '\0' || (arg[n] == '=' && o->flag == NULL));
}

/* Returns the last word that belongs to the option, NULL on failure. */
static char **parse_option(char **arg, struct arguments *a, struct err *e)
{
	const struct option options[] = {
		{ "--print-plan", &a->print_plan, NULL, NULL },
		{ "--json", &a->json, NULL, NULL },
		{ "--no-forge", &a->no_forge, NULL, NULL },
		{ "--workspace", NULL, &a->workspace, NULL },
		{ "--egress", NULL, &a->egress, NULL },
		{ "--local-port", NULL, NULL, &a->local_port },
		{ "--callback-port", NULL, NULL, &a->callback_port },
		{ "--pass-env", NULL, NULL, &a->pass_env },
	};

	for (size_t i = 0; i < N_ELEMENTS(options); i++)
		if (is_option(*arg, &options[i]))
			return take_option(arg, &options[i], e);
	(void)err_set(e, 0, "unknown option `" QUOTED "` (the agent's own options follow its name)",
		      *arg);
	return NULL;
}

/**
 * arguments_parse_run() - Understand what follows `oci-sandbox run`
 * @argv:	Words, NULL at the end
 * @ret:	Filled on success, untouched on failure; arguments_done() releases it
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int arguments_parse_run(char **argv, struct arguments *ret, struct err *e)
{
	cleanup_arguments struct arguments a = { 0 };
	char **arg = argv;

	for (; *arg != NULL && (*arg)[0] == '-'; arg++) {
		if (strcmp(*arg, "--") == 0) {
			arg++;
			break;
		}
		arg = parse_option(arg, &a, e);
		if (arg == NULL)
			return -1;
	}
	if (*arg == NULL || (*arg)[0] == '\0')
		return err_set(e, 0, "which agent? its name is missing");
	if (a.json && !a.print_plan)
		return err_set(e, 0, "--json is for --print-plan");
	a.agent = *arg;
	a.argv = arg;
	*ret = a;
	a = (struct arguments){ 0 };
	return 0;
}

/**
 * arguments_done() - Release what arguments own; they are empty afterwards
 * @a:		Arguments
 */
void arguments_done(struct arguments *a)
{
	strlist_clear(&a->local_port);
	strlist_clear(&a->callback_port);
	strlist_clear(&a->pass_env);
	*a = (struct arguments){ 0 };
}
