#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine
#
# git in a launch: who commits, and a worktree with its repository.

load ../lib/confined

setup_file() {
	lab_prepare
	rootfs_add_program "$LAB/template" "$(command -v git)"
	[[ $ENGINE != rootless ]] || rootfs_owner "$LAB/template" "$LAB_UID" "$LAB_SUBID"
}

setup() {
	container_prepare
	rm -rf "$WORKSPACE/.git"
	git -C "$WORKSPACE" init -q main
	git -C "$WORKSPACE/main" -c user.name=x -c user.email=x@y commit -q --allow-empty -m first
	container_owner 0 "$WORKSPACE"
	OPTIONS+=(--workdir /workspace/main)
}

teardown() {
	container_remove
}

# in_main GIT-ARGUMENT...: git from outside, whoever owns the repository
in_main() {
	git -c "safe.directory=*" -C "$WORKSPACE/main" "$@"
}

@test "git: the agent commits as the developer, without signing, without the rest of the configuration" {
	printf '[include]\n\tpath = more\n[commit]\n\tgpgsign = true\n[alias]\n\tx = !echo STAND-IN\n' \
		>"$ROOTFS/root/.gitconfig"
	printf '[user]\n\tname = Ada \\"A\\" Ä\n\temail = ada@example.org\n' >"$ROOTFS/root/more"
	container_owner 0 "$ROOTFS/root"
	run -0 --separate-stderr confined claude \
		'echo x >f && git add f && git commit -qm second && git log -1 --format="%an <%ae>"; git x 2>&1; true'
	has 'Ada "A" Ä <ada@example.org>' "$output"
	[[ $output != *STAND-IN* ]]
	run -0 in_main log -1 --format=%s
	is second
}

@test "git: a git of the workspace is not run outside the sandbox" {
	printf '[user]\n\tname = A\n' >"$ROOTFS/root/.gitconfig"
	mkdir "$WORKSPACE/main/bin"
	printf '#!/bin/sh\ntouch /workspace/main/ran-$(readlink /proc/self/ns/user)\n' >"$WORKSPACE/main/bin/git"
	chmod 755 "$WORKSPACE/main/bin/git"
	container_owner 0 "$ROOTFS/root" "$WORKSPACE/main/bin"
	OPTIONS+=(--env PATH=/workspace/main/bin:/usr/local/bin:/usr/bin:/bin)
	run -0 --separate-stderr confined claude 'echo ran'
	is ran
	run -0 find "$WORKSPACE/main" -name 'ran-*'
	is ''
}

@test "git: a configuration that never ends does not hold up the launch for good" {
	mkfifo "$ROOTFS/root/.gitconfig"
	container_owner 0 "$ROOTFS/root"
	run -0 --separate-stderr confined claude 'echo ran'
	is ran
}

@test "git: a worktree's repository comes along, but for what git outside obeys" {
	# as it is made in the container: paths of the host would not be there
	run -0 unconfined sh -c 'cd /workspace/main && git -c safe.directory=* worktree add -q ../tree'
	OPTIONS+=(--workdir /workspace/tree)
	run -0 --separate-stderr confined claude 'echo x >f && git add f &&
		git -c user.name=x -c user.email=x@y commit -qm in-tree; git log -1 --format=%s
		for f in hooks/post-commit config; do echo x >>/workspace/main/.git/$f; done 2>&1
		echo x 2>&1 >/workspace/main/file; true'
	has in-tree "$output"
	[ "$(grep -c 'Read-only file system' <<<"$output")" -ge 2 ]
	run -0 in_main log -1 --format=%s tree
	is in-tree
}

@test "git: a .git file that names a repository which doesn't know it brings nothing along" {
	mkdir -p "$WORKSPACE/tree" "$ROOTFS/srv/other/worktrees/tree" "$ROOTFS/srv/elsewhere"
	: >"$ROOTFS/srv/elsewhere/.git"
	echo 'gitdir: /srv/other/worktrees/tree' >"$WORKSPACE/tree/.git"
	echo '/srv/elsewhere/.git' >"$ROOTFS/srv/other/worktrees/tree/gitdir"
	container_owner 0 "$WORKSPACE/tree" "$ROOTFS/srv"
	OPTIONS+=(--workdir /workspace/tree)
	run -0 confined claude 'echo x >/srv/other/planted; echo ran'
	has ran "$output"
	[ ! -e "$ROOTFS/srv/other/planted" ]
}

@test "git: a repository inside the workspace can't name a folder outside as its own" {
	mkdir -p "$WORKSPACE/tree/g/worktrees/t" "$ROOTFS/srv/target"
	echo 'gitdir: g/worktrees/t' >"$WORKSPACE/tree/.git"
	echo '/workspace/tree/.git' >"$WORKSPACE/tree/g/worktrees/t/gitdir"
	echo '/srv/target' >"$WORKSPACE/tree/g/worktrees/t/commondir"
	container_owner 0 "$WORKSPACE/tree" "$ROOTFS/srv"
	OPTIONS+=(--workdir /workspace/tree)
	run -0 confined claude 'echo x >/srv/target/planted; echo ran'
	has ran "$output"
	[ ! -e "$ROOTFS/srv/target/planted" ]
}
