# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# git in containers, and repositories to push to. To be called in the lab.

# shellcheck source=tests/lib/confined.bash
. "$(dirname "${BASH_SOURCE[0]}")/confined.bash"

# git_add DIR: git, and what it reaches https with
git_add() {
	local core file

	core=$(git --exec-path)
	rootfs_add_program "$1" "$(command -v git)"
	mkdir -p "$1$core"
	cp -a "$core/." "$1$core" # hard links and symlinks to git, scripts
	for file in "$core/git" "$core/git-remote-http"; do
		rootfs_add_libraries "$1" "$file"
	done
	[[ ! -d /usr/share/git-core ]] || cp -a /usr/share/git-core "$1/usr/share/" 2>/dev/null ||
		{ mkdir -p "$1/usr/share" && cp -a /usr/share/git-core "$1/usr/share/"; }
}

# git_serve: repositories below $LAB/git on the internet's port 8000, for everyone to push to
git_serve() {
	local www=$LAB/www/git

	[[ ! -d $www ]] || return 0
	mkdir -p "$www/cgi-bin" "$LAB/git"
	cat >"$www/cgi-bin/git" <<-END
		#!/bin/sh
		export GIT_PROJECT_ROOT=$LAB/git GIT_HTTP_EXPORT_ALL=1 REMOTE_USER=anybody
		exec git http-backend
	END
	chmod 755 "$www/cgi-bin/git"
	ip netns exec internet busybox httpd -p "$INTERNET_IP:8000" -h "$www" \
		</dev/null >/dev/null 2>&1 3>&- 4>&-
	network_wait "$INTERNET_IP" 8000
}

# git_workspace: once a test, after container_prepare. The workspace is the repository main, with a
# commit.
git_workspace() {
	rm -rf "$WORKSPACE/.git"
	git -C "$WORKSPACE" init -q main
	git -C "$WORKSPACE/main" -c user.name=x -c user.email=x@y commit -q --allow-empty -m first
	container_owner 0 "$WORKSPACE"
	OPTIONS+=(--workdir /workspace/main)
}

# git_remote: a repository there, with the branches main and feature; the workspace is its clone
git_remote() {
	local bare=$LAB/git/$BATS_TEST_NUMBER.git

	REMOTE=http://$INTERNET_IP:8000/cgi-bin/git/$BATS_TEST_NUMBER.git
	rm -rf "$WORKSPACE/main" "$bare"
	git init -q --bare -b main "$bare"
	git -C "$bare" config http.receivepack true
	git clone -q "$bare" "$WORKSPACE/main" 2>/dev/null
	git -C "$WORKSPACE/main" -c user.name=x -c user.email=x@y commit -q --allow-empty -m first
	git -C "$WORKSPACE/main" push -q origin HEAD:main HEAD:feature
	git -C "$WORKSPACE/main" remote set-url origin "$REMOTE"
	git -C "$WORKSPACE/main" fetch -q "$bare" '+refs/heads/*:refs/remotes/origin/*'
	printf '[user]\n\tname = Ada\n\temail = ada@example.org\n' >"$ROOTFS/root/.gitconfig"
	container_owner 0 "$ROOTFS/root" "$WORKSPACE"
}

# in_main GIT-ARGUMENT...: git from outside, whoever owns the repository
in_main() {
	git -c "safe.directory=*" -C "$WORKSPACE/main" "$@"
}
