#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim
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
	has "git can't read your configuration, or not in time" "$stderr"
}

@test "git: a configuration that includes itself, or one without end, costs the name and no more" {
	run -0 --separate-stderr confined sh -c '
		printf "[user]\n\tname = Ada\n[include]\n\tpath = other\n" >~/.gitconfig
		printf "[include]\n\tpath = ~/.gitconfig\n" >~/other; claude "$0"
		{ echo "[user]"; yes "name = Eve" | head -n 100000; } >~/.gitconfig; claude "$0"
		{ printf "[user]\n\tname = Ada\n"; yes "[x]" | head -n 1000000; } >~/.gitconfig; claude "$0"' \
		'git config user.name; echo ran'
	is $'ran\nran\nAda\nran'
	[[ $(grep -c "git can't read your configuration, or not in time" <<<"$stderr") == 2 ]]
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

@test "git: whatever .git is, the launch goes on, and nothing outside of the workspace comes along" {
	local other=$ROOTFS/srv/other/worktrees/tree

	mkdir -p "$other" "$ROOTFS/srv/fifo/worktrees/tree" "$ROOTFS/srv/dir/worktrees/tree/gitdir"
	mkfifo "$ROOTFS/srv/fifo/worktrees/tree/gitdir" "$ROOTFS/srv/other/fifo"
	echo /workspace/main/.git >"$other/gitdir" # of another worktree
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$WORKSPACE/socket"
	container_owner 0 "$WORKSPACE" "$ROOTFS/srv"
	run -0 --separate-stderr confined sh -c 'mkdir /workspace/tree; cd /workspace/tree
		try() { timeout 20 claude "$0" || echo "failed: $1"; rm -rf .git; }
		mkfifo .git; try fifo
		mv ../socket .git; try socket
		ln -s /dev/zero .git; try device
		ln -s nowhere .git; try dangling
		yes "gitdir: /srv/other" | head -n 1000000 >.git; try large
		for to in "" / . .. /srv/other/fifo /srv/fifo/worktrees/tree /srv/dir/worktrees/tree \
			/srv/other/worktrees/tree /srv/other /dev/zero ../../srv/other/worktrees/tree; do
			echo "gitdir: $to" >.git; try "$to"
		done' \
		'for d in other fifo dir; do echo x >/srv/$d/planted; echo x >/srv/$d/worktrees/tree/planted; done 2>/dev/null; echo ran'
	[[ $output == "$(yes ran | head -n 16)" ]]
	run -0 find "$ROOTFS/srv" -name planted
	is ''
}

@test "git: a .git folder that is no repository, and becomes one in the session, is told of" {
	mkdir -p "$WORKSPACE/tree/.git"
	container_owner 0 "$WORKSPACE/tree"
	OPTIONS+=(--workdir /workspace/tree)
	run -0 --separate-stderr confined claude 'git init -q . && git config core.fsmonitor "echo STAND-IN" && echo ran'
	is ran
	has '/workspace/tree/.git/config is new, and git or an editor outside the sandbox obeys it' "$stderr"
}

@test "git: what belongs into LFS goes there, by the developer's git-lfs" {
	local server objects=$LAB/lfs

	git_remote
	rootfs_add_program "$ROOTFS" /usr/bin/git-lfs
	mkdir "$objects"
	ip netns exec internet python3 "$SRCDIR/tests/lib/lfs.py" "$INTERNET_IP:8001" "$objects" \
		</dev/null >/dev/null 2>&1 3>&- 4>&- &
	server=$!
	network_wait "$INTERNET_IP" 8001
	printf '[lfs]\n\turl = http://%s:8001/lfs\n' "$INTERNET_IP" >"$WORKSPACE/main/.lfsconfig"
	# as a package has it, and as the developer has it in his clone
	printf '[filter "lfs"]\n\tclean = git-lfs clean -- %%f\n' >"$ROOTFS/etc/gitconfig"
	printf '#!/bin/sh\nexec git-lfs pre-push "$@"\n' >"$WORKSPACE/main/.git/hooks/pre-push"
	chmod 755 "$WORKSPACE/main/.git/hooks/pre-push"
	container_owner 0 "$ROOTFS/etc/gitconfig" "$WORKSPACE"
	run -0 --separate-stderr confined claude "set -e; git lfs track '*.bin'; yes | head -c 100000 >big.bin
		git add . && git commit -qm big && git push && git clone $REMOTE /tmp/clone 2>&1 && cmp big.bin /tmp/clone/big.bin && echo same"
	has $'\nsame' "$output"
	run -0 in_main cat-file blob HEAD:big.bin
	has 'version https://git-lfs.github.com/spec/v1' "$output"
	[[ $(stat -c %s "$objects"/*) == 100000 ]]
	kill "$server"
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
