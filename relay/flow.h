/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RELAY_FLOW_H
#define RELAY_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PIPES_SPARE 8

/**
 * struct pipe_pool - empty pipes, and where to copy if there is none to be had
 * @spare:	Pipes, [0] to read from
 * @n:		How many
 * @scratch:	Where bytes lie while they are copied, NULL until the first time
 *
 * All zero is the empty pool.  pipe_pool_done() releases it.
 */
struct pipe_pool {
	int spare[PIPES_SPARE][2];
	size_t n;
	uint8_t *scratch;
};

/**
 * struct flow - one direction of a connection
 * @pipe:	What carries the bytes, [0] to read from; only while @pending, else -1
 * @pending:	Bytes in the pipe
 * @ended:	The source sends no more
 * @done:	The destination knows
 */
struct flow {
	int pipe[2];
	size_t pending;
	bool ended;
	bool done;
};

/**
 * enum flow_state - how far flow_move() came
 * @FLOW_FAILED:	One of the sockets is broken
 * @FLOW_WAITS:		The source has no more, or the destination takes no more: EPOLLET tells
 * @FLOW_GOES_ON:	It could go on, but others have a turn now
 */
enum flow_state {
	FLOW_FAILED = -1,
	FLOW_WAITS,
	FLOW_GOES_ON,
};

void flow_init(struct flow *f);
enum flow_state flow_move(struct flow *f, struct pipe_pool *pool, int from, int to);
void flow_close(struct flow *f, struct pipe_pool *pool);
void pipe_pool_done(struct pipe_pool *pool);

#endif
