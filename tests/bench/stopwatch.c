/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DOC: how long commands take, side by side
 *
 * stopwatch RUNS COMMAND [ARG...] [-- COMMAND [ARG...]]...
 *	Runs the commands in turn, RUNS times, so that what disturbs the machine disturbs all
 *	alike. Prints a line for each: median and fastest run, in microseconds, and the most
 *	memory that one had, in KiB.
 * stopwatch --log FILE COMMAND [ARG...]
 *	Runs it once with its own stdin, appends microseconds and KiB to FILE, and exits as it
 *	did: to stand between a runtime and a hook.
 *
 * A command that fails ends the measurement: the time of a failure is no result.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_COMMANDS 8
#define MAX_RUNS 10000

extern char **environ;

static int64_t now_us(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Microseconds, or -1; *ret_status as waitpid() has it; *ret_kib is raised if it was more. */
static int64_t run_once(char **argv, const posix_spawn_file_actions_t *files, int *ret_status,
			long *ret_kib)
{
	int64_t start = now_us();
	struct rusage usage;
	pid_t pid;
	int r = posix_spawnp(&pid, argv[0], files, NULL, argv, environ);

	if (r != 0) {
		fprintf(stderr, "stopwatch: %s: %s\n", argv[0], strerror(r));
		return -1;
	}
	while (wait4(pid, ret_status, 0, &usage) < 0)
		if (errno != EINTR)
			return -1;
	if (usage.ru_maxrss > *ret_kib)
		*ret_kib = usage.ru_maxrss;
	return now_us() - start;
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Split at "--"; the number of commands, or -1. */
static int split(char **argv, char **ret_commands[MAX_COMMANDS])
{
	int n = 0;

	for (; *argv; argv++) {
		if (n == MAX_COMMANDS)
			return -1;
		ret_commands[n++] = argv;
		while (*argv && strcmp(*argv, "--") != 0)
			argv++;
		if (!*argv)
			break;
		*argv = NULL;
	}
	return n;
}

static int measure(char **commands[MAX_COMMANDS], int n, int runs)
{
	static int64_t times[MAX_COMMANDS][MAX_RUNS];
	posix_spawn_file_actions_t files;
	long kib[MAX_COMMANDS] = { 0 };
	int status;

	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	(void)posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	for (int run = 0; run < runs; run++) {
		for (int i = 0; i < n; i++) {
			times[i][run] = run_once(commands[i], &files, &status, &kib[i]);
			if (times[i][run] < 0)
				return 1;
			if (status != 0) {
				fprintf(stderr, "stopwatch: %s: wait status 0x%x\n", commands[i][0],
					(unsigned)status);
				return 1;
			}
		}
	}
	for (int i = 0; i < n; i++) {
		qsort(times[i], (size_t)runs, sizeof(times[i][0]), compare);
		printf("%lld %lld %ld\n", (long long)times[i][runs / 2], (long long)times[i][0],
		       kib[i]);
	}
	return 0;
}

static int log_one(const char *path, char **argv)
{
	int status;
	long kib = 0;
	int64_t time = run_once(argv, NULL, &status, &kib);
	FILE *f = time < 0 ? NULL : fopen(path, "ae");

	if (!f) {
		perror(path);
		return 1;
	}
	fprintf(f, "%lld %ld\n", (long long)time, kib);
	if (fclose(f) != 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	char **commands[MAX_COMMANDS];
	int runs, n;

	if (argc > 3 && !strcmp(argv[1], "--log"))
		return log_one(argv[2], argv + 3);
	runs = argc > 2 ? atoi(argv[1]) : 0;
	n = argc > 2 ? split(argv + 2, commands) : -1;
	if (runs < 1 || runs > MAX_RUNS || n < 1) {
		fprintf(stderr, "usage: stopwatch RUNS COMMAND [ARG...] [-- COMMAND...]...\n"
				"       stopwatch --log FILE COMMAND [ARG...]\n");
		return 2;
	}
	return measure(commands, n, runs);
}
