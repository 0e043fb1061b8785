/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RELAY_STREAM_H
#define RELAY_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "loop.h"

struct err;
struct stream_relay;

/**
 * struct stream_target - where the connections of a listener lead
 * @port:	Port on the loopback, host byte order: of 127.0.0.1, and if nobody is there of ::1
 * @new_socket:	Makes a socket(2) that is not connected, in the network namespace that the target
 *		is in.  @family is AF_INET or AF_INET6, @type is SOCK_STREAM with SOCK_NONBLOCK
 *		and SOCK_CLOEXEC.  Returns it, to be owned by the relay; or -1 with @e set, an
 *		errno as its code: EMFILE and its kind mean "later".
 * @ctx:	For @new_socket; borrowed as long as the relay lives
 */
struct stream_target {
	uint16_t port;
	int (*new_socket)(void *ctx, int family, int type, struct err *e);
	void *ctx;
};

struct stream_relay *stream_relay_new(struct relay_loop *loop, struct err *e);
struct stream_relay *stream_relay_free(struct stream_relay *r);
int stream_relay_take_listener(struct stream_relay *r, int fd, const struct stream_target *target,
			       struct err *e);

void stream_relay_stop(struct stream_relay *r);
bool stream_relay_is_idle(const struct stream_relay *r);

static inline void stream_relay_p(struct stream_relay **r)
{
	(void)stream_relay_free(*r);
}

#define cleanup_stream_relay CLEANUP(stream_relay_p)

#endif
