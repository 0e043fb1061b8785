#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim
#
# Launches in containers that are not as one expects: homes, names and mounts of all kinds.

load ../lib/confined

setup_file() {
	lab_prepare
}

setup() {
	container_prepare
}

teardown() {
	container_remove
}

# workspace_at PATH: the workspace is there, and the container starts in it
workspace_at() {
	OPTIONS=("${OPTIONS[@]/#$WORKSPACE:*/$WORKSPACE:$1}")
	OPTIONS+=(--workdir "$1")
}

# running: a container that waits, for "podman exec"
running() {
	engine_podman --hooks-dir "$SANDBOX_HOOKS" run --detach --name "$CONTAINER" \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" --rootfs "$ROOTFS" sleep 1000 3>&-
}

@test "home: one that is reached through a symlink is the one that it leads to" {
	folder /var/home
	mv "$ROOTFS/root" "$ROOTFS/var/home/me"
	ln -s var/home/me "$ROOTFS/root"
	OPTIONS+=(--env HOME=/root)
	run -0 --separate-stderr confined sh -c 'claude "echo x >~/.claude/note; ls -A ~/.ssh /var/home/me/.ssh 2>/dev/null; echo \$HOME"
		claude "cat /root/.claude/note"'
	is $'/var/home/me\nx'
}

@test "home: below /workspaces, beside the workspace" {
	folder /workspaces/home/.ssh
	workspace_at /workspaces/p
	OPTIONS+=(--env HOME=/workspaces/home)
	run -0 --separate-stderr confined claude 'ls -A /workspaces/home/.ssh 2>/dev/null; ls -A /workspaces; echo x >file; echo ran'
	is $'home\np\nran'
}

@test "home: the workspace is below it" {
	workspace_at /root/projects/p
	run -0 --separate-stderr confined claude 'echo x >file; echo y >../beside; ls -A ~/projects ~/.ssh 2>/dev/null; echo ran'
	has ran "$output"
	[ -e "$WORKSPACE/file" ]
	[ ! -e "$ROOTFS/root/projects/beside" ]
	[[ $output != *id_ed25519* ]]
}

@test "home: unset and empty it is that of passwd" {
	# shellcheck disable=SC2016 # the container's
	run -0 --separate-stderr confined sh -c 'env -u HOME claude "echo \$HOME"; HOME= claude "echo \$HOME"'
	is $'/root\n/root'
}

@test "home: relative, missing, the root, and the workspace are refused" {
	refused 'HOME is not set to an absolute path' --env HOME=root
	refused 'home /nowhere: No such file' --env HOME=/nowhere
	refused 'HOME is /' --env HOME=/
	refused 'your home (/workspace) is in it' --env HOME=/workspace
}

@test "home: one that is somebody else's is no place for the state, and that is said" {
	container_owner 1000 "$WORKSPACE"
	chmod 700 "$ROOTFS/root"
	OPTIONS+=(--user 1000 --env HOME=/root)
	refused 'state store /root/.local/state/oci-sandbox'
}

@test "names: spaces, newlines, backslashes and UTF-8 in workspace and mounts" {
	local name=$'a b\\ \u00e4\u20ac'

	workspace_at "/work/$name"
	OPTIONS+=(--volume "$KUBE:/mnt/$name")
	run -0 --separate-stderr confined claude 'pwd; echo x >file; ls -A "/mnt/$(basename "$PWD")"; echo x >>.git/config; echo ran'
	is "/work/$name"$'\nran'
	[ -e "$WORKSPACE/file" ]
	has 'Read-only file system' "$stderr"
	folder $'/nl/a\nb/.vscode'
	run -0 --separate-stderr confined sh -c 'cd /nl/a* && claude "echo x >file; echo x >.vscode/x; ls -A"'
	is $'.vscode\nfile'
	[ -z "$(ls -A "$ROOTFS"/nl/a*/.vscode)" ]
}

@test "workspace: the current folder is reached through a symlink" {
	# shellcheck disable=SC2016 # the container's
	run -0 --separate-stderr confined sh -c 'ln -s /workspace /opt-link; cd /opt-link && echo $PWD && claude "pwd; echo x >file"'
	is $'/opt-link\n/workspace'
	[ -e "$WORKSPACE/file" ]
}

