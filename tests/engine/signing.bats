#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim
#
# Commits that agents sign: with a key of their own, and never with the developer's.

load ../lib/git

setup_file() {
	lab_prepare
	git_add "$LAB/template"
	rootfs_add_program "$LAB/template" /usr/bin/ssh-keygen
	[[ $ENGINE != rootless ]] || rootfs_owner "$LAB/template" "$LAB_UID" "$LAB_SUBID"
}

setup() {
	container_prepare
	git_workspace
	STORE=$ROOTFS/root/.local/state/oci-sandbox
}

teardown() {
	container_remove
}

# What the developer types for a key
KEY='oci-sandbox signing auto'

# typed SCRIPT AGENT: the script in a container of ours, outside of the sandbox, and then a session
typed() {
	run -0 --separate-stderr confined sh -c "($1) >/dev/null && claude \"\$1\"" sh "$2"
}

# signed_by FILE [REVISION]: the commit has a good signature of the public key in FILE
signed_by() {
	printf 'agents namespaces="git" %s\n' "$(<"$1")" >"$BATS_TEST_TMPDIR/signers"
	with_signers "${2:-HEAD}" "${3:-verify-commit}"
}

# with_signers REVISION: the commit's signature is one of those in the file
with_signers() {
	git -c "safe.directory=*" -c gpg.format=ssh -c "gpg.ssh.allowedSignersFile=$BATS_TEST_TMPDIR/signers" \
		-C "$WORKSPACE/main" "${2:-verify-commit}" "$1"
}

COMMIT='git -c user.name=A -c user.email=a@b commit --allow-empty -qm second && git log -1 --format=%s'

@test "signing: what an agent commits, and tags with a message, has the signature of the agents' key" {
	local user home

	for user in 0 1000; do
		OPTIONS+=(--user "$user")
		home=/root
		[[ $user == 0 ]] || home=/home/dev
		container_owner "$user" "$WORKSPACE"
		typed "$KEY" "$COMMIT && git tag plain$user && git -c user.name=A -c user.email=a@b tag -m x v$user"
		is second
		run -0 signed_by "$ROOTFS$home/.local/state/oci-sandbox/signing/key.pub"
		run -0 signed_by "$ROOTFS$home/.local/state/oci-sandbox/signing/key.pub" "v$user" verify-tag
	done
}

@test "signing: the key is the agent's to use, not to change, and nothing else of the store is there" {
	typed "$KEY; echo STAND-IN >~/.local/state/oci-sandbox/signing/other" 'cd /run/oci-sandbox/session/signing && ls
		{ echo x >key; echo x >key.pub; rm -f key; mv key.pub x; ssh-keygen -q -t ed25519 -N "" -f new; } 2>&1 |
			grep -c "Read-only file system\|busy"
		ls ~/.local/state/oci-sandbox 2>&1; ls -d ~/.ssh 2>/dev/null; echo ran'
	has $'key\nkey.pub\n' "$output"
	has 'No such file' "$output"
	[[ ${lines[2]} -ge 4 && $output == *$'\nran' && $output != *STAND-IN* ]]
	run -0 ssh-keygen -y -f "$STORE/signing/key"
	has "${output% *}" "$(<"$STORE/signing/key.pub")"
}

@test "signing: what the repository says of the developer's key is not asked, with a key and without" {
	ssh-keygen -q -t ed25519 -N '' -f "$ROOTFS/root/.ssh/id_own"
	in_main config commit.gpgsign true
	in_main config tag.gpgsign true
	in_main config gpg.format openpgp
	in_main config user.signingkey /root/.ssh/id_own
	container_owner 0 "$WORKSPACE" "$ROOTFS/root/.ssh"
	typed true "$COMMIT; git tag plain"
	is second
	run -0 in_main cat-file commit HEAD
	[[ $output != *gpgsig* ]]
	typed "$KEY" "$COMMIT"
	is second
	run -0 signed_by "$STORE/signing/key.pub"
}

