/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_ROUTES_H
#define SHIM_ROUTES_H

#include <stdbool.h>

bool routes_lead_out(const char *ipv4, const char *ipv6);

#endif
