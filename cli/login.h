/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_LOGIN_H
#define CLI_LOGIN_H

#include "policy.h"

struct cli_arguments;
struct err;
struct run_dir;

int login_run(const struct run_dir *r, enum policy_forge_tool tool, const struct cli_arguments *a,
	      struct err *e);

#endif