@test "signing: a key that can't be used is told of, and the agent commits without" {
	run -0 --separate-stderr confined sh -c "$KEY"' >/dev/null; cd ~/.local/state/oci-sandbox/signing
		try() { (cd /workspace/main && claude "$0"); }
		chmod 644 key; try
		chmod 600 key; mv key.pub x; try
		mv x key.pub; mv key y; ln -s y key; try
		rm key; mv y key; rm /usr/bin/ssh-keygen; try
		rm -r ../signing; try' "$COMMIT; git log -1 --format=%G?"
	is $'second\nN\nsecond\nN\nsecond\nN\nsecond\nN\nsecond\nN'
	has 'commits are not signed: others can use /root/.local/state/oci-sandbox/signing/key (chmod go= ' "$stderr"
	has 'commits are not signed: /root/.local/state/oci-sandbox/signing/key.pub is not a file' "$stderr"
	has 'commits are not signed: /root/.local/state/oci-sandbox/signing/key is not a file' "$stderr"
	has 'commits are not signed: ssh-keygen is missing (install openssh-client)' "$stderr"
	[[ $(grep -c 'not signed' <<<"$stderr") == 4 ]]
}

@test "signing: auto, status and off say what there is, and what a forge and git need" {
	run -0 confined sh -c 'exec 2>&1; s=~/.local/state/oci-sandbox; oci-sandbox signing status; oci-sandbox signing off
		oci-sandbox signing auto >first; oci-sandbox signing auto | diff first -; oci-sandbox signing status | diff first -
		stat -c %a $s/signing $s/signing/key; claude "$0"; cat first
		oci-sandbox signing off; ls -A $s/signing; claude "$0"
		oci-sandbox signing other; echo $?' "$COMMIT"
	[[ $output == $'off: agents\' commits are not signed\noff: agents\' commits are not signed, and the key is gone\n700\n600\nsecond\non: '* ]]
	[[ $output == *$'\noff: agents\' commits are not signed, and the key is gone\nls: /root/.local/state/oci-sandbox/signing: No such file or directory\nsecond\noci-sandbox: `signing other` is not known: see help\n64' ]]
	grep '^agents namespaces' "$WORKSPACE/main/first" >"$BATS_TEST_TMPDIR/signers"
	run -0 with_signers HEAD~1
	run ! with_signers HEAD
	rm "$WORKSPACE/main/first"
}

@test "signing: off leaves a session that runs its key, and the next one none" {
	run -0 confined sh -c 'oci-sandbox signing auto >first; mkfifo go
		claude "touch up; read -r x <go; $0" & pid=$!
		until [ -e up ]; do :; done
		oci-sandbox signing off >/dev/null; echo >go; wait $pid; oci-sandbox signing auto | cmp -s first - || echo another' "$COMMIT"
	is $'second\nanother'
	grep '^agents namespaces' "$WORKSPACE/main/first" >"$BATS_TEST_TMPDIR/signers"
	run -0 with_signers HEAD
}

@test "signing: what is in the way is told of and mended by off, and a kill leaves no half of a key" {
	run -0 confined sh -c 'exec 2>&1; s=~/.local/state/oci-sandbox; signing() { oci-sandbox signing "$@" >/dev/null; echo $?; }
		mkdir -p $s ~/other; echo kept >~/other/key; ln -s ~/other $s/signing; signing status; signing auto; signing off
		cat ~/other/key; signing auto; chmod 644 $s/signing/key; signing auto; signing off
		mv /usr/bin/ssh-keygen /usr/bin/kept; printf "#!/bin/sh\necho half >/dev/null; kill -9 \$PPID\n" >/usr/bin/ssh-keygen
		chmod 755 /usr/bin/ssh-keygen; signing auto; oci-sandbox signing status
		printf "#!/bin/sh\nexit 1\n" >/usr/bin/ssh-keygen; signing auto; rm /usr/bin/ssh-keygen; signing auto
		mv /usr/bin/kept /usr/bin/ssh-keygen; signing auto'
	is $'oci-sandbox: commits are not signed: /root/.local/state/oci-sandbox/signing is not a folder\n73
oci-sandbox: there is a key that can\'t be used (`oci-sandbox signing off` removes it): /root/.local/state/oci-sandbox/signing is not a folder\n73\n0
kept\n0\noci-sandbox: there is a key that can\'t be used (`oci-sandbox signing off` removes it): others can use /root/.local/state/oci-sandbox/signing/key (chmod go= /root/.local/state/oci-sandbox/signing/key)\n73\n0
Killed\n137\noff: agents\' commits are not signed\noci-sandbox: ssh-keygen failed, for the reason that it gave\n73
oci-sandbox: ssh-keygen is missing: install openssh-client (Debian, Ubuntu), openssh-clients (Fedora) or openssh-keygen (Alpine)\n69\n0'
}
