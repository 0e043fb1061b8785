/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Questions about the table of a network namespace
 */
#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <libmnl/libmnl.h>
#include <libnftnl/common.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

#include "ask.h"
#include "batch.h"
#include "cleanup.h"
#include "err.h"
#include "nft.h"

/* The kernel fills up to 32 KiB at a time, see NLMSG_GOODSIZE and netlink_recvmsg() */
#define REPLY_BYTES (64 * 1024)

/**
 * nft_asker_open() - Begin to ask about the current network namespace
 * @ret:	Filled on success; nft_asker_done() releases it
 * @e:		Set on failure, and by questions that fail; must outlive @ret
 *
 * Return: 0 on success, -1 on failure
 */
int nft_asker_open(struct nft_asker *ret, struct err *e)
{
	cleanup_nft_asker struct nft_asker a = { .e = e };

	a.nl = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	if (a.nl == NULL || mnl_socket_bind(a.nl, 0, MNL_SOCKET_AUTOPID) < 0)
		return nft_error(e, errno, "open socket to read the rules back");
	*ret = a;
	a.nl = NULL;
	return 0;
}

static int receive(struct nft_asker *a, const struct nft_question *q, void *data)
{
	cleanup_free char *buf = malloc(REPLY_BYTES);
	unsigned port = mnl_socket_get_portid(a->nl);
	int more = MNL_CB_OK;

	if (buf == NULL)
		return err_set(a->e, ENOMEM, "allocate room for nftables' replies");
	while (more > MNL_CB_STOP) {
		ssize_t n = mnl_socket_recvfrom(a->nl, buf, REPLY_BYTES);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return nft_error(a->e, errno, q->what);
		more = mnl_cb_run(buf, (size_t)n, 0, port, q->each, data);
	}
	if (more == MNL_CB_ERROR && !a->wrong)
		return nft_error(a->e, errno, q->what);
	return more == MNL_CB_ERROR ? -1 : 0;
}

/**
 * nft_ask() - Ask the kernel, and have its answers looked at
 * @a:		What to ask with
 * @q:		Question
 * @member:	Name of the chain or set that it is about
 * @data:	For @q->each
 *
 * Return: 0 on success, -1 on failure, with the error of @a set
 */
int nft_ask(struct nft_asker *a, const struct nft_question *q, const char *member, void *data)
{
	char buf[512] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct nlmsghdr *nlh = nftnl_nlmsg_build_hdr(buf, q->type, NFPROTO_INET, q->flags, 0);

	if (q->table != 0)
		mnl_attr_put_strz(nlh, q->table, EGRESS_TABLE);
	if (q->member != 0)
		mnl_attr_put_strz(nlh, q->member, member);
	if (mnl_socket_sendto(a->nl, nlh, nlh->nlmsg_len) < 0)
		return nft_error(a->e, errno, q->what);
	return receive(a, q, data);
}

/**
 * nft_asker_done() - End asking
 * @a:		What was asked with; nothing is left of it
 */
void nft_asker_done(struct nft_asker *a)
{
	if (a->nl != NULL)
		(void)mnl_socket_close(a->nl);
	a->nl = NULL;
}
