/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What supervisor and first process tell each other of the agent
 *
 * The agent is a job of the first process, which leads the session in the sandbox; the supervisor
 * is a job of the developer's shell.  What happens to one of the two has to happen to the other.
 */
#include "config.h"

#include "err.h"
#include "fds.h"
#include "job.h"

/**
 * job_send() - Tell the other
 * @sock:	Socket to it
 * @m:		What
 * @e:		Set on failure, also if the other is gone
 *
 * Return: 0 on success, -1 on failure
 */
int job_send(int sock, const struct job_message *m, struct err *e)
{
	return fds_send(sock, m, sizeof(*m), NULL, 0, e);
}

/**
 * job_receive() - Hear what the other tells
 * @sock:	Socket to it, on which there is something
 * @ret:	Filled on success
 * @e:		Set on failure, also if the other is gone
 *
 * Return: 0 on success, -1 on failure
 */
int job_receive(int sock, struct job_message *ret, struct err *e)
{
	size_t n;
	int none;

	return fds_receive(sock, ret, sizeof(*ret), &none, 0, &n, e);
}
