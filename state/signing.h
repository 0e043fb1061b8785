/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONFIG_SIGNING_H
#define CONFIG_SIGNING_H

#include <sys/types.h>

struct err;

/* The key that agents sign commits with: in a folder of STATE, which no agent writes */
#define SIGNING_DIR "signing"
#define SIGNING_KEY "key"
#define SIGNING_PUBLIC SIGNING_KEY ".pub"

const char *signing_program(void);
int signing_check(const char *dir, uid_t uid, struct err *e);

#endif
