# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Containers with an agent in them, for the suites in tests/engine. To be called in the lab.
bats_require_minimum_version 1.5.0

# shellcheck source=tests/lib/sandbox.bash
. "$(dirname "${BASH_SOURCE[0]}")/sandbox.bash"

# lab_prepare: once a file. The template of all containers has an agent "claude" that runs what it
# is told to, and a developer's secrets; each of them has "STAND-IN" in it.
lab_prepare() {
	local home template=$LAB/template

	if [[ -d $template ]]; then # a file before this one has done it
		sandbox_paths
		return
	fi
	sandbox_install
	rootfs_make "$template"
	install "$BUILDDIR/tests/lib/probe" "$BUILDDIR/tests/lib/calls" "$template/usr/bin/"
	printf '#!/bin/sh\nexec sh -c "$@"\n' >"$template/usr/local/bin/claude"
	chmod 755 "$template/usr/local/bin/claude"
	for home in root home/dev; do
		mkdir -p "$template/$home"/{.ssh,.aws,.claude}
		echo 'STAND-IN key' >"$template/$home/.ssh/id_ed25519"
		echo 'STAND-IN aws' >"$template/$home/.aws/credentials"
		echo 'STAND-IN netrc' >"$template/$home/.netrc"
		echo 'STAND-IN history' >"$template/$home/.claude/history.jsonl"
	done
	chown -R 1000:1000 "$template/home/dev"
	[[ $ENGINE != rootless ]] || rootfs_owner "$template" "$LAB_UID" "$LAB_SUBID"
}

# container_prepare: once a test. ROOTFS and WORKSPACE are the test's own; OPTIONS are for
# "podman run" and the like.
container_prepare() {
	local own=$LAB/test/$BATS_SUITE_TEST_NUMBER

	mkdir -p "$own"
	ROOTFS=$own/rootfs
	WORKSPACE=$own/workspace
	KUBE=$own/kube
	CONTAINER=t$BATS_SUITE_TEST_NUMBER
	cp -a "$LAB/template" "$ROOTFS"
	mkdir -p "$WORKSPACE"/{.git/hooks,.vscode} "$KUBE"
	echo '[core]' >"$WORKSPACE/.git/config"
	echo 'STAND-IN kubeconfig' >"$KUBE/config"
	container_owner 0 "$WORKSPACE" "$KUBE"
	mapfile -t OPTIONS < <(engine_options)
	OPTIONS+=(--volume "$WORKSPACE:/workspace" --volume "$KUBE:/mnt/kube" --workdir /workspace
		--env GH_TOKEN=STAND-IN-TOKEN)
}

# container_remove: with what a failed test may have left running
container_remove() {
	engine_podman rm --force --time 0 --ignore "$CONTAINER" >/dev/null 2>&1 || true
	rm -rf "${ROOTFS%/*}"
}

# container_owner ID PATH...: they belong to ID of the container
container_owner() {
	local id=$1

	shift
	if [[ $ENGINE == rootless ]]; then
		if [[ $id -eq 0 ]]; then
			id=$LAB_UID
		else
			id=$((LAB_SUBID + id - 1))
		fi
	fi
	chown -R "$id:$id" "$@"
}

# confined COMMAND...: in a container that is ours, with the hook
confined() {
	engine_podman --hooks-dir "$SANDBOX_HOOKS" run --rm --name "$CONTAINER" \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" --rootfs "$ROOTFS" "$@"
}

# unconfined COMMAND...: the same container without the hook
unconfined() {
	engine_podman run --rm --name "$CONTAINER" \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" --rootfs "$ROOTFS" "$@"
}

# refused MESSAGE OPTION...: a launch with these options runs no agent code, says so, and is 125
refused() {
	local message=$1

	shift
	OPTIONS+=("$@")
	run -125 --separate-stderr confined claude 'echo the agent ran'
	is ''
	has "$message" "$stderr"
}

# folder PATH...: of the container's root file system, container root's from the top
folder() {
	local path

	for path; do
		mkdir -p "$ROOTFS$path"
		path=${path#/}
		container_owner 0 "$ROOTFS/${path%%/*}"
	done
}

# within SECONDS COMMAND...: wait until the command succeeds
within() {
	local deadline=$((SECONDS + $1))

	shift
	until "$@"; do
		((SECONDS < deadline)) || {
			printf 'still not: %s\n' "$*" >&2
			return 1
		}
	done
}

# sessions_are_over: in the container nothing runs but its first process, and the three that ask
sessions_are_over() {
	# shellcheck disable=SC2016
	[[ $(engine_podman exec "$CONTAINER" sh -c 'cat /proc/[0-9]*/stat | grep -cv ") Z "') -eq 4 ]]
}

# is EXPECTED: $output is just that
is() {
	[[ $output == "$1" ]] || {
		printf 'expected: %s\n     got: %s\n  stderr: %s\n' "$1" "$output" "${stderr:-}" >&2
		return 1
	}
}

# has TEXT GOT: TEXT is part of GOT
has() {
	[[ $2 == *"$1"* ]] || {
		printf 'expected in it: %s\n           got: %s\n' "$1" "$2" >&2
		return 1
	}
}

# policy_with LINE: from here on, the test's containers have a policy that says this as well, and
# not what an earlier call has said
policy_with() {
	local own=${ROOTFS%/*}

	sandbox_paths
	rm -rf "$own/config"
	cp -r "$SANDBOX_CONFIG" "$own/config"
	printf '%s\n' "$1" >>"$own/config/policy.conf"
	SANDBOX_CONFIG=$own/config
	SANDBOX_HOOKS=$own/hooks.d
	sandbox_hooks "$SANDBOX_HOOKS" "$SANDBOX_CONFIG" "$SANDBOX_LIBEXEC"
}
