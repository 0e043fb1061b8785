/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Bytes between a developer's terminal and the pty in the sandbox
 *
 * Every byte goes as it comes, in both directions, and each direction waits for its reader: what
 * a slow terminal has not taken, the agent has not been able to write.  Nothing blocks here, so
 * signals and relays are served meanwhile.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "pair.h"
#include "tty.h"

#define ROUNDS_AT_ONCE 16 /* others of the loop have their turn */

static void pump_out(struct pair *p);

static void watch_end(struct pair *p, struct pair_end *end, uint32_t events)
{
	if (end->is_watched && end->events != events)
		relay_loop_change(p->loop, &end->watch, events);
	end->events = events;
}

/* Of an end that has hung up epoll(7) tells without a pause, whatever it is asked for. */
static void stop_watching(struct pair *p, struct pair_end *end)
{
	if (end->is_watched)
		relay_loop_remove(p->loop, &end->watch);
	end->is_watched = false;
}

static void update(struct pair *p)
{
	const bool is_out_empty = p->out.begin == p->out.end;
	const bool is_in_empty = p->in.begin == p->in.end;

	uint32_t outer = is_out_empty ? 0U : EPOLLOUT;

	if (p->keys == PAIR_KEYS_CARRIED && is_in_empty)
		outer |= EPOLLIN;
	else if (p->keys == PAIR_KEYS_SEEN)
		outer |= EPOLLIN | EPOLLET;
	watch_end(p, &p->outer, outer);
	watch_end(p, &p->inner, (is_out_empty ? EPOLLIN : 0U) | (is_in_empty ? 0U : EPOLLOUT));
}

