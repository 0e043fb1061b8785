/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_INSTALLED_H
#define HOOK_INSTALLED_H

struct err;
struct hook_paths;

#define INSTALLED_WARNING 1

/*
 * Each looks at what an administrator put on the host.  0 if it is as it should be; -1 if no
 * container can be confined that way, with @e set; INSTALLED_WARNING, with @e set, if it may be
 * meant so.
 */
int installed_programs(const struct hook_paths *paths, struct err *e);
int installed_policy(const struct hook_paths *paths, struct err *e);
int installed_profiles(const struct hook_paths *paths, struct err *e);
int installed_podman(const struct hook_paths *paths, struct err *e);
int installed_ids(const struct hook_paths *paths, struct err *e);

#endif
