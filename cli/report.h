/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdio.h>

struct container;
struct containers;
struct err;

void report_print_list(const struct containers *all, FILE *f);
void report_print_container(const struct container *c, FILE *f);
int report_print_json(const struct containers *all, const struct container *one, FILE *f,
		      struct err *e);

#endif
