/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_TRIAL_H
#define HOOK_TRIAL_H

struct err;
struct hook_paths;
struct results;

#define TRIAL_SECONDS 60 /* at most, unless told otherwise */
#define TRIAL_SECONDS_MAX 3600

int trial_podman(const struct hook_paths *paths, int seconds, struct results *ret, struct err *e);

#endif
