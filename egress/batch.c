/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: One nftables transaction
 *
 * The kernel applies everything between BATCH_BEGIN and BATCH_END, or nothing.  It takes the
 * batch as one datagram and has queued every reply by the time that send() returns, so replies
 * are read without waiting.
 *
 * Only the last message asks for an ACK, so that any number of messages needs no more than one
 * reply's room in the receive buffer.  An error cannot get lost: the kernel reports each
 * message that fails, asked or not; where the queue is full recv() fails with ENOBUFS; and
 * without the last message's ACK the transaction counts as failed.
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>
#include <libnftnl/common.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>

#include "batch.h"
#include "cleanup.h"
#include "err.h"

#define FIRST_BYTES (256 * 1024) /* a ruleset without long lists fits */
#define SEND_RESERVE 4096        /* the kernel's own part of the send buffer */

/**
 * struct nft_batch - a transaction being built
 * @nl:		Socket of the network namespace that it was opened in
 * @buf:	Messages, one after the other
 * @size:	Of @buf
 * @last:	Offset of the last message, whose length is only known at the next one
 * @what:	What each message does, for error messages; borrowed
 * @what_size:	Of @what, in elements
 * @n:		Messages so far, BATCH_BEGIN and BATCH_END not counted
 * @nomem:	Something did not fit into memory
 */
struct nft_batch {
	struct mnl_socket *nl;
	char *buf;
	size_t size;
	size_t last;
	const char **what;
	size_t what_size;
	uint32_t n;
	bool nomem;
};

/**
 * nft_error() - Record a failure of nftables, with what to do about it
 * @e:		Destination
 * @code:	errno value that the kernel answered with
 * @what:	What was being done
 *
 * Return: -1
 */
int nft_error(struct err *e, int code, const char *what)
{
	static const char parts[] = "the kernel lacks a part of nf_tables; on the host: "
				    "modprobe -a nf_tables nft_ct nft_reject_inet nft_chain_nat "
				    "nft_masq";
	const struct {
		int code;
		const char *hint;
	} hints[] = {
		{ EPERM, "needs CAP_NET_ADMIN over the network namespace" },
		{ EPROTONOSUPPORT, "the kernel has no nf_tables; on the host: modprobe nf_tables" },
		{ EOPNOTSUPP, parts },
		{ ENOENT, parts },
		{ EMSGSIZE, "too many addresses for the send buffer; on the host: raise sysctl "
			    "net.core.wmem_max" },
	};

	for (size_t i = 0; i < N_ELEMENTS(hints); i++)
		if (hints[i].code == code)
			return err_set(e, code, "nftables: %s (%s)", what, hints[i].hint);
	return err_set(e, code, "nftables: %s", what);
}

/**
 * nft_batch_free() - Release a transaction; one that was not committed never happened
 * @b:		Transaction, or NULL
 *
 * Return: NULL
 */
struct nft_batch *nft_batch_free(struct nft_batch *b)
{
	int saved = errno;

	if (b == NULL)
		return NULL;
	if (b->nl != NULL)
		(void)mnl_socket_close(b->nl);
	free(b->buf);
	free(b->what);
	free(b);
	errno = saved;
	return NULL;
}

/**
 * nft_batch_new() - Start a transaction in the current network namespace
 * @e:		Set on failure
 *
 * Return: transaction owned by the caller, NULL on failure
 */
struct nft_batch *nft_batch_new(struct err *e)
{
	cleanup_nft_batch struct nft_batch *b = calloc(1, sizeof(*b));
	int on = 1;

	if (b == NULL || (b->buf = malloc(FIRST_BYTES)) == NULL) {
		(void)err_set(e, ENOMEM, "nftables: allocate transaction");
		return NULL;
	}
	b->size = FIRST_BYTES;

	b->nl = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	if (b->nl == NULL || mnl_socket_bind(b->nl, 0, MNL_SOCKET_AUTOPID) < 0) {
		(void)nft_error(e, errno, "open socket");
		return NULL;
	}
	/* Without it an error carries its whole message, which may be larger than our buffer. */
	if (mnl_socket_setsockopt(b->nl, NETLINK_CAP_ACK, &on, sizeof(on)) < 0) {
		(void)nft_error(e, errno, "set NETLINK_CAP_ACK");
		return NULL;
	}
	(void)nftnl_batch_begin(b->buf, 0);
	return steal_ptr(&b);
}

static struct nlmsghdr *last_message(const struct nft_batch *b)
{
	return (struct nlmsghdr *)(void *)(b->buf + b->last);
}

static size_t end_of_last(const struct nft_batch *b)
{
	return b->last + NLMSG_ALIGN(last_message(b)->nlmsg_len);
}

