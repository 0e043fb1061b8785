/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: A token from the developer, to be seen by nobody
 *
 * From the terminal without echo, or from a pipe.  It is in this process's memory and in pipes,
 * never in arguments, variables or messages.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "io.h"
#include "token.h"

static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP };
static volatile sig_atomic_t caught;

static void note_signal(int sig)
{
	caught = sig;
}

/* One line of a terminal, a whole pipe; a signal ends it. */
static int read_text(char buf[TOKEN_MAX_BYTES], bool line, struct err *e)
{
	size_t len = 0;

	while (len < TOKEN_MAX_BYTES - 1) {
		ssize_t n = read(STDIN_FILENO, buf + len, TOKEN_MAX_BYTES - 1 - len);

		if (n < 0 && errno == EINTR && !caught)
			continue;
		if (n < 0)
			return err_set(e, errno, "read the token");
		len += (size_t)n;
		buf[len] = '\0';
		if (n == 0 || (line && buf[len - 1] == '\n'))
			return 0;
	}
	return err_set(e, 0, "what came is too long for a token");
}

/* The terminal is as it was before anything else happens, also when a signal ends us. */
static int read_terminal(const char *prompt, char buf[TOKEN_MAX_BYTES], struct err *e)
{
	struct sigaction act = { .sa_handler = note_signal }, old[N_ELEMENTS(ends)];
	struct termios before, quiet;
	int result;

	if (tcgetattr(STDIN_FILENO, &before) < 0)
		return err_set(e, errno, "look at the terminal");
	quiet = before;
	quiet.c_lflag &= ~(tcflag_t)(ECHO | ECHONL);
	for (size_t i = 0; i < N_ELEMENTS(ends); i++)
		(void)sigaction(ends[i], &act, &old[i]);
	result = tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
	if (result < 0) {
		(void)err_set(e, errno, "switch the terminal's echo off");
	} else {
		(void)fputs(prompt, stderr);
		result = read_text(buf, true, e);
		(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
		(void)fputc('\n', stderr);
	}
	for (size_t i = 0; i < N_ELEMENTS(ends); i++)
		(void)sigaction(ends[i], &old[i], NULL);
	if (caught)
		(void)raise(caught);
	return caught ? err_set(e, 0, "no token was typed") : result;
}

/* Printable and without spaces: everything else is a slip of who pasted it. */
static int check(char token[TOKEN_MAX_BYTES], struct err *e)
{
	size_t n = strcspn(token, "\r\n");

	if (strspn(token + n, "\r\n") != strlen(token + n))
		return err_set(e, 0, "a token is one line");
	token[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if (token[i] <= ' ' || token[i] > '~')
			return err_set(e, 0, "a token has no spaces, and plain characters alone");
	return n > 0 ? 0 : err_set(e, 0, "there was no token");
}

/**
 * token_read() - Get a token from standard input
 * @prompt:	Written to standard error if that is a terminal
 * @ret:	Gets it; the caller wipes it, also on failure
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int token_read(const char *prompt, char ret[TOKEN_MAX_BYTES], struct err *e)
{
	int result = isatty(STDIN_FILENO) == 1 ? read_terminal(prompt, ret, e)
					       : read_text(ret, false, e);

	return result < 0 ? -1 : check(ret, e);
}

/**
 * token_pipe() - Put a token where a program reads it
 * @token:	Shorter than what a pipe holds, pipe(7)
 * @e:		Set on failure
 *
 * Return: fd owned by the caller, to be read from; -1 on failure
 */
int token_pipe(char token[TOKEN_MAX_BYTES], struct err *e)
{
	cleanup_fd int r = -1, w = -1;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(e, errno, "make a pipe");
	r = fds[0];
	w = fds[1];
	if (write_all(w, token, strlen(token), e) < 0 || write_all(w, "\n", 1, e) < 0)
		return -1;
	return steal_fd(&r);
}
