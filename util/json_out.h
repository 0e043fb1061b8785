/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_JSON_OUT_H
#define UTIL_JSON_OUT_H

#include <stdbool.h>
#include <stdio.h>

#include "cleanup.h"

struct err;
struct json_out;

struct json_out *json_out_new(void);
void json_out_open(struct json_out *o, char bracket);
void json_out_close(struct json_out *o, char bracket);
void json_out_key(struct json_out *o, const char *key);
void json_out_string(struct json_out *o, const char *text);
void json_out_integer(struct json_out *o, long long value);
void json_out_bool(struct json_out *o, bool value);
int json_out_print(struct json_out *o, FILE *f, struct err *e);
void json_out_free(struct json_out *o);

static inline void json_out_p(struct json_out **o)
{
	json_out_free(*o);
}

#define cleanup_json_out CLEANUP(json_out_p)

#endif
