#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine
#
# Agents that the image has, in the layouts of those who install them: whatever finds them in PATH
# finds the shim, and the shim finds them, with what they look for beside themselves.

load ../lib/confined

setup_file() {
	lab_prepare
}

setup() {
	container_prepare
	container_owner 1000 "$WORKSPACE"
	rm "$ROOTFS/usr/local/bin/claude"
	HOME_DIR=$ROOTFS/home/dev
	USER_PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
}

teardown() {
	container_remove
}

# An agent says where it is and what it finds in the file "beside"
# shellcheck disable=SC2016 # the agent's
agent='#!/bin/sh
dir=$(dirname "$(readlink -f "$0")")
echo "$dir/$(basename "$0"): $(cat "$dir/${BESIDE:-beside}")"
test -e /run/oci-sandbox/session/facts || echo "not in a sandbox"
test -z "$1" || exec sh -c "$1"'

# program PATH TEXT: an agent there, with TEXT beside it
program() {
	mkdir -p "$(dirname "$ROOTFS$1")"
	printf '%s\n' "$agent" >"$ROOTFS$1"
	chmod 755 "$ROOTFS$1"
	printf '%s\n' "$2" >"$(dirname "$ROOTFS$1")/beside"
}

# link TARGET PATH: a symlink
link() {
	mkdir -p "$(dirname "$ROOTFS$2")"
	ln -s "$1" "$ROOTFS$2"
}

# launches OUTPUT COPY...: as user dev, the agent says OUTPUT; each COPY is the shim
launches() {
	local expected=$1 copy copies=''

	shift
	for copy; do
		copies+="cmp -s /usr/libexec/oci-sandbox/shim $copy || echo '$copy is not the shim';"
	done
	container_owner 1000 "$HOME_DIR"
	run -0 engine_podman --hooks-dir "$SANDBOX_HOOKS" run --rm --name "$CONTAINER" --user 1000 \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" --env HOME=/home/dev \
		--env "PATH=$USER_PATH" --rootfs "$ROOTFS" /bin/sh -c "$copies claude && claude 'claude'"
	# the second is launched by the first: in the same sandbox, and in the same place
	is "$expected"$'\n'"$expected"$'\n'"$expected"
}

@test "covering: a plain file" {
	program /usr/bin/claude 'a plain file'
	launches '/usr/bin/claude: a plain file' /usr/bin/claude /usr/local/sbin/claude
}

@test "covering: a link of npm's into node_modules" {
	program /usr/local/lib/node_modules/@x/claude/cli.js "npm's"
	link ../lib/node_modules/@x/claude/cli.js /usr/local/bin/claude
	launches "/usr/local/lib/node_modules/@x/claude/cli.js: npm's" /usr/local/bin/claude
}

@test "covering: several copies, of which the first in PATH runs" {
	program /usr/local/bin/claude first
	program /usr/bin/claude second
	program /opt/claude/claude third
	link /opt/claude/claude /bin/claude
	launches '/usr/local/bin/claude: first' /usr/local/bin/claude /usr/bin/claude /bin/claude
}

@test "covering: a link to another copy in PATH" {
	program /usr/bin/claude 'behind a link'
	link /usr/bin/claude /usr/local/bin/claude
	launches '/usr/bin/claude: behind a link' /usr/local/bin/claude /usr/bin/claude
}

@test "covering: nvm" {
	local bin=/home/dev/.nvm/versions/node/v22.1.0/bin

	program "${bin%bin}lib/node_modules/@x/claude/cli.js" "nvm's"
	link ../lib/node_modules/@x/claude/cli.js "$bin/claude"
	USER_PATH=$bin:$USER_PATH
	launches "${bin%bin}lib/node_modules/@x/claude/cli.js: nvm's" "$bin/claude" /usr/local/sbin/claude
}

@test "covering: pnpm, whose scripts look beside themselves" {
	local dir=/home/dev/.local/share/pnpm

	program "$dir/claude" "pnpm's"
	USER_PATH=$dir:$USER_PATH
	launches "$dir/claude: pnpm's" "$dir/claude"
}

@test "covering: pipx" {
	local venv=/home/dev/.local/share/pipx/venvs/claude

	program "$venv/bin/claude" "pipx's"
	link "$venv/bin/claude" /home/dev/.local/bin/claude
	USER_PATH=/home/dev/.local/bin:$USER_PATH
	launches "$venv/bin/claude: pipx's" /home/dev/.local/bin/claude
}