static bool is_for_later(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* What the agent writes from now on is for nobody, but must not hold it up. */
static void hang_up(struct pair *p)
{
	if (p->is_hung)
		return;
	p->is_hung = true;
	p->out.begin = p->out.end = 0;
	stop_watching(p, &p->outer);
	if (p->hung != NULL)
		p->hung(p);
}

/* ---- what the agent writes ---- */

/* Returns true when nothing is left. */
static bool write_out(struct pair *p)
{
	while (p->out.begin < p->out.end && !p->is_hung) {
		ssize_t n =
			write(p->tty->fd, p->out.bytes + p->out.begin, p->out.end - p->out.begin);

		if (is_for_later(n))
			return false;
		if (n < 0)
			hang_up(p);
		else
			p->out.begin += (size_t)n;
	}
	p->out.begin = p->out.end = 0;
	return true;
}

/* As much as there is, so that it takes one write(2); false: nothing came. */
static bool read_inner(struct pair *p)
{
	while (p->out.end < sizeof(p->out.bytes)) {
		ssize_t n = read(p->inner.watch.fd, p->out.bytes + p->out.end,
				 sizeof(p->out.bytes) - p->out.end);

		if (n > 0) {
			modes_see(&p->modes, p->out.bytes + p->out.end, (size_t)n);
			p->out.end += (size_t)n;
			continue;
		}
		if (!is_for_later(n) || p->is_last) /* EIO: no process has the pty any more */
			stop_watching(p, &p->inner);
		break;
	}
	return p->out.end > 0;
}

static void pump_out(struct pair *p)
{
	for (int i = 0; i < ROUNDS_AT_ONCE; i++)
		if (!write_out(p) || !read_inner(p))
			break;
	if (p->is_hung)
		p->out.begin = p->out.end = 0;
	update(p);
}

/* ---- what is typed ---- */

static void write_in(struct pair *p)
{
	while (p->in.begin < p->in.end) {
		ssize_t n = write(p->inner.watch.fd, p->in.bytes + p->in.begin,
				  p->in.end - p->in.begin);

		if (is_for_later(n))
			return;
		if (n < 0)
			break; /* nobody is there to read it */
		p->in.begin += (size_t)n;
	}
	p->in.begin = p->in.end = 0;
}

static void read_outer(struct pair *p)
{
	ssize_t n = read(p->tty->fd, p->in.bytes, sizeof(p->in.bytes));

	if (n > 0) {
		p->in.begin = 0;
		p->in.end = (size_t)n;
		write_in(p);
	} else if (!is_for_later(n)) {
		hang_up(p);
	}
}

/* ---- the loop ---- */

static void outer_ready(struct relay_watch *w, uint32_t events)
{
	struct pair *p = relay_owner_of(w, struct pair, outer.watch);

	if ((events & (EPOLLHUP | EPOLLERR)) != 0) {
		hang_up(p);
		pump_out(p);
		return;
	}
	if ((events & EPOLLIN) != 0 && p->keys == PAIR_KEYS_CARRIED && p->in.begin == p->in.end)
		read_outer(p);
	else if ((events & EPOLLIN) != 0 && p->keys == PAIR_KEYS_SEEN)
		p->typed(p);
	if ((events & EPOLLOUT) != 0)
		pump_out(p);
	update(p);
}

static void inner_ready(struct relay_watch *w, uint32_t events)
{
	struct pair *p = relay_owner_of(w, struct pair, inner.watch);

	if ((events & EPOLLOUT) != 0)
		write_in(p);
	if ((events & (EPOLLIN | EPOLLHUP)) != 0)
		pump_out(p);
	if ((events & EPOLLHUP) != 0)
		stop_watching(p, &p->inner); /* the rest is read when there is room for it */
	update(p);
}

static int add_end(struct pair *p, struct pair_end *end, int fd,
		   void (*ready)(struct relay_watch *, uint32_t), struct err *e)
{
	end->watch = (struct relay_watch){ .fd = fd, .ready = ready };
	if (relay_loop_add(p->loop, &end->watch, 0, e) < 0)
		return -1;
	end->is_watched = true;
	return 0;
}

/**
 * pair_start() - Carry what the agent writes to the terminal
 * @p:		@hung set, or NULL; stays where it is until pair_done()
 * @loop:	Loop, borrowed
 * @tty:	Terminal, borrowed
 * @master:	Of the pty, non-blocking; owned by @p from now on, also on failure
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure: pair_done() is to be called all the same
 */
int pair_start(struct pair *p, struct relay_loop *loop, struct tty *tty, int master, struct err *e)
{
	p->loop = loop;
	p->tty = tty;
	p->inner.watch.fd = master;
	if (add_end(p, &p->inner, master, inner_ready, e) < 0 ||
	    add_end(p, &p->outer, tty->fd, outer_ready, e) < 0)
		return -1;
	update(p);
	return 0;
}

/**
 * pair_set_keys() - Say whom keys are for
 * @p:		Pair, with @typed if they are to be seen
 * @keys:	Whom
 */
void pair_set_keys(struct pair *p, enum pair_keys keys)
{
	p->keys = keys;
	update(p);
}

/**
 * pair_copy_pending() - Write what the agent has written so far, as far as the terminal takes it
 * @p:		Pair
 */
void pair_copy_pending(struct pair *p)
{
	pump_out(p);
}

/**
 * pair_finish() - Go on with what an agent that has ended has written
 * @p:		Pair
 *
 * Return: true when all of it is written, or nobody is there to see it; false: run the loop, and
 * ask again
 */
bool pair_finish(struct pair *p)
{
	p->is_last = true;
	pair_set_keys(p, PAIR_KEYS_LEFT);
	pump_out(p);
	return p->is_hung || (!p->inner.is_watched && p->out.begin == p->out.end);
}

/**
 * pair_reset_modes() - Take back what an agent that did not get to it has switched on
 * @p:		Pair
 */
void pair_reset_modes(struct pair *p)
{
	char text[MODES_RESET_MAX];
	size_t n = modes_reset(&p->modes, text);

	if (n > 0 && !p->is_hung)
		(void)!write(p->tty->fd, text, n);
}

/**
 * pair_done() - End it; what is not written yet is lost
 * @p:		Pair
 */
void pair_done(struct pair *p)
{
	if (p->loop == NULL)
		return;
	stop_watching(p, &p->outer);
	stop_watching(p, &p->inner);
	close_p(&p->inner.watch.fd);
	p->loop = NULL;
}