@test "policy: a path that is a FIFO, a socket, a device or missing is taken as it is, and nothing hangs" {
	folder /odd
	mkfifo "$ROOTFS/odd/fifo" "$ROOTFS/root/fifo"
	mknod "$ROOTFS/odd/device" c 1 5
	container_owner 0 "$ROOTFS/odd" "$ROOTFS/root"
	policy_with $'mask = /odd/fifo\nmask = /odd/device\nmask = /odd/socket\nmask = /odd/missing
allow-mount = /odd/fifo2\nallow-mount = /odd/missing\nhome-read = fifo missing socket
allow-write = /odd/fifo3'
	mkfifo "$ROOTFS/odd/fifo2" "$ROOTFS/odd/fifo3"
	container_owner 0 "$ROOTFS/odd"
	run -0 --separate-stderr confined timeout 60 sh -c 'probe listen /odd/socket & probe listen /root/socket &
		until test -S /odd/socket && test -S /root/socket; do :; done
		claude "cat /odd/fifo /odd/device /odd/socket; ls -A ~ | grep -E \"^(fifo|socket|missing)\"
			probe connect /root/socket && echo connected; test -p /odd/fifo2 && test -p /odd/fifo3 && echo pipes; echo ran"
		kill %1 %2' 2>&1
	has $'fifo\nsocket' "$output"
	has $'pipes\nran' "$output"
	[ "$(grep -c 'Permission denied' <<<"$stderr")" -ge 3 ]
	policy_with 'allow-write = /dev/null'
	refused '/dev/null is no place for files'
}

@test "flags: noexec, nosuid and ro of a workspace and of an allowed mount stay, and none is added but nosuid" {
	local flags='noexec,ro' part='/workspace /mnt/kube'

	printf '#!/bin/sh\necho executed\n' >"$WORKSPACE/program"
	chmod 755 "$WORKSPACE/program"
	cp "$WORKSPACE/program" "$KUBE/program"
	container_owner 0 "$WORKSPACE" "$KUBE"
	policy_with 'allow-mount = /mnt/kube'
	run -0 --separate-stderr confined claude '/workspace/program && /mnt/kube/program'
	is $'executed\nexecuted'
	OPTIONS=("${OPTIONS[@]/%:\/workspace/:/workspace:$flags}")
	OPTIONS=("${OPTIONS[@]/%:\/mnt\/kube/:/mnt/kube:$flags}")
	# shellcheck disable=SC2086 # words
	run -0 --separate-stderr confined claude "for d in $part; do \$d/program; echo x >\$d/file; done; echo ran"
	is ran
	[ "$(grep -c 'Permission denied' <<<"$stderr")" -eq 2 ]
	[ "$(grep -c 'Read-only file system' <<<"$stderr")" -eq 2 ]
}

@test "flags: what cannot be run in a noexec .local/share cannot be run through its overlay" {
	mkdir "$KUBE/share"
	printf '#!/bin/sh\necho executed\n' >"$KUBE/share/program"
	chmod 755 "$KUBE/share/program"
	container_owner 0 "$KUBE"
	OPTIONS+=(--volume "$KUBE/share:/root/.local/share:noexec")
	run -0 --separate-stderr confined claude 'test -x ~/.local/share/program; cat ~/.local/share/program | tail -n 1; ~/.local/share/program; echo ran'
	is $'echo executed\nran'
	has 'Permission denied' "$stderr"
}

@test "mounts: one that its user cannot read is hidden like any other" {
	chmod 700 "$KUBE"
	container_owner 0 "$KUBE"
	container_owner 1000 "$WORKSPACE"
	OPTIONS+=(--user 1000 --volume "$KUBE:/mnt/other")
	policy_with $'allow-mount = /mnt/other\nallow-write = /mnt/kube/config'
	run -0 --separate-stderr confined claude 'ls /mnt/kube /mnt/other; echo ran'
	has ran "$output"
	has 'allow-write: /mnt/kube/config: Permission denied (left out)' "$stderr"
}

@test "mounts: one whose file system never answers hangs no launch" {
	local pid

	[[ -e /dev/fuse ]] || skip "needs /dev/fuse"
	running
	pid=$(engine_podman inspect --format '{{.State.Pid}}' "$CONTAINER")
	exec 5<>/dev/fuse # who would answer
	nsenter --target "$pid" --mount /bin/busybox mount -t fuse \
		-o fd=5,rootmode=40000,user_id=0,group_id=0,allow_other none /mnt/kube
	run -0 --separate-stderr engine_podman exec "$CONTAINER" timeout -s KILL 20 claude 'echo ran' 3>&-
	exec 5>&-
	is ran
}

@test "mounts: a container may have 5,000 of them" {
	local i pid many=()

	mkdir -p "$ROOTFS/later" "$ROOTFS/many"
	mkdir "$ROOTFS"/later/{1001..5000}
	for i in {1..1000}; do # crun has a descriptor open for each
		many+=(--volume "$KUBE:/many/$i:ro")
	done
	container_owner 0 "$ROOTFS/many" "$ROOTFS/later"
	OPTIONS+=("${many[@]}")
	running
	pid=$(engine_podman inspect --format '{{.State.Pid}}' "$CONTAINER")
	# shellcheck disable=SC2016 # the container's
	nsenter --target "$pid" --mount /bin/sh -c \
		'for i in $(seq 1001 5000); do mount --bind /mnt/kube /later/$i || exit; done' 3>&-
	run -0 --separate-stderr engine_podman exec "$CONTAINER" sh -c 'grep -cE " /(many|later)/" /proc/self/mountinfo
		claude "ls /many | wc -l; cat /many/*/config 2>/dev/null; echo ran"' 3>&-
	is $'5000\n1000\nran'
}
