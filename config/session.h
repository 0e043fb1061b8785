/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_SESSION_H
#define CONFIG_SESSION_H

#include <stdio.h>

struct err;
struct policy;

/* What a person may add for one session (key "session-may"), bits */
enum policy_session {
	POLICY_SESSION_LOCAL_PORT = 1 << 0,
	POLICY_SESSION_CALLBACK_PORT = 1 << 1,
	POLICY_SESSION_PASS_ENV = 1 << 2,
	POLICY_SESSION_ALL = (1 << 3) - 1,
};

int session_may_set(void *member, const char *value, struct err *e);
void session_may_print(FILE *f, unsigned may);
int session_add(struct policy *p, enum policy_session what, const char *value, struct err *e);

#endif
