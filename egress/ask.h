/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_ASK_H
#define EGRESS_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

struct err;

/**
 * struct nft_asker - what questions to the kernel are asked with
 * @nl:		Socket of the network namespace that it was opened in
 * @e:		Set on failure; a callback that ends the reading for a reason of its own sets it
 * @wrong:	A callback has set @e
 */
struct nft_asker {
	struct mnl_socket *nl;
	struct err *e;
	bool wrong;
};

/**
 * struct nft_question - what to ask for
 * @what:	For error messages
 * @type:	NFT_MSG_GET*
 * @flags:	NLM_F_DUMP, or NLM_F_ACK for a single object
 * @table:	Attribute that names the table, 0 for none
 * @member:	Attribute that names chain or set, 0 for none
 * @each:	Called with each answer
 */
struct nft_question {
	const char *what;
	uint16_t type;
	uint16_t flags;
	uint16_t table;
	uint16_t member;
	mnl_cb_t each;
};

int nft_asker_open(struct nft_asker *ret, struct err *e);
int nft_ask(struct nft_asker *a, const struct nft_question *q, const char *member, void *data);
void nft_asker_done(struct nft_asker *a);

#define cleanup_nft_asker CLEANUP(nft_asker_done)

#endif
