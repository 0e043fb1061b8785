/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_LIBEXEC_H
#define HOOK_LIBEXEC_H

struct err;
struct survey_id;

#define LIBEXEC_SHIM "shim"

int libexec_open(const char *dir, struct survey_id *ret_shim, struct err *e);

#endif
