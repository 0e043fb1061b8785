/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_STORES_H
#define SHIM_STORES_H

struct err;
struct launch;
struct store_news;

int stores_enter(struct launch *l, struct store_news *ret, struct err *e);

#endif
