/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The loop that all relays of a process share
 *
 * One epoll instance.  Time is a timerfd in it, so that whoever polls the epoll fd itself, as a
 * supervisor with a loop of its own does, needs no timeout for our sake.
 *
 * Timers are a list in order of time.  Relays use few different durations, and a timer is looked
 * up from the end, so that its place is found in a few steps; nothing is allocated, so setting
 * one can't fail.  The timerfd is only touched where the first timer gets earlier: that it fires
 * for one that was stopped costs less than stopping it.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>

#include "err.h"
#include "loop.h"

#define EVENTS_AT_ONCE 64

/**
 * struct relay_loop - see DOC
 * @epoll:	The epoll instance
 * @clock:	The timerfd
 * @armed:	When @clock fires, 0: it does not
 * @timers:	Those that are set, the earliest first
 * @events:	What epoll_wait() returned
 * @next:	The next of @events to be looked at
 * @n:		How many of @events there are
 */
struct relay_loop {
	int epoll;
	struct relay_watch clock;
	uint64_t armed;
	TAILQ_HEAD(timer_list, relay_timer) timers;
	struct epoll_event events[EVENTS_AT_ONCE];
	int next;
	int n;
};

/**
 * relay_now_ms() - The time that timers go by
 *
 * Return: milliseconds of CLOCK_MONOTONIC
 */
uint64_t relay_now_ms(void)
{
	struct timespec t;
	int r = clock_gettime(CLOCK_MONOTONIC, &t);

	assert(r == 0);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void arm(struct relay_loop *l, uint64_t due)
{
	struct itimerspec when = {
		.it_value = { .tv_sec = (time_t)(due / 1000),
			      .tv_nsec = (long)(due % 1000) * 1000000 },
	};
	int r;

	if (l->armed != 0 && l->armed <= due)
		return;
	r = timerfd_settime(l->clock.fd, TFD_TIMER_ABSTIME, &when, NULL);
	assert(r == 0);
	l->armed = due;
}

static void clock_ready(struct relay_watch *w, uint32_t events)
{
	struct relay_loop *l = relay_owner_of(w, struct relay_loop, clock);
	uint64_t now = relay_now_ms(), times;
	struct relay_timer *t;

	(void)events;
	if (read(w->fd, &times, sizeof(times)) < 0)
		return;
	l->armed = 0;
	/* What is set meanwhile is due later than now: this ends */
	while ((t = TAILQ_FIRST(&l->timers)) != NULL && t->due <= now) {
		relay_timer_stop(l, t);
		t->fired(t);
	}
	if (t != NULL)
		arm(l, t->due);
}

/**
 * relay_loop_new() - Make a loop with nothing in it
 * @e:		Set on failure
 *
 * Return: loop owned by the caller, NULL on failure
 */
struct relay_loop *relay_loop_new(struct err *e)
{
	cleanup_relay_loop struct relay_loop *l = calloc(1, sizeof(*l));

	if (l == NULL) {
		(void)err_set(e, ENOMEM, "allocate an event loop");
		return NULL;
	}
	TAILQ_INIT(&l->timers);
	l->clock.ready = clock_ready;
	l->clock.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->clock.fd < 0 || l->epoll < 0) {
		(void)err_set(e, errno, "make an event loop");
		return NULL;
	}
	if (relay_loop_add(l, &l->clock, EPOLLIN, e) < 0)
		return NULL;
	return steal_ptr(&l);
}

/**
 * relay_loop_free() - Release a loop
 * @l:		Loop, or NULL; what is watched by it has been removed, or is never touched again
 *
 * Return: NULL
 */
struct relay_loop *relay_loop_free(struct relay_loop *l)
{
	if (l == NULL)
		return NULL;
	close_p(&l->clock.fd);
	close_p(&l->epoll);
	free(l);
	return NULL;
}

/**
 * relay_loop_fd() - The fd that is readable when relay_loop_run_once() has something to do
 * @l:		Loop
 *
 * Return: the epoll fd, which stays the loop's; poll it, and change nothing
 */
