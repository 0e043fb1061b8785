/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RELAY_LOOP_H
#define RELAY_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/queue.h>

#include "cleanup.h"

struct err;
struct relay_loop;

/* The struct that a watch or a timer is a member of */
#define relay_owner_of(p, type, member) ((type *)(void *)((char *)(p)-offsetof(type, member)))

/**
 * struct relay_watch - a file descriptor, and who is told of it
 * @fd:		Non-blocking; whoever owns the watch owns it
 * @ready:	Called with EPOLL* bits; may remove any watch, and release its own one's owner
 *
 * A member of the struct that it is about.  Set both before relay_loop_add(); the struct stays
 * where it is until relay_loop_remove().
 */
struct relay_watch {
	int fd;
	void (*ready)(struct relay_watch *w, uint32_t events);
};

/**
 * struct relay_timer - a point in time, and who is told of it
 * @fired:	Called once, the timer being off by then; may set it again, and release its owner
 * @due:	The loop's: milliseconds of CLOCK_MONOTONIC
 * @is_set:	The loop's
 * @entry:	The loop's
 *
 * A member of the struct that it is about; all zero but for @fired is off.
 */
struct relay_timer {
	void (*fired)(struct relay_timer *t);
	uint64_t due;
	bool is_set;
	TAILQ_ENTRY(relay_timer) entry;
};

struct relay_loop *relay_loop_new(struct err *e);
struct relay_loop *relay_loop_free(struct relay_loop *l);
int relay_loop_fd(const struct relay_loop *l);
int relay_loop_run_once(struct relay_loop *l, int timeout, struct err *e);

int relay_loop_add(struct relay_loop *l, struct relay_watch *w, uint32_t events, struct err *e);
void relay_loop_change(struct relay_loop *l, struct relay_watch *w, uint32_t events);
void relay_loop_remove(struct relay_loop *l, struct relay_watch *w);
void relay_loop_close(struct relay_loop *l, struct relay_watch *w);

void relay_timer_set(struct relay_loop *l, struct relay_timer *t, unsigned ms);
void relay_timer_stop(struct relay_loop *l, struct relay_timer *t);
uint64_t relay_now_ms(void);

static inline void relay_loop_p(struct relay_loop **l)
{
	(void)relay_loop_free(*l);
}

#define cleanup_relay_loop CLEANUP(relay_loop_p)

#endif
