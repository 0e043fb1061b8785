/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_RELAYS_H
#define SHIM_RELAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cleanup.h"
#include "dns_relay.h"
#include "launch.h"
#include "stream.h"

struct err;
struct policy_numbers;

/**
 * struct relays - what a supervisor carries between the container's network and the agent's
 * @loop:	Its loop, borrowed
 * @sock:	Socket to the sandbox's first process, which makes sockets there; borrowed,
 *		-1 once it did not answer
 * @dns:	DNS relay; NULL: none
 * @stream:	TCP relays; NULL: none
 *
 * Owned by the caller; relays_done() releases it.
 */
struct relays {
	struct relay_loop *loop;
	int sock;
	struct dns_relay *dns;
	struct stream_relay *stream;
};

int relays_listen(const struct launch *l, int sock, struct err *e);
int relays_serve_socket(int sock, struct err *e);
int relays_start(const struct launch *l, struct relay_loop *loop, int sock, launch_warn warn,
		 struct relays *ret, struct err *e);
void relays_drain(struct relays *r);
void relays_done(struct relays *r);

#define cleanup_relays CLEANUP(relays_done)

#endif
