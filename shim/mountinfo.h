/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_MOUNTINFO_H
#define SHIM_MOUNTINFO_H

struct err;
struct strlist;

int mountinfo_points(const char *text, struct strlist *ret, struct err *e);

#endif
