/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FACTS_H
#define CLI_FACTS_H

#include <stdio.h>

struct json_out;
struct run_dir;

void facts_print_text(FILE *f, const char *text);
void facts_print_head(FILE *f, const char *name);
const char *facts_egress(const struct run_dir *r);
const char *facts_scope(const struct run_dir *r);
void facts_print(FILE *f, const struct run_dir *r);
void facts_add_json(struct json_out *o, const struct run_dir *r);

#endif
