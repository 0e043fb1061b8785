/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_BATCH_H
#define EGRESS_BATCH_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct nft_batch;
struct nlmsghdr;

/* Room for one message: what fits into one attribute, and the headers around it */
#define NFT_BATCH_MSG_BYTES ((64 + 4) * 1024)

struct nft_batch *nft_batch_new(struct err *e);
struct nft_batch *nft_batch_free(struct nft_batch *b);
struct nlmsghdr *nft_batch_add(struct nft_batch *b, const char *what, uint16_t type,
			       uint16_t flags);
size_t nft_batch_bytes(const struct nft_batch *b);
int nft_batch_commit(struct nft_batch *b, struct err *e);
int nft_error(struct err *e, int code, const char *what);

static inline void nft_batch_p(struct nft_batch **b)
{
	(void)nft_batch_free(*b);
}

#define cleanup_nft_batch CLEANUP(nft_batch_p)

#endif
