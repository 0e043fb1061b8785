#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine
#
# git in a launch: who commits, and a worktree with its repository.

load ../lib/git

setup_file() {
	lab_prepare
	git_add "$LAB/template"
	network_start
	git_serve
	[[ $ENGINE != rootless ]] || rootfs_owner "$LAB/template" "$LAB_UID" "$LAB_SUBID"
}

setup() {
	container_prepare
	git_workspace
}

teardown() {
	container_remove
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

@test "git: everyday work with a repository whose configuration is read-only" {
	local what before

	git_remote
	before=$(cat "$WORKSPACE/main/.git/config")
	cat >"$WORKSPACE/main/work" <<-'END'
		set -e
		git fetch
		git pull origin main
		git checkout feature
		git checkout -b own
		echo 1 >file; git add file; git commit -m 'own work'
		git push
		git push -u origin own:other
		echo 2 >>file; git stash; git stash pop; git commit -am more
		git rebase origin/main
		git branch -d feature
		git worktree add tree -b third; git -C tree commit --allow-empty -m third
		git tag v1; git push origin v1
		git submodule add "$1" sub; git commit -m 'a submodule'
		git clone "$1" /tmp/clone
		git -C /tmp/clone remote add x "$1"
		echo done
	END
	run -0 confined claude "sh -x ./work $REMOTE"
	run -0 git -C "$LAB/git/$BATS_TEST_NUMBER.git" for-each-ref --format '%(refname)'
	is $'refs/heads/feature\nrefs/heads/main\nrefs/heads/other\nrefs/heads/own\nrefs/tags/v1'
	# what can't be noted there is said by git, and nothing else is lost
	for what in "remote add x $REMOTE" 'branch -m own mine' 'config a.b c'; do
		run ! confined claude "git $what"
		has 'could not' "$output"
	done
	[[ $(cat "$WORKSPACE/main/.git/config") == "$before" ]]
}

@test "git: what git obeys in a submodule's and another worktree's folder is the developer's" {
	local sub=.git/modules/a/sub tree=.git/worktrees/tree

	git_remote
	in_main -c protocol.file.allow=always submodule --quiet add --name a/sub \
		"$LAB/git/$BATS_TEST_NUMBER.git" sub
	in_main worktree add -q "$WORKSPACE/tree" -b tree
	mkdir -p "$WORKSPACE/main/$sub/info"
	echo '*.x text' >"$WORKSPACE/main/$sub/info/attributes"
	container_owner 0 "$WORKSPACE"
	run -0 --separate-stderr confined claude "
		for path in $sub/config $sub/hooks/post-checkout $sub/info/attributes $tree/commondir $tree/gitdir; do
			echo STAND-IN >\$path && echo wrote \$path
			mv \$path away && echo moved \$path
		done
		for path in .git/modules .git/modules/a $sub $tree; do
			mv \$path away && echo moved \$path
		done
		git -C sub commit -q --allow-empty -m 'in the submodule' && git -C sub log -1 --format=%s"
	is 'in the submodule'
	[[ $(grep -c 'Read-only file system\|resource busy' <<<"$stderr") -ge 9 ]]
	run ! grep -r STAND-IN "$WORKSPACE/main/.git"
	run -0 in_main submodule status
	has sub "$output"
	run -0 git -c "safe.directory=*" -C "$WORKSPACE/tree" status
}

@test "git: that commits are not signed is said to who signs" {
	printf '[commit]\n\tgpgsign\n' >"$ROOTFS/root/.gitconfig"
	container_owner 0 "$ROOTFS/root"
	run -0 --separate-stderr confined claude 'echo ran'
	has 'what the agent commits is not signed' "$stderr"
	printf '[commit]\n\tgpgsign = off\n' >"$ROOTFS/root/.gitconfig"
	run -0 --separate-stderr confined claude 'echo ran'
	is ran
	[[ $stderr != *signed* ]]
}

@test "git: OCI_SANDBOX_NO_FORGE takes the forges' logins away" {
	mkdir -p "$ROOTFS/root/.config/gh"
	echo 'STAND-IN token' >"$ROOTFS/root/.config/gh/hosts.yml"
	container_owner 0 "$ROOTFS/root"
	# shellcheck disable=SC2088 # the container's
	run -0 --separate-stderr confined claude 'cat ~/.config/gh/hosts.yml; git config --get-urlmatch credential.helper https://github.com'
	is $'STAND-IN token\n!gh auth git-credential'
	run ! --separate-stderr confined env OCI_SANDBOX_NO_FORGE=1 claude \
		'cat ~/.config/gh/hosts.yml; git config --get-urlmatch credential.helper https://github.com'
	is ''
}
