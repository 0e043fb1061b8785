/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_GITCONFIG_H
#define SHIM_GITCONFIG_H

struct err;

char *gitconfig_make(const char *name, const char *email, const char *workspace, struct err *e);

#endif