int relay_loop_fd(const struct relay_loop *l)
{
	return l->epoll;
}

/**
 * relay_loop_run_once() - Wait for something to happen, and have it handled
 * @l:		Loop; a handler must not call this
 * @timeout:	Milliseconds, 0: don't wait, -1: as long as it takes
 * @e:		Set on failure
 *
 * Return: number of events handled, 0 after a signal too; -1 on failure
 */
int relay_loop_run_once(struct relay_loop *l, int timeout, struct err *e)
{
	int n = epoll_wait(l->epoll, l->events, EVENTS_AT_ONCE, timeout);

	if (n < 0 && errno == EINTR)
		return 0;
	if (n < 0)
		return err_set(e, errno, "wait for events");
	l->n = n;
	for (l->next = 0; l->next < n;) {
		const struct epoll_event *event = &l->events[l->next++];
		struct relay_watch *w = event->data.ptr;

		if (w != NULL)
			w->ready(w, event->events);
	}
	l->n = 0;
	return n;
}

/**
 * relay_loop_add() - Watch a file descriptor
 * @l:		Loop
 * @w:		Watch, @fd and @ready set
 * @events:	EPOLL* bits
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int relay_loop_add(struct relay_loop *l, struct relay_watch *w, uint32_t events, struct err *e)
{
	struct epoll_event event = { .events = events, .data.ptr = w };

	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, w->fd, &event) < 0)
		return err_set(e, errno, "watch a file descriptor");
	return 0;
}

/**
 * relay_loop_change() - Watch for something else, or, with EPOLLET, be told once more
 * @l:		Loop
 * @w:		Watch that was added
 * @events:	EPOLL* bits
 */
void relay_loop_change(struct relay_loop *l, struct relay_watch *w, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = w };
	int r = epoll_ctl(l->epoll, EPOLL_CTL_MOD, w->fd, &event);

	assert(r == 0);
}

/**
 * relay_loop_remove() - Watch it no longer; events that wait to be handled are forgotten
 * @l:		Loop
 * @w:		Watch that was added, or whose @fd is negative
 */
void relay_loop_remove(struct relay_loop *l, struct relay_watch *w)
{
	if (w->fd < 0)
		return;
	(void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
	for (int i = l->next; i < l->n; i++)
		if (l->events[i].data.ptr == w)
			l->events[i].data.ptr = NULL;
}

/**
 * relay_loop_close() - Remove a watch, and close its fd
 * @l:		Loop
 * @w:		As relay_loop_remove(), its fd then -1
 */
void relay_loop_close(struct relay_loop *l, struct relay_watch *w)
{
	relay_loop_remove(l, w);
	close_p(&w->fd);
	w->fd = -1;
}

/**
 * relay_timer_set() - Have a timer fire, once
 * @l:		Loop
 * @t:		Timer, @fired set; if it is set already, this time counts
 * @ms:		Milliseconds from now, at least 1
 */
void relay_timer_set(struct relay_loop *l, struct relay_timer *t, unsigned ms)
{
	struct relay_timer *before;

	relay_timer_stop(l, t);
	t->due = relay_now_ms() + (ms > 0 ? ms : 1);
	t->is_set = true;
	before = TAILQ_LAST(&l->timers, timer_list);
	while (before != NULL && before->due > t->due)
		before = TAILQ_PREV(before, timer_list, entry);
	if (before != NULL)
		TAILQ_INSERT_AFTER(&l->timers, before, t, entry);
	else
		TAILQ_INSERT_HEAD(&l->timers, t, entry);
	if (before == NULL)
		arm(l, t->due);
}

/**
 * relay_timer_stop() - Switch a timer off
 * @l:		Loop
 * @t:		Timer, set or not
 */
void relay_timer_stop(struct relay_loop *l, struct relay_timer *t)
{
	if (!t->is_set)
		return;
	TAILQ_REMOVE(&l->timers, t, entry);
	t->is_set = false;
}
