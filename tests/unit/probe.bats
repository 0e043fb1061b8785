#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What --check tries is tried in a child: however that ends, it ends, and says so.
bats_require_minimum_version 1.5.0

# says WAY LINE: what is made of something that ends in this way
says() {
	run -0 --separate-stderr "$BUILDDIR/tests/lib/try-probe" "$1"
	[[ ${lines[0]} == "$2" && ${lines[1]} == "no child" && $stderr == "" ]] || {
		echo "$output"
		return 1
	}
}

@test "probe: what a child found out arrives" {
	says succeed "0 "
	says fail "-1 the thing: Operation not permitted"
	says warn "1 not so good"
	says nest "-1 the thing: Operation not permitted"
}

@test "probe: a child that does not say anything has failed" {
	says crash "-1 the process that tried it ended by signal 9"
	says leave "-1 the process that tried it said nothing"
}

@test "probe: a child that hangs is ended" {
	local start=$SECONDS

	says hang "-1 no end after 5 s"
	[[ $((SECONDS - start)) -lt 20 ]]
}
