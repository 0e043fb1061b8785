/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_SIGN_H
#define CLI_SIGN_H

struct cli_arguments;
struct err;
struct run_dir;

int sign_run(const struct run_dir *r, const struct cli_arguments *a, struct err *e);

#endif
