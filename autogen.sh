#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes ./configure; needs autoconf, automake and pkg-config.
cd "$(dirname "$0")" && exec autoreconf -fi
