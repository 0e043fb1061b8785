#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim,once
#
# gh-auth and glab-auth: a forge's token goes to gh or glab, and nowhere else. The two are stand-ins
# that note how they were called; they keep the token where the real ones do, and in their formats.

load ../lib/git

setup_file() {
	lab_prepare
	git_add "$LAB/template"
	rootfs_add_program "$LAB/template" "$(command -v script)"
	[[ $ENGINE != rootless ]] || rootfs_owner "$LAB/template" "$LAB_UID" "$LAB_SUBID"
}

setup() {
	container_prepare
	stand_in gh .config/gh/hosts.yml
	stand_in glab .config/glab-cli/config.yml
	container_owner 0 "$WORKSPACE" "$ROOTFS/usr/bin"
}

teardown() {
	container_remove
}

# stand_in NAME FILE: in the container, with the file that it keeps its login in
stand_in() {
	cat >"$ROOTFS/usr/bin/$1" <<-END
		#!/bin/sh
		file=\$HOME/$2
		case "\$1 \$2" in
		"auth login")
			{ echo "\$0 \$*"; tr '\\0' '\\n' </proc/\$\$/environ; pwd; } >>/called/$1
			cat >/called/stdin
			[ ! -e /called/fail ] || { echo "bad credentials" >&2; exit 4; }
			[ ! -e /called/keyring ] || exit 0
			umask 022
			mkdir -p "\${file%/*}"
			printf '%s:\n    oauth_token: %s\n    git_protocol: https\n' "\$4" "\$(cat /called/stdin)" >"\$file";;
		"auth git-credential")
			cat >/dev/null
			printf 'username=x\npassword=%s\n' "\$(sed -n 's/.*oauth_token: //p' "\$file")";;
		esac
	END
	chmod 755 "$ROOTFS/usr/bin/$1"
	mkdir -p "$ROOTFS/called"
	container_owner 0 "$ROOTFS/called"
}

# What git in a session is told of a host
FILL='git_fill() { printf "protocol=https\nhost=%s\n\n" $1 | GIT_TERMINAL_PROMPT=0 git credential fill | sed -n s/^password=//p; }'

@test "login: a token from a pipe goes to the tool's standard input, and its file to sessions" {
	policy_with 'forge-host = git.example.com glab'
	OPTIONS+=(--env GH_TOKEN=other --env XDG_CONFIG_HOME=/elsewhere --env PATH=/workspace:/usr/bin:/bin:/usr/local/bin)
	printf '#!/bin/sh\ntouch /called/by-path' >"$WORKSPACE/gh"
	chmod 755 "$WORKSPACE/gh"
	run -0 --separate-stderr confined sh -c 'cd /workspace; printf "STAND-IN-1\r\n" | oci-sandbox gh-auth
		cat /called/stdin; stat -c %a ~/.config/gh/hosts.yml; echo STAND-IN-2 | oci-sandbox glab-auth GIT.example.com
		cat /called/stdin; stat -c %a ~/.config/glab-cli/config.yml
		claude "$0; rm -f gh; git_fill github.com; git_fill git.example.com; echo x >>~/.config/gh/hosts.yml || echo closed"' "$FILL"
	is $'gh has the login for github.com, and so have agents\' sessions from now on, read-only\nSTAND-IN-1\n600
glab has the login for git.example.com, and so have agents\' sessions from now on, read-only\nSTAND-IN-2\n600
STAND-IN-1\nSTAND-IN-2\nclosed'
	[[ $stderr != *STAND-IN* && ! -e $ROOTFS/called/by-path ]]
	run -0 cat "$ROOTFS/called/gh" "$ROOTFS/called/glab"
	has 'gh auth login --hostname github.com --git-protocol https --with-token' "$output"
	has 'glab auth login --hostname git.example.com --git-protocol https --stdin' "$output"
	# neither arguments nor variables, and nothing of the developer's own variables
	[[ $output == *HOME=/root* && $output == *$'\n/\n'* && $output != *STAND-IN* && $output != *TOKEN* && $output != *XDG* ]]
}

