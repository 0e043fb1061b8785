/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATE_SETTINGS_H
#define STATE_SETTINGS_H

#include <stddef.h>

const char *settings_refusal(const char *text, char *word, size_t size);

#endif
