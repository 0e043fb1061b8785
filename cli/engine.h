/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ENGINE_H
#define CLI_ENGINE_H

struct err;

char *engine_find_id(const char *name, struct err *e);

#endif
