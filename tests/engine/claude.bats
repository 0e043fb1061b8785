#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim
#
# The real Claude Code, as npm installs it, in a confined container.

load ../lib/agents

setup_file() {
	lab_prepare
}

setup() {
	container_prepare
	claude_install
}

teardown() {
	agents_remove
}

# one_turn OPTION...: "claude -p" takes a turn in which the model asks for $1 to be run
one_turn() {
	local command=$1

	shift
	model_start "$command"
	run -0 --separate-stderr engine_podman exec "$@" \
		--env ANTHROPIC_BASE_URL=http://127.0.0.1:8377 --env ANTHROPIC_API_KEY=sk-mock \
		"$CONTAINER" claude -p hi --allowedTools Bash </dev/null
	has MOCK-DONE "$output"
	tool_result=$(jq -r '.request.messages[]? | .content[]? | objects
		| select(.type == "tool_result") | .content | if type == "array" then .[].text else . end' "$LOG")
}

probe='cat ~/.ssh/id_ed25519 /mnt/kube/config; echo "token=$GH_TOKEN"; echo made >made; echo uid=$(id -u)'

@test "claude: --version of the confined Claude Code is what npm installed" {
	run -0 --separate-stderr confined sh -c 'claude --version; cmp /usr/local/bin/claude \
		/usr/libexec/oci-sandbox/shim && echo by way of the shim'
	is $'2.1.332 (Claude Code)\nby way of the shim'
}

@test "claude: without the hook a turn of Claude Code hands the ssh key to the model" {
	HOOKED="" one_turn "$probe"
	has 'STAND-IN key' "$tool_result"
	has token=STAND-IN "$tool_result"
}

@test "claude: in a confined turn the model gets no secret, and can work" {
	policy_with 'local-port = 8377' # the mock is on the container's loopback
	one_turn "$probe"
	has uid=1000 "$tool_result"
	run ! grep -q STAND-IN "$LOG" # quietly: a line of it is long
	[ "$(cat "$WORKSPACE/made")" = made ]
}

@test "claude: the same for an ordinary user" {
	container_owner 1000 "$WORKSPACE"
	policy_with 'local-port = 8377'
	one_turn "$probe" --user 1000
	has uid=1000 "$tool_result"
	run ! grep -q STAND-IN "$LOG" # quietly: a line of it is long
	[ "$(cat "$WORKSPACE/made")" = made ]
}
