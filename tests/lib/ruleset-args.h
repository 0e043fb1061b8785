/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_LIB_RULESET_ARGS_H
#define TESTS_LIB_RULESET_ARGS_H

struct err;
struct ruleset;

int ruleset_from_args(char **args, struct ruleset *ret, struct err *e);

#endif
