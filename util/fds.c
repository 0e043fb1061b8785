/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: File descriptors from one process to another, SCM_RIGHTS of unix(7)
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "fds.h"

union control {
	char buf[CMSG_SPACE(FDS_MAX * sizeof(int))];
	struct cmsghdr align;
};

/**
 * fds_send() - Send a message, and descriptors with it
 * @sock:	SOCK_SEQPACKET of AF_UNIX
 * @data:	Message
 * @bytes:	Of it, at least 1
 * @fds:	Descriptors, borrowed
 * @n:		How many, at most FDS_MAX
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int fds_send(int sock, const void *data, size_t bytes, const int *fds, size_t n, struct err *e)
{
	struct iovec iov = { .iov_base = (void *)(size_t)data, .iov_len = bytes };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union control c = { 0 };
	ssize_t sent;

	if (n > FDS_MAX)
		return err_set(e, EINVAL, "send %zu descriptors", n);
	if (n > 0) {
		msg.msg_control = c.buf;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		CMSG_FIRSTHDR(&msg)->cmsg_level = SOL_SOCKET;
		CMSG_FIRSTHDR(&msg)->cmsg_type = SCM_RIGHTS;
		CMSG_FIRSTHDR(&msg)->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(CMSG_FIRSTHDR(&msg)), fds, n * sizeof(int));
	}
	do
		sent = sendmsg(sock, &msg, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent == (ssize_t)bytes ? 0 : err_set(e, errno, "send %zu descriptors", n);
}

static void close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		(void)close(fds[i]);
}

/**
 * fds_receive() - Receive a message, and descriptors with it
 * @sock:	SOCK_SEQPACKET of AF_UNIX; its SO_RCVTIMEO is how long to wait
 * @data:	Filled on success
 * @bytes:	Length that the message must have
 * @fds:	Filled on success: descriptors, CLOEXEC, owned by the caller
 * @max:	Most of them, at most FDS_MAX
 * @ret_n:	How many there are
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int fds_receive(int sock, void *data, size_t bytes, int *fds, size_t max, size_t *ret_n,
		struct err *e)
{
	struct iovec iov = { .iov_base = data, .iov_len = bytes };
	union control c;
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = c.buf,
			      .msg_controllen = sizeof(c.buf) };
	int all[FDS_MAX];
	size_t n = 0;
	ssize_t got;

	do
		got = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_set(e, errno, "receive descriptors");
	for (struct cmsghdr *h = CMSG_FIRSTHDR(&msg); h != NULL; h = CMSG_NXTHDR(&msg, h))
		if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS && n == 0) {
			n = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
			memcpy(all, CMSG_DATA(h), n * sizeof(int));
		}
	if (got != (ssize_t)bytes || (msg.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 || n > max) {
		close_all(all, n);
		return err_set(e, 0, "receive descriptors: %s",
			       got == 0 ? "the other process ended" : "not what was asked for");
	}
	memcpy(fds, all, n * sizeof(int));
	*ret_n = n;
	return 0;
}
