/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_INIT_H
#define SHIM_INIT_H

struct sandbox;

/* Pipes between the supervisor and the sandbox's first process, as that process has them */
struct init_pipes {
	int go;     /* read end: a byte once the id maps are written, and another one once the
		       relays are there; end of file: give up */
	int report; /* write end: why the sandbox could not be built, closed when it runs */
	int sock;   /* SOCK_SEQPACKET: what relays.h is about */
	int job;    /* SOCK_SEQPACKET: what job.h is about, after the masters of the ptys */
};

_Noreturn void init_main(const struct sandbox *s, const struct init_pipes *p);

#endif
