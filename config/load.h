/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_LOAD_H
#define CONFIG_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "cleanup.h"
#include "policy.h"
#include "profile.h"

struct err;

/**
 * struct loaded_profile - a profile, and the file that it came from
 * @profile:	As parsed
 * @text:	As it is in the file, owned
 */
struct loaded_profile {
	struct profile profile;
	char *text;
};

/**
 * struct loaded_profiles - the profiles that a policy names
 * @v:	In the policy's order
 * @n:	How many
 *
 * Owned by the caller; loaded_profiles_done() releases it.
 */
struct loaded_profiles {
	struct loaded_profile *v;
	size_t n;
};

int load_policy(const char *dir, struct policy *ret, bool *ret_missing, struct err *e);
int load_named_policy(const char *dir, const char *name, struct policy *ret, struct err *e);
int load_profiles(const char *dir, const struct policy *p, struct loaded_profiles *ret,
		  struct err *e);
void loaded_profiles_done(struct loaded_profiles *l);

#define cleanup_loaded_profiles CLEANUP(loaded_profiles_done)

#endif
