/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What a person may add to a policy for one session
 */
#include "config.h"

#include <string.h>

#include "err.h"
#include "policy.h"
#include "session.h"

static const struct {
	const char *word; /* also the policy's key, and the option's name */
	enum policy_session bit;
} all[] = {
	{ "local-port", POLICY_SESSION_LOCAL_PORT },
	{ "callback-port", POLICY_SESSION_CALLBACK_PORT },
	{ "pass-env", POLICY_SESSION_PASS_ENV },
};

static int add_word(unsigned *may, const char *word, struct err *e)
{
	for (size_t i = 0; i < N_ELEMENTS(all); i++) {
		if (strcmp(word, all[i].word) != 0)
			continue;
		if ((*may & all[i].bit) != 0)
			return err_set(e, 0, "`%s` is named twice", word);
		*may |= all[i].bit;
		return 0;
	}
	return err_set(e, 0, "`%.60s` is none of local-port, callback-port, pass-env, or none",
		       word);
}

/**
 * session_may_set() - Read the value of session-may
 * @member:	unsigned, set to bits of enum policy_session on success
 * @value:	Words, or "none" alone
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int session_may_set(void *member, const char *value, struct err *e)
{
	cleanup_strlist struct strlist words = { 0 };
	unsigned may = 0;

	if (strcmp(value, "none") != 0) {
		if (strlist_add_words(&words, value, e) < 0)
			return -1;
		for (size_t i = 0; i < words.n; i++)
			if (add_word(&may, words.v[i], e) < 0)
				return -1;
	}
	*(unsigned *)member = may;
	return 0;
}

/**
 * session_may_print() - Write session-may as session_may_set() reads it
 * @f:		Where to; the caller looks for its errors
 * @may:	Bits of enum policy_session
 */
void session_may_print(FILE *f, unsigned may)
{
	(void)fputs("session-may =", f);
	for (size_t i = 0; i < N_ELEMENTS(all); i++)
		if ((may & all[i].bit) != 0)
			(void)fprintf(f, " %s", all[i].word);
	(void)fputs(may == 0 ? " none\n" : "\n", f);
}

/**
 * session_add() - Add to a policy what a person asks for, if it lets him
 * @p:		Policy; half changed on failure: drop it
 * @what:	One of the bits
 * @value:	One port, or one name
 * @e:		Set on failure: "--OPTION: why"
 *
 * Return: 0 on success, -1 on failure
 */
int session_add(struct policy *p, enum policy_session what, const char *value, struct err *e)
{
	for (size_t i = 0; i < N_ELEMENTS(all); i++) {
		if (all[i].bit != what)
			continue;
		if ((p->session_may & what) == 0)
			return err_set(e, 0,
				       "--%s: the policy does not let a session add one (its "
				       "`session-may` lacks %s)",
				       all[i].word, all[i].word);
		if (strpbrk(value, " \t\n") != NULL)
			return err_set(e, 0, "--%s: `%.60s` is more than one (repeat the option)",
				       all[i].word, value);
		return policy_add(p, all[i].word, value, e) < 0 ? err_wrap(e, "--%s", all[i].word)
								: 0;
	}
	return err_set(e, 0, "nothing that a session may add");
}