static bool grow(struct nft_batch *b, size_t need)
{
	char *buf;

	if (need <= b->size)
		return true;
	buf = realloc(b->buf, 2 * need);
	if (buf == NULL)
		return false;
	b->buf = buf;
	b->size = 2 * need;
	return true;
}

static bool remember(struct nft_batch *b, const char *what)
{
	if (b->n == b->what_size) {
		size_t size = 2 * b->what_size + 64;
		const char **v = realloc(b->what, size * sizeof(*v));

		if (v == NULL)
			return false;
		b->what = v;
		b->what_size = size;
	}
	b->what[b->n] = what;
	return true;
}

/**
 * nft_batch_add() - Reserve the next message, of family inet
 * @b:		Transaction
 * @what:	For error messages, e.g. "add table"; must outlive @b
 * @type:	NFT_MSG_*
 * @flags:	NLM_F_CREATE and the like
 *
 * The caller puts a payload of less than NFT_BATCH_MSG_BYTES, and only then adds the next
 * message.  Errors are kept for nft_batch_commit(), so that a list of rules reads as a list.
 *
 * Return: header to put the payload into, valid until the next call, never NULL
 */
struct nlmsghdr *nft_batch_add(struct nft_batch *b, const char *what, uint16_t type, uint16_t flags)
{
	size_t next = end_of_last(b);

	/* Out of memory: the last message's place serves again, for commit will refuse. */
	if (b->nomem || !grow(b, next + NFT_BATCH_MSG_BYTES) || !remember(b, what)) {
		b->nomem = true;
		return nftnl_nlmsg_build_hdr(b->buf + b->last, type, NFPROTO_INET, flags, b->n);
	}
	b->last = next;
	return nftnl_nlmsg_build_hdr(b->buf + b->last, type, NFPROTO_INET, flags, ++b->n);
}

/**
 * nft_batch_bytes() - Say how long a transaction is by now
 * @b:		Transaction
 *
 * Return: bytes of its messages
 */
size_t nft_batch_bytes(const struct nft_batch *b)
{
	return end_of_last(b);
}

static int read_reply(const struct nft_batch *b, const struct nlmsghdr *nlh, bool *ret_acked,
		      struct err *e)
{
	const struct nlmsgerr *ack = mnl_nlmsg_get_payload(nlh);
	const char *what = "transaction";

	if (nlh->nlmsg_type != NLMSG_ERROR)
		return 0;
	if (nlh->nlmsg_len < mnl_nlmsg_size(sizeof(*ack)))
		return err_set(e, EBADMSG, "nftables: reply of %u bytes", nlh->nlmsg_len);
	if (nlh->nlmsg_seq >= 1 && nlh->nlmsg_seq <= b->n)
		what = b->what[nlh->nlmsg_seq - 1];
	if (ack->error != 0)
		return nft_error(e, -ack->error, what);
	if (nlh->nlmsg_seq == b->n)
		*ret_acked = true;
	return 0;
}

static int read_replies(const struct nft_batch *b, struct err *e)
{
	char buf[16 * 1024] __attribute__((aligned(NLMSG_ALIGNTO)));
	int fd = mnl_socket_get_fd(b->nl);
	bool acked = false;

	for (;;) {
		ssize_t n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		int left = (int)n;

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return nft_error(e, errno, "read replies");
		for (const struct nlmsghdr *nlh = (const void *)buf; mnl_nlmsg_ok(nlh, left);
		     nlh = mnl_nlmsg_next(nlh, &left))
			if (read_reply(b, nlh, &acked, e) < 0)
				return -1;
	}
	if (!acked)
		return err_set(e, EPROTO, "nftables: transaction was not acknowledged");
	return 0;
}

/* One datagram: FORCE goes above net.core.wmem_max, and is for the host's root alone. */
static void make_room(int fd, size_t bytes)
{
	int room = bytes > INT32_MAX / 2 ? INT32_MAX / 2 : (int)bytes;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) < 0)
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
}

/**
 * nft_batch_commit() - Apply all of it, or nothing
 * @b:		Transaction with at least one message, not to be used again
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int nft_batch_commit(struct nft_batch *b, struct err *e)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int fd = mnl_socket_get_fd(b->nl);
	size_t bytes = end_of_last(b);

	last_message(b)->nlmsg_flags |= NLM_F_ACK;
	if (b->nomem || !grow(b, bytes + NLMSG_SPACE(sizeof(struct nfgenmsg))))
		return err_set(e, ENOMEM, "nftables: build transaction");
	bytes += nftnl_batch_end(b->buf + bytes, b->n + 1)->nlmsg_len;

	make_room(fd, bytes + SEND_RESERVE);
	if (sendto(fd, b->buf, bytes, 0, (const struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return nft_error(e, errno, "send transaction");
	return read_replies(b, e);
}
