#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,runtime
#
# oci-sandbox status of containers that no engine knows.
bats_require_minimum_version 1.5.0

setup_file() {
	export SRCDIR=${SRCDIR:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	export BUILDDIR=${BUILDDIR:-$SRCDIR/build}
	# shellcheck source=tests/lib/bundle.bash
	. "$SRCDIR/tests/lib/bundle.bash"
	bundle_setup_file
}

setup() {
	# shellcheck source=tests/lib/bundle.bash
	. "$SRCDIR/tests/lib/bundle.bash"
	bundle_setup
}

teardown() {
	for CID in like-1 like-10 unlike; do
		bundle_teardown
	done
}

status() {
	"$BUILDDIR/oci-sandbox" --libexec "$HOOK_LIBEXEC" status "$@"
}

# create ID [FILTER]: another container of the bundle
create() {
	CID=$1
	config ".linux.cgroupsPath = \"/\\(\$group)/\\(\$cid)\" | ${2:-.}"
	container_create
}

@test "status: a container is found by its id, and by the beginning of it that no other has" {
	hook_policy 'agents = claude' 'egress = allowlist' 'egress-scope = agent'
	create like-1
	create like-10
	create unlike '.process.env -= ["OCI_SANDBOX=1"]'
	run -0 status
	[[ ${#lines[@]} == 3 && $output == *"like-1  "*"allowlist"*"agent"*"like-10 "* ]]
	run -0 status like-1
	[[ ${lines[0]} == "container    like-1" && ${lines[1]} == "policy       $HOOK_CONFIG/policy.conf" ]]
	run -64 --separate-stderr status like
	[[ -z $output && $stderr == 'oci-sandbox: `like` is the beginning of several ids: like-1 (process '*') like-10 (process '*')' ]]
	run -66 status unlike
	runtime delete --force like-1
	run -0 --separate-stderr status --json like
	jq -e '.containers[0].id == "like-10" and .containers[0].scope == "agent"' <<<"$output"
}

@test "status: what an older hook has left is shown without an id" {
	create like-1
	run -0 nsenter --target "$PID" --mount --pid "--root=/proc/$PID/root" /bin/sh -c '
		cd /run/oci-sandbox && mount -o remount,bind,rw /run/oci-sandbox && sed -i "/^id = /d; /^policy = /d" container &&
			mount -o remount,bind,ro,nosuid,nodev /run/oci-sandbox'
	run -0 status
	[[ ${#lines[@]} == 2 && ${lines[1]} == "?  "* ]]
	run -0 --separate-stderr status --json
	jq -e '.containers[0] | (has("id") or has("policy") | not) and .pid > 0' <<<"$output"
}
