/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_REGISTER_H
#define HOOK_REGISTER_H

#include <stdio.h>

struct err;
struct hook_paths;

/* A description has one list of arguments, so each stage has its own */
#define REGISTER_FILE "50-oci-sandbox.json"
#define REGISTER_FILE_POSTSTART "50-oci-sandbox-poststart.json"

int register_podman(const struct hook_paths *paths, FILE *out, struct err *e);
int unregister_podman(const struct hook_paths *paths, FILE *out, struct err *e);

#endif
