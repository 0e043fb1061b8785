/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_HOST_H
#define HOOK_HOST_H

struct err;
struct hook_paths;
struct results;

int host_check(const struct hook_paths *paths, struct results *ret, struct err *e);

#endif
