/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERMINAL_TTY_H
#define TERMINAL_TTY_H

#include <stdbool.h>
#include <termios.h>

struct err;

/**
 * struct tty - a developer's terminal
 * @fd:		To read and write it, owned; non-blocking where it could be opened anew
 * @is_controlling: It is this process's controlling terminal: job control applies
 * @is_raw:	tty_set_raw() has changed it
 * @before:	What it was before
 *
 * Owned by the caller; tty_done() releases it, and does not restore it.
 */
struct tty {
	int fd;
	bool is_controlling;
	bool is_raw;
	struct termios before;
};

#define TTY_NONE         \
	{                \
		.fd = -1 \
	}

unsigned tty_device(int fd);
int tty_open(int from, struct tty *ret, struct err *e);
bool tty_is_in_foreground(const struct tty *t);
bool tty_has_unread_line(const struct tty *t);
int tty_set_raw(struct tty *t, bool output, struct err *e);
void tty_restore(struct tty *t);
void tty_copy_size(const struct tty *t, int to);
int tty_copy_settings(const struct tty *t, int to, bool output, struct err *e);
void tty_copy_output(const struct tty *t, int to);
void tty_done(struct tty *t);

#endif