@test "covering: cargo" {
	program /home/dev/.cargo/bin/claude "cargo's"
	USER_PATH=/home/dev/.cargo/bin:$USER_PATH
	launches "/home/dev/.cargo/bin/claude: cargo's" /home/dev/.cargo/bin/claude
}

# One program that looks at the name it is called by, as busybox does.
@test "covering: volta" {
	mkdir -p "$HOME_DIR/.volta/bin"
	cp "$ROOTFS/bin/busybox" "$HOME_DIR/.volta/bin/volta-shim"
	ln -s volta-shim "$HOME_DIR/.volta/bin/whoami"
	policy_with 'agents = volta'
	sed -i '/^agents = claude/d' "$SANDBOX_CONFIG/policy.conf"
	printf 'commands = whoami\nstate = .volta-agent\n' >"$SANDBOX_CONFIG/agents/volta.conf"
	container_owner 1000 "$HOME_DIR"
	run -0 engine_podman --hooks-dir "$SANDBOX_HOOKS" run --rm --name "$CONTAINER" --user 1000 \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" --env HOME=/home/dev \
		--env "PATH=/home/dev/.volta/bin:$USER_PATH" --rootfs "$ROOTFS" /bin/sh -c \
		'cmp /usr/libexec/oci-sandbox/shim /home/dev/.volta/bin/whoami && cmp /usr/libexec/oci-sandbox/shim /usr/local/sbin/whoami && /home/dev/.volta/bin/whoami'
	is dev
}

@test "covering: folders of the user's come first in PATH, and 200 more" {
	local long

	program /home/dev/bin/claude 'in the home'
	program /usr/bin/claude 'not in the home'
	long=$(printf '/home/dev/bin/%s:' {1..200})
	mkdir -p "$HOME_DIR"/bin/{1..200}
	cp "$ROOTFS/home/dev/bin/claude" "$HOME_DIR/bin/77/"
	policy_with 'home-read = bin'
	USER_PATH=/home/dev/bin:$long$USER_PATH
	launches '/home/dev/bin/claude: in the home' /home/dev/bin/claude /home/dev/bin/77/claude /usr/bin/claude
}

@test "covering: a folder of PATH that is a link" {
	program /opt/tools/bin/claude 'behind a folder'
	ln -s /opt/tools/bin "$ROOTFS/usr/tools"
	USER_PATH=/usr/tools:$USER_PATH
	launches '/opt/tools/bin/claude: behind a folder' /usr/tools/claude /opt/tools/bin/claude
}

# npm_package VERSION: as "npm pack" makes them, in the workspace
npm_package() {
	local dir=${ROOTFS%/*}/npm

	mkdir -p "$dir/package"
	printf '{"name": "agent", "version": "%s.0.0", "bin": {"claude": "cli.js"}}\n' "$1" >"$dir/package/package.json"
	printf '#!/usr/bin/env node\nconsole.log("version %s", require("fs").existsSync("/run/oci-sandbox/session/facts"));\n' \
		"$1" >"$dir/package/cli.js"
	chmod 755 "$dir/package/cli.js"
	tar -C "$dir" -czf "$WORKSPACE/agent-$1.tgz" package
}

@test "covering: npm install -g in the running container" {
	local npm

	rootfs_add_program "$ROOTFS" "$(readlink -f "$(command -v node)")"
	npm=$(readlink -f "$(command -v npm)")
	npm_package 1
	npm_package 2
	container_owner 0 "$WORKSPACE"
	OPTIONS+=(--volume /usr/share:/usr/share:ro --volume /usr/lib:/usr/lib:ro)
	npm="node $npm install -g --prefix /usr/local --offline --no-audit --no-fund"

	# where the image has none, it works and is confined
	run -0 --separate-stderr confined sh -c "$npm /workspace/agent-1.tgz >/dev/null && claude"
	is 'version 1 true'
	# what the image has is covered, and is updated in the image; a try breaks nothing
	run -0 --separate-stderr confined sh -c "$npm /workspace/agent-2.tgz; claude"
	has EBUSY "$stderr"
	is 'version 1 true'
	run -0 --separate-stderr unconfined sh -c "$npm /workspace/agent-2.tgz >/dev/null"
	run -0 --separate-stderr confined claude
	is 'version 2 true'
}