# typed KEYS: what is printed where they are typed at gh-auth's prompt, and how the terminal is then
typed() {
	confined sh -c 'cd /; mkfifo in
		script -qec "trap : INT; oci-sandbox gh-auth; stty -a" /dev/null <in >out 2>&1 & pid=$!
		exec 3>in; until grep -q "not shown" out; do :; done
		printf "$0" >&3; wait $pid; cat out; cat /called/stdin 2>/dev/null | sed "s/.*/got &/"' "$1"
}

@test "login: a token that is typed is not shown, and the terminal is as it was" {
	run -0 typed 'STAND-IN-3\n'
	has 'Token for github.com (it is not shown): ' "$output"
	has 'gh has the login' "$output"
	has ' echo ' "$output"
	has 'got STAND-IN-3' "$output"
	[[ $(grep -c STAND-IN <<<"$output") == 1 ]]
	rm "$ROOTFS/called/stdin"
	run -0 typed 'STAND-IN-4\003'
	has ' echo ' "$output"
	[[ $output != *'has the login'* && $output != *'got '* ]]
}

@test "login: what is no token is refused, and shown to nobody" {
	run -0 confined sh -c 'exec 2>&1
		try() { printf "$1" | oci-sandbox gh-auth; echo $?; }
		try ""; try "\n"; try "STAND IN\n"; try "STAND-IN\nSTAND-IN\n"; try "STAND-IN\t"; try "STAND-IN\303\244"
		try "$(yes STAND-IN | tr -d "\n" | head -c 5000)"; oci-sandbox gh-auth <&-; echo $?; ls /called'
	is $'oci-sandbox: there was no token\n73\noci-sandbox: there was no token\n73
oci-sandbox: a token has no spaces, and plain characters alone\n73\noci-sandbox: a token is one line\n73
oci-sandbox: a token has no spaces, and plain characters alone\n73\noci-sandbox: a token has no spaces, and plain characters alone\n73
oci-sandbox: what came is too long for a token\n73\noci-sandbox: there was no token\n73'
}

@test "login: hosts of others, a missing tool, one that fails, a sandbox: each says what to do" {
	policy_with 'forge-host = git.example.com glab'
	run -0 confined sh -c 'exec 2>&1
		try() { echo STAND-IN | oci-sandbox "$@"; echo $?; }
		try gh-auth git.example.com; try gh-auth gitlab.com; try glab-auth "../x"; try gh-auth --hostname
		touch /called/fail; try gh-auth; mv /called/fail /called/keyring; try gh-auth
		rm /usr/bin/glab; try glab-auth
		claude "oci-sandbox gh-auth; echo \$?; oci-sandbox glab-auth; echo \$?; oci-sandbox signing auto; echo \$?"'
	has $'gh-auth: sessions do not ask gh for `git.example.com` (the policy\'s `forge-host = HOST gh` is where that is said)\n68' "$output"
	has $'gh-auth: sessions do not ask gh for `gitlab.com`' "$output"
	has $'glab-auth: sessions do not ask glab for `../x`' "$output"
	has $'version\n' "$output" # the usage
	has $'bad credentials\noci-sandbox: gh failed, for the reason that it gave\n73' "$output"
	has 'gh is done, but has not kept the login in /root/.config/gh/hosts.yml, where sessions would find it' "$output"
	has $'glab is not in /usr/local/bin:/usr/bin:/bin: install it (https://gitlab.com/gitlab-org/cli#installation)\n69' "$output"
	has $'this is a sandbox: logins are managed from outside of it\n77\noci-sandbox: this is a sandbox: logins are managed from outside of it\n77\noci-sandbox: this is a sandbox: the key of agents\' commits is managed from outside of it\n77' "$output"
	[[ $output != *STAND-IN* ]]
	policy_with 'no-forge'
	run -77 confined sh -c 'echo STAND-IN | oci-sandbox gh-auth'
	has 'the policy says `no-forge`, so no session would have the login' "$output"
}
