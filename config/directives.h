/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_DIRECTIVES_H
#define CONFIG_DIRECTIVES_H

#include <stdbool.h>
#include <stddef.h>

struct err;

#define DIRECTIVES_MAX_BYTES (16 * 1024 * 1024)

/**
 * struct directive - one key of a file format
 * @key:	As it is written
 * @set:	Checks @value and stores it in the structure; sets e without naming file, line
 *		or key, which the reader adds
 * @offset:	Of the member in that structure; its address is passed to @set
 * @single:	Given twice is an error
 * @bare:	The key stands alone; @value is then ""
 */
struct directive {
	const char *key;
	int (*set)(void *member, const char *value, struct err *e);
	size_t offset;
	bool single;
	bool bare;
};

int directives_read(char *text, const char *name, const struct directive *table, size_t n,
		    void *dst, struct err *e);

/* For @set: what more than one file format stores */
int directive_string(void *member, const char *value, struct err *e);
int directive_path(void *member, const char *value, struct err *e);
int directive_env(void *member, const char *value, struct err *e);
int directive_port(void *member, const char *value, struct err *e);

int directive_number(const char *value, unsigned long min, unsigned long max, unsigned long *ret,
		     struct err *e);

#endif
