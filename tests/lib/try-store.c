/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DOC: an agent's store, without a sandbox
 *
 * try-store enter|import|force|reset STATE HOME PROFILE: as a launch and `oci-sandbox state` do it;
 *	what was imported and what was not, one a line
 * try-store killed N VERB STATE HOME PROFILE: the same, but killed before the Nth system call that
 *	can change a file; exit 3 if there are fewer
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "io.h"
#include "profile.h"
#include "store.h"

#define MAX_BYTES (1024 * 1024)
#define ENDED_BEFORE 3

static int act(const char *verb, const struct store_of *of, struct store_news *news, struct err *e)
{
	cleanup_fd int store = -1;

	if (strcmp(verb, "enter") == 0) {
		store = store_enter(of, news, e);
		return store < 0 ? -1 : 0;
	}
	if (strcmp(verb, "import") == 0 || strcmp(verb, "force") == 0)
		return store_import_again(of, verb[0] == 'f', news, e);
	if (strcmp(verb, "reset") == 0)
		return store_reset(of, e);
	return err_set(e, 0, "unknown: %s", verb);
}

static int try_store(char **argv)
{
	cleanup_store_news struct store_news news = { 0 };
	cleanup_profile struct profile profile = { 0 };
	struct err e = { 0 };
	cleanup_free char *text = read_path(argv[3], MAX_BYTES, &e);
	int failed = text == NULL || profile_parse(text, argv[3], "claude", &profile, &e) < 0;

	failed = failed || act(argv[0],
			       &(struct store_of){ .root = argv[1],
						   .home = argv[2],
						   .profile = &profile,
						   .uid = geteuid() },
			       &news, &e) < 0;
	for (size_t i = 0; i < news.imported.n; i++)
		(void)printf("imported %s\n", news.imported.v[i]);
	for (size_t i = 0; i < news.left_out.n; i++)
		(void)printf("left out %s\n", news.left_out.v[i]);
	if (failed)
		(void)fprintf(stderr, "try-store: %s\n", e.msg);
	return failed ? 1 : 0;
}

/* Does it make a file, by openat(2) or openat2(2)? */
static int creates(pid_t child, const struct __ptrace_syscall_info *call)
{
	uint64_t flags = call->entry.args[2];

	if (call->entry.nr == SYS_openat2)
		flags = (uint64_t)ptrace(PTRACE_PEEKDATA, child, (void *)flags, NULL);
	return (flags & O_CREAT) != 0;
}

/* Kills between others than these leave the same behind. */
static int changes(pid_t child, const struct __ptrace_syscall_info *call)
{
	static const long writers[] = { SYS_mkdirat, SYS_unlinkat, SYS_renameat, SYS_renameat2,
					SYS_write,   SYS_fchmod,   SYS_fchmodat };

	if (call->entry.nr == SYS_openat || call->entry.nr == SYS_openat2)
		return creates(child, call);
	for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
		if (call->entry.nr == (uint64_t)writers[i])
			return 1;
	return 0;
}

static int killed(unsigned long n, char **argv)
{
	struct __ptrace_syscall_info call;
	pid_t child = fork();
	int status;

	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0 || raise(SIGSTOP) != 0)
			_exit(2);
		_exit(try_store(argv));
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) < 0)
		return 2;
	while (ptrace(PTRACE_SYSCALL, child, NULL, NULL) == 0 &&
	       waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
		if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(call), &call) <= 0)
			return 2;
		if (call.op == PTRACE_SYSCALL_INFO_ENTRY && changes(child, &call) && --n == 0)
			return kill(child, SIGKILL) == 0 && waitpid(child, &status, 0) == child &&
					       WIFSIGNALED(status)
				       ? 0
				       : 2;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? ENDED_BEFORE : 2;
}

int main(int argc, char **argv)
{
	if (argc == 5)
		return try_store(argv + 1);
	if (argc == 7 && strcmp(argv[1], "killed") == 0)
		return killed(strtoul(argv[2], NULL, 10), argv + 3);
	(void)fprintf(stderr, "usage: try-store [killed N] enter|import|force|reset STATE HOME "
			      "PROFILE\n");
	return 2;
}
