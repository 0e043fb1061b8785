/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_JOB_H
#define SHIM_JOB_H

#include <stdbool.h>

struct err;

/* What supervisor and first process tell each other of the agent */
enum job_kind {
	JOB_SIGNAL,       /* to the agent: send it a signal */
	JOB_SIGNAL_GROUP, /* to the agent and what is in its process group */
	JOB_CONTINUE,     /* to the group: go on, in the foreground or in the background */
	JOB_STOPPED,      /* from the first process: the agent was stopped, by a signal */
};

/**
 * struct job_message - a thing that they tell each other
 * @kind:	What
 * @sig:	Which signal; not for JOB_CONTINUE
 * @foreground:	JOB_CONTINUE: the terminal is the agent's
 */
struct job_message {
	enum job_kind kind;
	int sig;
	bool foreground;
};

int job_send(int sock, const struct job_message *m, struct err *e);
int job_receive(int sock, struct job_message *ret, struct err *e);

#endif
