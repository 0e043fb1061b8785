# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Containers with the real agents, as npm installs them, and a mock of the model they talk to.

# shellcheck source=tests/lib/confined.bash
. "$(dirname "${BASH_SOURCE[0]}")/confined.bash"

# agent_arch X64 ARM64: the one that is this machine's name
agent_arch() {
	if [[ $(uname -m) == aarch64 ]]; then
		printf '%s\n' "$2"
	else
		printf '%s\n' "$1"
	fi
}

# agent_mount FROM TO: FROM of the machine at TO in ROOTFS. What npm installs is too large to copy,
# and runtimes bind a root filesystem with all that is mounted below it.
agent_mount() {
	[[ -e $1 ]] || {
		echo "no $1: ./setup check installs it" >&2
		return 1
	}
	if [[ -d $1 ]]; then
		mkdir -p "$ROOTFS$2"
	else
		mkdir -p "$(dirname "$ROOTFS$2")"
		touch "$ROOTFS$2"
	fi
	mount --bind "$1" "$ROOTFS$2"
	AGENT_MOUNTS+=("$ROOTFS$2")
}

# agents_unmount: what agent_mount() has mounted, when no container uses it any more
agents_unmount() {
	local at

	for at in "${AGENT_MOUNTS[@]}"; do
		umount "$at"
	done
}

# claude_install: npm's layout, a link in the PATH to a program deep below; CLAUDE is that program
claude_install() {
	local native

	# some versions of npm install the one for musl beside it
	native=$CLAUDE_DIR/node_modules/@anthropic-ai/claude-code-linux-$(agent_arch x64 arm64)/claude
	CLAUDE=/usr/local/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe
	agent_mount "$native" "$CLAUDE"
	ln -sf "..${CLAUDE#/usr/local}" "$ROOTFS/usr/local/bin/claude"
	rootfs_add_libraries "$ROOTFS" "$native"
	rootfs_add_program "$ROOTFS" /bin/bash
}

# codex_install: the static program that npm's launcher starts, with what it expects beside it; CODEX
# is that program
codex_install() {
	CODEX=/usr/local/lib/codex/bin/codex
	agent_mount "$CODEX_DIR/node_modules/@openai/codex-linux-$(agent_arch x64 arm64)/vendor/$(
		agent_arch x86_64 aarch64)-unknown-linux-musl" "${CODEX%/bin/codex}"
	ln -sf ../lib/codex/bin/codex "$ROOTFS/usr/local/bin/codex"
	rootfs_add_program "$ROOTFS" /bin/bash
}

# model_start COMMAND: the container runs, and a mock of the model is on its loopback, which asks for
# COMMAND to be run; LOG has what it was asked. HOOKED empty: the container is without the hook.
model_start() {
	local pid hooks=(--hooks-dir "$SANDBOX_HOOKS")

	[[ -n ${HOOKED-yes} ]] || hooks=()
	LOG=${ROOTFS%/*}/mock.log
	engine_podman "${hooks[@]}" run --detach --name "$CONTAINER" \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" --rootfs "$ROOTFS" sleep 1000 3>&-
	pid=$(engine_podman inspect --format '{{.State.Pid}}' "$CONTAINER")
	nsenter --target "$pid" --net node "$SRCDIR/tests/lib/mock.mjs" 8377 "$1" "$LOG" 3>&- &
	MODEL=$!
	until [[ -e $LOG ]]; do kill -0 "$MODEL"; done
}

# agents_remove: the end of a test
agents_remove() {
	[[ -z ${MODEL:-} ]] || kill "$MODEL"
	engine_podman rm --force --time 0 --ignore "$CONTAINER" >/dev/null 2>&1
	agents_unmount
	container_remove
}
