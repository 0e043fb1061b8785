/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_ENV_H
#define CONFIG_ENV_H

struct err;

int env_name_check(const char *name, struct err *e);

#endif
