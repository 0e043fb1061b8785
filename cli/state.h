/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_STATE_H
#define CLI_STATE_H

struct cli_arguments;
struct err;
struct run_dir;

int state_run(const struct run_dir *r, const struct cli_arguments *a, struct err *e);

#endif
