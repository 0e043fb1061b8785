/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERMINAL_PAIR_H
#define TERMINAL_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop.h"
#include "modes.h"

struct err;
struct tty;

#define PAIR_OUT_BYTES (64 * 1024)
#define PAIR_IN_BYTES 4096 /* what a terminal holds of a line */

/* Whom the keys of a terminal are for */
enum pair_keys {
	PAIR_KEYS_LEFT,   /* who has the terminal */
	PAIR_KEYS_SEEN,   /* who reads them; that there are some is told */
	PAIR_KEYS_CARRIED /* the agent */
};

/**
 * struct pair - a developer's terminal, and the pty that stands for it in the sandbox
 * @loop:	Loop that carries the bytes, borrowed
 * @tty:	Terminal, borrowed
 * @outer:	Watch of the terminal; its fd is @tty's
 * @inner:	Watch of the pty's master, whose fd is owned
 * @out:	What was written by the agent and not yet to the terminal
 * @in:		What was typed and not yet read by the pty
 * @modes:	What the agent has switched on in the terminal
 * @keys:	Whom they are for
 * @is_hung:	The terminal is gone
 * @is_last:	The agent has ended: what is there is all that comes
 * @hung:	Told of that, once
 * @typed:	Told of keys that are not read, once for each time that there are more
 * @owner:	For both
 */
struct pair {
	struct relay_loop *loop;
	struct tty *tty;
	struct pair_end {
		struct relay_watch watch;
		uint32_t events;
		bool is_watched;
	} outer, inner;
	struct {
		size_t begin;
		size_t end;
		char bytes[PAIR_OUT_BYTES];
	} out;
	struct {
		size_t begin;
		size_t end;
		char bytes[PAIR_IN_BYTES];
	} in;
	struct modes modes;
	enum pair_keys keys;
	bool is_hung;
	bool is_last;
	void (*hung)(struct pair *p);
	void (*typed)(struct pair *p);
	void *owner;
};

int pair_start(struct pair *p, struct relay_loop *loop, struct tty *tty, int master, struct err *e);
void pair_set_keys(struct pair *p, enum pair_keys keys);
void pair_copy_pending(struct pair *p);
bool pair_finish(struct pair *p);
void pair_reset_modes(struct pair *p);
void pair_done(struct pair *p);

#endif
