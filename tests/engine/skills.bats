#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim
#
# Skills: those that come with oci-sandbox, and the folder that all agents share.

load ../lib/standalone
load ../lib/swapper

setup_file() {
	lab_prepare
	standalone_template
}

setup() {
	container_prepare
	STORE=$ROOTFS/root/.local/state/oci-sandbox/claude/state
}

teardown() {
	swapper_stop
	container_remove
}

# store PATH...: folders in the agent's store, as an earlier session has left them
store() {
	mkdir -p "${@/#/$STORE/}"
	container_owner 0 "$ROOTFS/root/.local"
}

# What an agent can do to a skill of ours; "kept" if it has it afterwards, and its own beside it
ATTACK='cd ~/.claude/skills/oci-sandbox || exit
	{ echo x >SKILL.md; echo x >new; rm -f SKILL.md; mv SKILL.md y; cd .. && mv oci-sandbox away; rm -r oci-sandbox; } 2>&1
	mkdir -p own; echo own >own/SKILL.md; set -- *
	[ "$*" = "oci-sandbox own" ] && grep -q "^name: oci-sandbox$" oci-sandbox/SKILL.md && [ "$(ls -A oci-sandbox)" = SKILL.md ] && echo kept'

@test "skills: the sandbox's own are there, read-only, and the agent's beside them" {
	local user

	for user in 0 1000; do
		OPTIONS+=(--user "$user")
		run -0 --separate-stderr confined claude "$ATTACK"
		has 'Read-only file system' "$output"
		has 'busy' "$output"
		[[ $output == *$'\nkept' ]]
	done
	[[ -f $STORE/skills/own/SKILL.md && -z $(ls -A "$STORE/skills/oci-sandbox") ]]
}

@test "skills: without the hook they are those of the image" {
	standalone_prepare
	run -0 --separate-stderr unconfined claude "$ATTACK"
	[[ $output == *$'\nkept' ]]
}

@test "skills: symlinks in their places are removed, and lead nowhere" {
	mkdir "$ROOTFS/opt" "$ROOTFS/opt/oci-sandbox" "$WORKSPACE/oci-sandbox"
	store skills
	ln -s /opt "$STORE/skills/oci-sandbox"
	container_owner 0 -h "$STORE/skills/oci-sandbox"
	run -0 --separate-stderr confined claude "$ATTACK; grep /opt /proc/self/mountinfo"' || true'
	[[ $output == *$'\nkept' ]]
	has 'had a symlink oci-sandbox in the place of a folder: removed' "$stderr"
	rm -rf "$STORE/skills"
	ln -s /workspace "$STORE/skills"
	container_owner 0 -h "$STORE/skills"
	run -0 --separate-stderr confined claude "$ATTACK"
	[[ $output == *$'\nkept' && -z $(ls -A "$WORKSPACE/oci-sandbox") && ! -e $WORKSPACE/own ]]
	has 'had a symlink skills in the place of a folder: removed' "$stderr"
}

@test "skills: a file, a FIFO, a closed folder in their places stop no launch, and are told of" {
	local make

	OPTIONS+=(--cap-drop DAC_OVERRIDE)
	for make in 'rm -rf skills; echo mine >skills' 'rm -f skills; mkdir -p skills; echo mine >skills/oci-sandbox' \
		'rm -f skills/oci-sandbox; mkfifo skills/oci-sandbox' 'rm -rf skills; mkdir -m 0 skills'; do
		store .
		(cd "$STORE" && eval "$make")
		container_owner 0 "$STORE"
		run -0 --separate-stderr confined claude 'grep " /root/.claude/skills" /proc/self/mountinfo; echo ran'
		is ran
		has "skill" "$stderr"
		has "(left out; move away what is there)" "$stderr"
	done
}

@test "skills: a symlink that comes while a launch is being built leads the mount nowhere" {
	mkdir -p "$ROOTFS/opt/elsewhere"
	store skills/own
	touch "$STORE/skills/own/file" # an empty folder would make room for an import
	swapper_start --come-and-go /opt/elsewhere "$STORE/skills/oci-sandbox"
	run --separate-stderr confined sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		claude "sed -n \"/elsewhere/p\" /proc/self/mountinfo"; done; echo ended'
	swapper_stop
	swapper_was_there
	is ended
}

@test "skills: ~/.agents/skills is one folder of all agents, and nothing else of ~/.agents is there" {
	cp "$ROOTFS/usr/local/bin/claude" "$ROOTFS/usr/local/bin/pi"
	mkdir -p "$ROOTFS/root/.agents/skills/developers"
	echo 'STAND-IN' >"$ROOTFS/root/.agents/secret"
	container_owner 0 "$ROOTFS/root/.agents"
	run -0 --separate-stderr confined sh -c 'claude "mkdir ~/.agents/skills/one; echo x >~/.agents/file"
		pi "ls -A ~/.agents; ls ~/.agents/skills ~/.pi/agent/skills"'
	is $'skills\n/root/.agents/skills:\ndevelopers\none\n\n/root/.pi/agent/skills:\noci-sandbox'
	# a copy of the developer's, and not his
	[[ ! -e $ROOTFS/root/.agents/file && ! -e $ROOTFS/root/.agents/skills/one ]]
}
