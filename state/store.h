/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATE_STORE_H
#define STATE_STORE_H

#include <stdbool.h>
#include <sys/types.h>

#include "strlist.h"

struct err;
struct profile;

/* Inside STATE: STATE/skills, and for each agent STATE/NAME/state, STATE/NAME/cache and share */
#define STORE_STATE "state"
#define STORE_CACHE "cache"
#define STORE_SKILLS "skills"
#define STORE_SHARE "share"
#define STORE_UPPER "upper" /* these two in the one before */
#define STORE_WORK "work"

/* In STATE/NAME, and in STATE for the skills: it has got what is imported */
#define STORE_IMPORTED "imported"

/**
 * struct store_of - which store
 * @root:	STATE, resolved
 * @home:	The developer's, resolved
 * @profile:	The agent's
 * @uid:	The developer, who is the one to own it
 */
struct store_of {
	const char *root;
	const char *home;
	const struct profile *profile;
	uid_t uid;
};

/**
 * struct store_news - what an import did
 * @imported:	Paths as the profile has them
 * @left_out:	"PATH (why)"
 *
 * Owned by the caller; store_news_done() releases it.
 */
struct store_news {
	struct strlist imported;
	struct strlist left_out;
};

char *store_root_path(const char *named, const char *home, struct err *e);
int store_root_open(const char *path, struct err *e);
int store_enter(const struct store_of *of, struct store_news *ret, struct err *e);
int store_import_again(const struct store_of *of, bool force, struct store_news *ret,
		       struct err *e);
int store_reset(const struct store_of *of, struct err *e);
void store_news_done(struct store_news *n);

#define cleanup_store_news CLEANUP(store_news_done)

#endif
