/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_TOKEN_H
#define CLI_TOKEN_H

struct err;

#define TOKEN_MAX_BYTES 4096

int token_read(const char *prompt, char ret[TOKEN_MAX_BYTES], struct err *e);
int token_pipe(char token[TOKEN_MAX_BYTES], struct err *e);

#endif
