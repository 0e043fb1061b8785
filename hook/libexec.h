/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_LIBEXEC_H
#define HOOK_LIBEXEC_H

struct err;
struct survey_id;

#define LIBEXEC_SHIM "shim"
#define LIBEXEC_CLI "cli" /* what people type in a container, CLI_COMMAND */

int libexec_open(const char *dir, struct survey_id *ret_shim, struct err *e);

#endif
