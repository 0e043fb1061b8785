# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# tests/lib/swap in the background of a bats test.

# swapper_start ARG...: what tests/lib/swap does, without a pause
swapper_start() {
	"$BUILDDIR/tests/lib/swap" "$@" >"$BATS_TEST_TMPDIR/swaps" 2>&1 </dev/null 3>&- 4>&- &
	SWAPPER=$!
}

# swapper_stop: also if none was started
swapper_stop() {
	[[ -n ${SWAPPER:-} ]] || return 0
	kill "$SWAPPER" 2>/dev/null || true
	wait "$SWAPPER" || true
	SWAPPER=
}

# swapper_was_there: all the time, until it was stopped
swapper_was_there() {
	(($(<"$BATS_TEST_TMPDIR/swaps") > 1000))
}
