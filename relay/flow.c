/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: One direction of a relayed connection
 *
 * Bytes go from one socket to the other through a pipe, by splice(2), and are never seen here.
 * A flow has a pipe only while there are bytes in it: an idle one costs nothing, and thousands of
 * them share a few pipes.  When the destination takes no more the pipe fills, the source is no
 * longer read from, and its sender stops: there is no buffer that could grow.
 *
 * Sockets are watched with EPOLLET, so flow_move() goes on until the source is empty or the
 * destination full, or else says that it could go on.
 *
 * Where there is no pipe to be had (RLIMIT_NOFILE, a user's share of pipe memory), bytes are
 * copied: looked at with MSG_PEEK, sent, and what was sent is then taken from the source.  That
 * is slower, but needs no place to keep what can't be sent.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "cleanup.h"
#include "flow.h"

#define PIPE_BYTES ((size_t)512 * 1024)
#define TURN_BYTES ((size_t)8 * 1024 * 1024) /* before somebody else's turn */
#define COPY_BYTES ((size_t)64 * 1024)

static int get_pipe(struct flow *f, struct pipe_pool *pool)
{
	if (pool->n > 0) {
		pool->n--;
		f->pipe[0] = pool->spare[pool->n][0];
		f->pipe[1] = pool->spare[pool->n][1];
		return 0;
	}
	if (pipe2(f->pipe, O_NONBLOCK | O_CLOEXEC) < 0) {
		f->pipe[0] = f->pipe[1] = -1;
		return -1;
	}
	/* A small one does as well: a user may have few large ones, pipe(7) */
	(void)fcntl(f->pipe[1], F_SETPIPE_SZ, (int)PIPE_BYTES);
	return 0;
}

static void put_pipe(struct flow *f, struct pipe_pool *pool)
{
	if (f->pipe[0] < 0)
		return;
	if (f->pending == 0 && pool->n < PIPES_SPARE) {
		pool->spare[pool->n][0] = f->pipe[0];
		pool->spare[pool->n][1] = f->pipe[1];
		pool->n++;
	} else {
		close_p(&f->pipe[0]);
		close_p(&f->pipe[1]);
	}
	f->pipe[0] = f->pipe[1] = -1;
	f->pending = 0;
}

/* EAGAIN and its kind: 0 bytes, and come back later */
static ssize_t or_later(ssize_t n)
{
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
}

/*
 * One step through the pipe.
 *
 * Return: bytes taken from the source and given to the destination, together; -1 on failure
 */
static ssize_t step_splice(struct flow *f, int from, int to)
{
	const unsigned flags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;
	ssize_t in = 0, out = 0;

	if (!f->ended) {
		in = splice(from, NULL, f->pipe[1], NULL, PIPE_BYTES, flags);
		if (in == 0)
			f->ended = true;
		in = or_later(in);
		if (in < 0)
			return -1;
		f->pending += (size_t)in;
	}
	if (f->pending > 0) {
		out = or_later(splice(f->pipe[0], NULL, to, NULL, f->pending, flags));
		if (out < 0)
			return -1;
		f->pending -= (size_t)out;
	}
	return in + out;
}

/* As step_splice(), without a pipe */
static ssize_t step_copy(struct flow *f, struct pipe_pool *pool, int from, int to)
{
	ssize_t in, out;

	if (pool->scratch == NULL && (pool->scratch = malloc(COPY_BYTES)) == NULL)
		return -1;
	in = recv(from, pool->scratch, COPY_BYTES, MSG_PEEK);
	if (in == 0)
		f->ended = true;
	in = or_later(in);
	if (in <= 0)
		return in;
	out = or_later(send(to, pool->scratch, (size_t)in, MSG_NOSIGNAL));
	if (out <= 0)
		return out;
	/* MSG_TRUNC: away with it, tcp(7) */
	return recv(from, NULL, (size_t)out, MSG_TRUNC) == out ? in + out : -1;
}

/**
 * flow_init() - Begin with nothing
 * @f:		Filled
 */
void flow_init(struct flow *f)
{
	*f = (struct flow){ .pipe = { -1, -1 } };
}

/**
 * flow_move() - Move what can be moved without waiting
 * @f:		Flow
 * @pool:	Pipes
 * @from:	Source: non-blocking, connected TCP socket
 * @to:		Destination: as @from
 *
 * When all that the source had to say is with the destination the latter's direction is closed,
 * and @f is done.  splice(2) raises SIGPIPE where send(2) would: the caller's process ignores it.
 *
 * Return: see enum flow_state
 */
enum flow_state flow_move(struct flow *f, struct pipe_pool *pool, int from, int to)
{
	size_t moved = 0;
	ssize_t n = 1;

	if (f->done)
		return FLOW_WAITS;
	while (n > 0 && moved < TURN_BYTES && !(f->ended && f->pending == 0)) {
		if (f->pipe[0] >= 0 || get_pipe(f, pool) == 0)
			n = step_splice(f, from, to);
		else
			n = step_copy(f, pool, from, to);
		if (n < 0)
			return FLOW_FAILED;
		moved += (size_t)n;
	}
	if (f->pending == 0)
		put_pipe(f, pool);
	if (f->ended && f->pending == 0) {
		f->done = true;
		return shutdown(to, SHUT_WR) < 0 ? FLOW_FAILED : FLOW_WAITS;
	}
	return n > 0 ? FLOW_GOES_ON : FLOW_WAITS;
}

/**
 * flow_close() - Give up what is under way
 * @f:		Flow
 * @pool:	Pipes
 */
void flow_close(struct flow *f, struct pipe_pool *pool)
{
	put_pipe(f, pool);
}

/**
 * pipe_pool_done() - Release the pipes
 * @pool:	Pool, empty then
 */
void pipe_pool_done(struct pipe_pool *pool)
{
	while (pool->n > 0) {
		pool->n--;
		close_p(&pool->spare[pool->n][0]);
		close_p(&pool->spare[pool->n][1]);
	}
	free(pool->scratch);
	pool->scratch = NULL;
}
