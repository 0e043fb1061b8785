/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_CREATE_H
#define HOOK_CREATE_H

struct err;
struct hook_paths;

int hook_create(const struct hook_paths *paths, const char *state, struct err *e);

#endif
