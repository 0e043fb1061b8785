/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What was counted in the network of a container
 *
 * A child enters the network, since one that has entered does not always come back, and tells what
 * it reads through a pipe.  It runs nothing of the container, and looks at none of its files.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "containers.h"
#include "io.h"

#define ELEMENTS_MAX 100000 /* above what counters_read() returns */

/**
 * struct answer - what the child says first
 * @failed:	It has nothing to say but @e
 * @e:		Why
 * @n_rules:	Rules that follow
 * @n_refusals:	Refusals that follow those
 * @full:	As struct counters has it
 */
struct answer {
	bool failed;
	struct err e;
	size_t n_rules;
	size_t n_refusals;
	bool full;
};

/* ---- the child ---- */

/* An ordinary user has power over his own containers' networks in their user namespace alone. */
static int enter(int net, struct err *e)
{
	cleanup_fd int user = -1;

	if (setns(net, CLONE_NEWNET) == 0)
		return 0;
	if (errno != EPERM)
		return err_set(e, errno, "enter its network");
	user = ioctl(net, NS_GET_USERNS);
	if (user < 0 || setns(user, CLONE_NEWUSER) < 0 || setns(net, CLONE_NEWNET) < 0)
		return err_set(e, errno, "enter its network (it takes root, or who started it)");
	return 0;
}

static int count(const struct container *c, struct counters *ret, struct err *e)
{
	cleanup_fd int net = openat(c->proc, "ns/net", O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (c->run.manifest.network == MANIFEST_NETWORK_PASTA)
		return err_set(e, 0,
			       "it is on the host's network, which has no rules: each launch has "
			       "its own, as long as it runs");
	if (net < 0 || fstat(net, &st) < 0)
		return err_set(e, errno, "open its network");
	if (st.st_ino != c->run.manifest.net_ns)
		return err_set(e, 0, "its process %d is in another network than the container's",
			       (int)c->pid);
	return enter(net, e) < 0 ? -1 : counters_read(ret, e);
}

static _Noreturn void run_child(const struct container *c, int to)
{
	struct counters counters = { 0 };
	struct answer a = { 0 };
	struct err e;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || count(c, &counters, &a.e) < 0)
		a.failed = true;
	a.n_rules = counters.n_rules;
	a.n_refusals = counters.n_refusals;
	a.full = counters.full;
	if (write_all(to, (const char *)&a, sizeof(a), &e) < 0 ||
	    write_all(to, (const char *)counters.rules, a.n_rules * sizeof(*counters.rules), &e) <
		    0 ||
	    write_all(to, (const char *)counters.refusals,
		      a.n_refusals * sizeof(*counters.refusals), &e) < 0)
		_exit(EXIT_FAILURE);
	_exit(EXIT_SUCCESS);
}

/* ---- the parent ---- */

static bool read_all(int from, void *to, size_t n)
{
	for (char *p = to; n > 0;) {
		ssize_t got = read(from, p, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		p += got;
		n -= (size_t)got;
	}
	return true;
}

static int read_answer(int from, struct counters *ret, struct err *e)
{
	cleanup_counters struct counters c = { 0 };
	struct answer a;

	if (!read_all(from, &a, sizeof(a)) || a.n_rules > ELEMENTS_MAX ||
	    a.n_refusals > ELEMENTS_MAX)
		return err_set(e, 0, "the process that was to read it said nothing");
	if (a.failed) {
		*e = a.e;
		return -1;
	}
	c.rules = calloc(a.n_rules + 1, sizeof(*c.rules));
	c.refusals = calloc(a.n_refusals + 1, sizeof(*c.refusals));
	if (c.rules == NULL || c.refusals == NULL)
		return err_set(e, ENOMEM, "allocate counters");
	if (!read_all(from, c.rules, a.n_rules * sizeof(*c.rules)) ||
	    !read_all(from, c.refusals, a.n_refusals * sizeof(*c.refusals)))
		return err_set(e, 0, "the process that was to read it ended early");
	c.n_rules = a.n_rules;
	c.n_refusals = a.n_refusals;
	c.full = a.full;
	*ret = c;
	c = (struct counters){ 0 };
	return 0;
}

static int ask_child(const struct container *c, struct counters *ret, struct err *e)
{
	cleanup_fd int from = -1, to = -1;
	int ends[2], failed;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set(e, errno, "make a pipe");
	from = ends[0];
	to = ends[1];
	pid = fork();
	if (pid < 0)
		return err_set(e, errno, "start a process");
	if (pid == 0)
		run_child(c, to);
	(void)close(steal_fd(&to));
	failed = read_answer(from, ret, e);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return failed;
}

/**
 * containers_count() - Read what was counted for a container
 * @c:		Container; its counters are filled, or it is said why they can't be
 */
void containers_count(struct container *c)
{
	(void)ask_child(c, &c->counters, &c->unread);
	err_make_printable(&c->unread);
}
