/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOME_H
#define CLI_HOME_H

struct err;

char *home_find(struct err *e);

#endif
