#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine
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
KEY='mkdir -m 700 -p ~/.local/state/oci-sandbox/signing && cd ~/.local/state/oci-sandbox/signing &&
	ssh-keygen -q -t ed25519 -N "" -C agents -f key && cd /workspace/main'

# typed SCRIPT AGENT: the script in a container of ours, outside of the sandbox, and then a session
typed() {
	run -0 --separate-stderr confined sh -c "($1) >/dev/null && claude \"\$1\"" sh "$2"
}

# signed_by FILE [REVISION]: the commit has a good signature of the public key in FILE
signed_by() {
	printf 'agents namespaces="git" %s\n' "$(<"$1")" >"$BATS_TEST_TMPDIR/signers"
	git -c "safe.directory=*" -c gpg.format=ssh -c "gpg.ssh.allowedSignersFile=$BATS_TEST_TMPDIR/signers" \
		-C "$WORKSPACE/main" "${3:-verify-commit}" "${2:-HEAD}"
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
	git -C "$WORKSPACE/main" config commit.gpgsign true
	git -C "$WORKSPACE/main" config tag.gpgsign true
	git -C "$WORKSPACE/main" config gpg.format openpgp
	git -C "$WORKSPACE/main" config user.signingkey /root/.ssh/id_own
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
	run -0 --separate-stderr confined sh -c "$KEY"'; cd ~/.local/state/oci-sandbox/signing
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
