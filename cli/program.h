/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

struct err;

int program_run(const char *path, const char *const argv[], const char *home, int input,
		struct err *e);

#endif
