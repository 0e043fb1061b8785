/* SPDX-License-Identifier: Apache-2.0 */
#ifndef UTIL_FDS_H
#define UTIL_FDS_H

#include <stddef.h>

struct err;

#define FDS_MAX 253 /* SCM_MAX_FD, include/net/scm.h */

int fds_send(int sock, const void *data, size_t bytes, const int *fds, size_t n, struct err *e);
int fds_receive(int sock, void *data, size_t bytes, int *fds, size_t max, size_t *ret_n,
		struct err *e);

#endif
