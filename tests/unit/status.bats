#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# oci-sandbox: its arguments, and what it writes where there is no container. What it says of
# containers is in tests/engine/status.bats.
bats_require_minimum_version 1.5.0

setup() {
	: "${SRCDIR:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"
	# shellcheck source=tests/lib/schema.bash
	. "$SRCDIR/tests/lib/schema.bash"
	CLI=$BUILDDIR/oci-sandbox
	INSIDE=$BUILDDIR/cli/cli
	mkdir "$BATS_TEST_TMPDIR/libexec" # no container has it
	export SRCDIR
}

# status ARG...: on a host on which nothing is under protection
status() {
	"$CLI" --libexec "$BATS_TEST_TMPDIR/libexec" status "$@"
}

@test "status: arguments that are not understood are answered with the usage" {
	local args

	while read -r args; do
		# shellcheck disable=SC2086 # words
		run -64 --separate-stderr "$CLI" $args
		[[ -z $output && $stderr == "usage: oci-sandbox "* ]]
	done <<-'END'

		nonsense
		--nonsense status
		status --nonsense
		status a b
		status --libexec
		status --libexec relative
		--json
		help --json
		version x
		status status status
		status -x
	END
	run -64 "$CLI" status ""
	run -64 "$INSIDE" state path ""
	for args in "state" "state path" "state path a b" "state path a --json" "status --force" "status x" "--libexec /x status" "nonsense" "--json version" ""; do
		# shellcheck disable=SC2086 # words
		run -64 --separate-stderr "$INSIDE" $args
		[[ -z $output && $stderr == "usage: oci-sandbox run "* && $stderr == *" status [--json]"$'\n'* ]]
	done
}

@test "status: on the host nothing is launched, and what stands before run is not its" {
	run -69 --separate-stderr "$CLI" run --print-plan claude
	[[ -z $output && $stderr == "oci-sandbox: agents are launched in a container"* ]]
	for args in "--json run --print-plan claude" "--force run claude" "--libexec /x run claude"; do
		# shellcheck disable=SC2086 # words
		run -64 "$INSIDE" $args
	done
	[[ ! -e /usr/libexec/oci-sandbox/shim ]] || return 0
	run -125 "$INSIDE" run --print-plan claude
	[[ $output == "oci-sandbox: run /usr/libexec/oci-sandbox/shim, which launches agents: No such file or directory" ]]
}

@test "status: help and version are the same as words and as options, in both programs" {
	local program

	for program in "$CLI" "$INSIDE"; do
		run -0 "$program" version
		[[ $output == "oci-sandbox "[0-9]* && $output == "$("$program" --version)" ]]
		run -0 "$program" help
		[[ $output == "usage: oci-sandbox "* && $output == "$("$program" --help)" ]]
	done
}

@test "status: what can't be written is an error" {
	run -74 bash -c '"$0" version >/dev/full' "$CLI"
	[[ $output == "oci-sandbox: write the answer: No space left on device" ]]
}

@test "status: a host without containers says so" {
	run -0 status
	[[ $output == "no container is under protection" || $output == "process "* ]]
	run -0 --separate-stderr status --json
	jq -e '.version == 1 and .where == "host" and .containers == []' <<<"$output"
	schema_fits status "$output"
}

@test "status: a host without the folder of programs is told" {
	run -71 "$CLI" --libexec "$BATS_TEST_TMPDIR/missing" status
	[[ $output == "oci-sandbox: look at $BATS_TEST_TMPDIR/missing, which every container of ours has: No such file or directory" ]]
}

@test "status: a container that was started without the hook is told in it" {
	[[ ! -e /run/oci-sandbox ]] || skip "this is a container with the hook"
	run -69 --separate-stderr "$INSIDE" status
	[[ -z $output && $stderr == "oci-sandbox: this container was started without oci-sandbox-hook"* ]]
}

@test "status: the schema is one, and refuses what is not as it says" {
	local result facts

	schema_python || skip "needs python3-jsonschema"
	facts='"egress": "open", "scope": "agent", "network": "none", "users": [], "agents": [], "capabilities": []'
	for result in '{}' '{"version": 1}' '{"version": 2, "where": "host", "containers": []}' \
		'{"version": 1, "where": "container", "containers": []}' \
		'{"version": 1, "where": "host", "containers": [{}]}' \
		"{\"version\": 1, \"where\": \"host\", \"containers\": [{$facts, \"pid\": 1}]}" \
		"{\"version\": 1, \"where\": \"container\", \"container\": {$facts}}"; do
		run ! schema_fits status "$result"
	done
	schema_fits status "{\"version\": 1, \"where\": \"host\", \"containers\": [{$facts, \"pid\": 1, \"unread\": \"x\"}]}"
	schema_fits status "{\"version\": 1, \"where\": \"sandbox\", \"container\": {$facts, \"unread\": \"x\"}}"
}
