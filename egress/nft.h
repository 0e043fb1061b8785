/* SPDX-License-Identifier: Apache-2.0 */
#ifndef EGRESS_NFT_H
#define EGRESS_NFT_H

struct err;
struct ruleset;

#define EGRESS_TABLE "oci_sandbox"

int egress_commit(const struct ruleset *r, struct err *e);
int egress_verify(const struct ruleset *r, struct err *e);

#endif
