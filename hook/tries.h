/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_TRIES_H
#define HOOK_TRIES_H

struct err;
struct hook_paths;

/*
 * Each does what the hook or the shim needs of the kernel, for real, and in namespaces of its
 * own: to be called in a process that ends afterwards.  As an ordinary user it is in a user
 * namespace, as the hook of a rootless engine is.  0 on success, -1 on failure.
 */
int try_openat2(const struct hook_paths *paths, struct err *e);
int try_mounts(const struct hook_paths *paths, struct err *e);
int try_enter(const struct hook_paths *paths, struct err *e);
int try_nft(const struct hook_paths *paths, struct err *e);
int try_veth(const struct hook_paths *paths, struct err *e);
int try_sandbox(const struct hook_paths *paths, struct err *e);

#endif
