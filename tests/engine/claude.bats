#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine
#
# The real Claude Code, as npm installs it, in a confined container.

load ../lib/confined

# native: the program for this machine; some versions of npm install that for musl beside it
native() {
	local arch=x64

	[[ $(uname -m) != aarch64 ]] || arch=arm64
	printf '%s\n' "$CLAUDE_DIR/node_modules/@anthropic-ai/claude-code-linux-$arch/claude"
}

# npm's layout: a link in the PATH to a program deep below. It is too large to copy (384 MB), so
# it is mounted into the root filesystem, which runtimes bind with all that is mounted below it.
install_claude() {
	local dir=$ROOTFS/usr/local/lib/node_modules/@anthropic-ai/claude-code/bin native

	native=$(native)
	[[ -x $native ]] || {
		echo "no Claude Code in $CLAUDE_DIR: ./setup check installs it" >&2
		return 1
	}
	mkdir -p "$dir"
	touch "$dir/claude.exe"
	mount --bind "$native" "$dir/claude.exe"
	ln -sf ../lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe "$ROOTFS/usr/local/bin/claude"
	rootfs_add_libraries "$ROOTFS" "$native"
	rootfs_add_program "$ROOTFS" /bin/bash
}

setup_file() {
	lab_prepare
}

setup() {
	container_prepare
	install_claude
}

teardown() {
	[[ -z ${mock:-} ]] || kill "$mock"
	engine_podman rm --force --time 0 --ignore "$CONTAINER" >/dev/null 2>&1
	umount "$ROOTFS/usr/local/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe"
	container_remove
}

# one_turn OPTION...: the container runs, a mock of the model is on its loopback, and "claude -p"
# takes a turn in which the model asks for $1 to be run
one_turn() {
	local command=$1 pid

	shift
	log=${ROOTFS%/*}/mock.log
	engine_podman "${engine_global[@]}" run --detach --name "$CONTAINER" \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" --rootfs "$ROOTFS" sleep 1000 3>&-
	pid=$(engine_podman inspect --format '{{.State.Pid}}' "$CONTAINER")
	nsenter --target "$pid" --net node "$SRCDIR/tests/lib/mock.mjs" 8377 "$command" "$log" 3>&- &
	mock=$!
	until [[ -e $log ]]; do kill -0 "$mock"; done
	run -0 --separate-stderr engine_podman exec "$@" \
		--env ANTHROPIC_BASE_URL=http://127.0.0.1:8377 --env ANTHROPIC_API_KEY=sk-mock \
		"$CONTAINER" claude -p hi --allowedTools Bash </dev/null
	has MOCK-DONE "$output"
	tool_result=$(jq -r '.request.messages[]? | .content[]? | objects
		| select(.type == "tool_result") | .content | if type == "array" then .[].text else . end' "$log")
}

probe='cat ~/.ssh/id_ed25519 /mnt/kube/config; echo "token=$GH_TOKEN"; echo made >made; echo uid=$(id -u)'

@test "claude: --version of the confined Claude Code is what npm installed" {
	run -0 --separate-stderr confined sh -c 'claude --version; cmp /usr/local/bin/claude \
		/usr/libexec/oci-sandbox/shim && echo by way of the shim'
	is $'2.1.332 (Claude Code)\nby way of the shim'
}

@test "claude: without the hook a turn of Claude Code hands the ssh key to the model" {
	engine_global=()
	one_turn "$probe"
	has 'STAND-IN key' "$tool_result"
	has token=STAND-IN "$tool_result"
}

@test "claude: in a confined turn the model gets no secret, and can work" {
	policy_with 'local-port = 8377' # the mock is on the container's loopback
	engine_global=(--hooks-dir "$SANDBOX_HOOKS")
	one_turn "$probe"
	has uid=1000 "$tool_result"
	run ! grep -q STAND-IN "$log" # quietly: a line of it is long
	[ "$(cat "$WORKSPACE/made")" = made ]
}

@test "claude: the same for an ordinary user" {
	container_owner 1000 "$WORKSPACE"
	policy_with 'local-port = 8377'
	engine_global=(--hooks-dir "$SANDBOX_HOOKS")
	one_turn "$probe" --user 1000
	has uid=1000 "$tool_result"
	run ! grep -q STAND-IN "$log" # quietly: a line of it is long
	[ "$(cat "$WORKSPACE/made")" = made ]
}
