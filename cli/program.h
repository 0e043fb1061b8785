/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

struct err;

#define PROGRAM_PATH "/usr/local/bin:/usr/bin:/bin"

const char *program_find(const char *name, char ret[], unsigned size);
int program_run(const char *path, const char *const argv[], const char *home, int input,
		struct err *e);

#endif
