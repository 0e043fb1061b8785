/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOOK_DECIDE_H
#define HOOK_DECIDE_H

struct err;
struct oci_config;
struct policy;

int decide(const struct oci_config *c, const struct policy *p, const char **ret_why,
	   const char **ret_policy, struct err *e);

#endif
