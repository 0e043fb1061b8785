#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim
#
# What agents keep: import, sessions that share it, disks that are full, read-only or another's, kills,
# and `oci-sandbox state`. What an import does to files is in tests/unit/state.bats.

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

@test "state: the first launch imports what the profile lists, and says so in one line" {
	local home=$ROOTFS/root

	mkdir -p "$home/.claude/skills/s" "$home/.agents/skills/t"
	echo token >"$home/.claude/.credentials.json" # no JSON
	echo '{"theme": "dark"}' >"$home/.claude.json"
	echo rules >"$home/.claude/CLAUDE.md"
	echo skill >"$home/.claude/skills/s/SKILL.md"
	echo shared >"$home/.agents/skills/t/SKILL.md"
	ln -s /root/.ssh/id_ed25519 "$home/.claude/skills/s/link"
	ln -s /root/.ssh "$home/.claude/commands"
	chmod 6755 "$home/.claude/skills/s/SKILL.md"
	chmod 600 "$home/.claude/CLAUDE.md"
	container_owner 0 "$home/.agents" "$home/.claude.json" "$home/.claude/"{CLAUDE.md,skills}
	run -0 --separate-stderr confined sh -c 'claude "cd ~/.claude; cat CLAUDE.md .claude.json skills/s/SKILL.md \
		~/.agents/skills/t/SKILL.md; stat -c %a CLAUDE.md skills/s/SKILL.md; find . | grep -c link; ls settings.json commands 2>&1; true"
		claude "echo own >~/.claude/CLAUDE.md"; cat ~/.claude/CLAUDE.md; claude "cat ~/.claude/CLAUDE.md"'
	is $'rules\n{"theme": "dark"}\nskill\nshared\n600\n644\n0
ls: settings.json: No such file or directory\nls: commands: No such file or directory\nrules\nown'
	[ "$stderr" = "oci-sandbox: the first launch of claude here: imported ~/.claude.json, CLAUDE.md, \
skills, ~/.agents/skills/t; not imported: .credentials.json (it is not plain JSON), \
skills (the links in it), commands (it is neither a file nor a folder)" ]
}

@test "state: what is too large stays outside, and the launch goes on" {
	mkdir "$ROOTFS/root/.claude/skills"
	truncate -s 65M "$ROOTFS/root/.claude/skills/big"
	echo rules >"$ROOTFS/root/.claude/CLAUDE.md"
	container_owner 0 "$ROOTFS/root/.claude"
	run -0 --separate-stderr confined claude 'cat ~/.claude/CLAUDE.md; ls -A ~/.claude/skills ~/.claude | grep -E "big|import"; true'
	is rules
	has 'skills (it is too large)' "$stderr"
}

@test "state: an import that ends half way is done again" {
	local store=$ROOTFS/root/.local/state/oci-sandbox/claude

	mkdir -p "$store/state/.oci-sandbox-import/copy/half"
	echo rules >"$ROOTFS/root/.claude/CLAUDE.md"
	echo skill >"$ROOTFS/root/.claude/skills"
	echo own >"$store/state/skills"
	container_owner 0 "$ROOTFS/root/.local" "$ROOTFS/root/.claude"
	run -0 --separate-stderr confined claude 'cat ~/.claude/CLAUDE.md ~/.claude/skills; ls -A ~/.claude'
	is $'rules\nown\nCLAUDE.md\ndaemon\njobs\nskills'
	has 'skills (the agent has its own)' "$stderr"
	[ -e "$store/imported" ]
}

@test "state: a full disk says so, loses nothing, and works once there is room" {
	echo 'STAND-IN rules' >"$ROOTFS/root/.claude/CLAUDE.md"
	head -c 100000 /dev/zero | tr '\0' x >>"$ROOTFS/root/.claude/CLAUDE.md"
	container_owner 0 "$ROOTFS/root/.claude"
	policy_with 'state-root = /small'
	OPTIONS+=(--mount "type=tmpfs,destination=/small,tmpfs-size=65536")
	run -0 --separate-stderr confined sh -c 'claude "echo the agent ran"; echo $?; ls -A /small/claude/state; cmp ~/.claude/CLAUDE.md ~/.claude/CLAUDE.md
		echo short >~/.claude/CLAUDE.md; claude "cat ~/.claude/CLAUDE.md; dd if=/dev/zero of=.claude/x 2>/dev/null; head -c 100000 /dev/zero >~/.claude/more 2>/dev/null || echo full; cat ~/.claude/CLAUDE.md"'
	is $'125\nshort\nfull\nshort'
	has 'state store /small/claude: No space left on device (make room there' "$stderr"
}

@test "state: a store that cannot be written is refused, with what to do" {
	mkdir -p "${ROOTFS%/*}/store"
	container_owner 0 "${ROOTFS%/*}/store"
	refused 'read-only' --volume "${ROOTFS%/*}/store:/root/.local/state/oci-sandbox:ro"
}

@test "state: a store behind a symlink works from the first launch on" {
	mkdir -p "$ROOTFS/data/local"
	ln -s /data/local "$ROOTFS/root/.local"
	container_owner 0 "$ROOTFS/data"
	run -0 --separate-stderr confined claude 'echo kept >~/.claude/note; cat ~/.claude/note'
	is kept
	[ "$(cat "$ROOTFS/data/local/state/oci-sandbox/claude/state/note")" = kept ]
}

@test "state: a link in the place of a store is refused" {
	mkdir -p "$ROOTFS/root/.local/state/oci-sandbox/claude" "$ROOTFS/root/elsewhere"
	ln -s /root/elsewhere "$ROOTFS/root/.local/state/oci-sandbox/claude/state"
	container_owner 0 "$ROOTFS/root/.local" "$ROOTFS/root/elsewhere"
	refused 'oci-sandbox/claude/state: Too many levels of symbolic links'
}

@test "state: daemon folders are each launch's own, and a link in their place is refused" {
	local state=$ROOTFS/root/.local/state/oci-sandbox/claude/state

	run -0 --separate-stderr confined sh -c 'claude "echo work >~/.claude/daemon/dispatch; cat ~/.claude/daemon/dispatch"
		claude "ls -A ~/.claude/daemon ~/.claude/jobs; echo ran"'
	is $'work\n/root/.claude/daemon:\n\n/root/.claude/jobs:\nran'
	[ -z "$(ls -A "$state/daemon")" ]
	rmdir "$state/daemon"
	ln -s ../../elsewhere "$state/daemon"
	refused 'oci-sandbox/claude/state/daemon: '
}

@test "state: sessions of one agent share it, on a volume as well, and the agents' locks hold" {
	mkdir -p "${ROOTFS%/*}/store"
	container_owner 0 "${ROOTFS%/*}/store"
	OPTIONS+=(--volume "${ROOTFS%/*}/store:/root/.local/state/oci-sandbox")
	run -0 --separate-stderr confined sh -c '
		claude "cd ~/.claude; mkdir dir.lock; echo one >new; mv new shared; mkfifo go
			probe flock f probe fcntl p sh -c \"echo up >/workspace/up; read -r x <go\"" &
		until [ -s up ]; do :; done
		claude "cd ~/.claude; cat shared; mkdir dir.lock 2>/dev/null || echo locked
			probe flock f true; echo \$?; probe fcntl p true; echo \$?
			echo two >new; mv new shared; echo done >go"
		wait; claude "cd ~/.claude; cat shared; probe flock f probe fcntl p echo free"'
	is $'one\nlocked\n3\n3\ntwo\nfree'
	[ "$(cat "${ROOTFS%/*}/store/claude/state/shared")" = two ]
}

# All that the agent has started has its lock; who gets it knows that nothing runs any more.
held='cd ~/.claude; echo kept >before
	probe flock held sh -c "sleep 1000 & while :; do echo more; done >during" & until [ -s during ]; do :; done'

@test "state: what was written stays when agent or supervisor are killed in the middle of a write" {
	run -0 --separate-stderr confined sh -c "s=\$(oci-sandbox state path claude)/state
		gone() {
			timeout 20 sh -c \"until probe flock \$s/held true; do :; done\" && echo gone
			claude 'cat ~/.claude/before; rm ~/.claude/during ~/.claude/before'
		}
		claude '$held; kill -9 \$\$'; echo \$?; gone
		claude '$held; echo up >/workspace/up; wait' & pid=\$!
		until [ -s up ]; do :; done
		kill -9 \$pid; wait \$pid; echo \$?; gone"
	is $'137\ngone\nkept\n137\ngone\nkept'
}

@test "state: by the developer's word it is shown, imported again, and removed" {
	echo one >"$ROOTFS/root/.claude/CLAUDE.md"
	container_owner 0 "$ROOTFS/root/.claude"
	run -0 confined sh -c 'exec 2>&1; cd; s=$(oci-sandbox state path claude); echo $s
		oci-sandbox state reset claude; echo $?; oci-sandbox state import claude; cd /workspace
		claude "cat ~/.claude/CLAUDE.md; echo own >~/.claude/CLAUDE.md; ln -s /workspace ~/.claude/out; mkdir -p ~/.claude/$(printf "d/%.0s" $(seq 200)); chmod 0 ~/.claude/d/d/d; ln -s / ~/.cache/root"
		echo two >~/.claude/CLAUDE.md; mkdir ~/.claude/skills; echo new >~/.claude/skills/s
		oci-sandbox state import claude; cat $s/state/CLAUDE.md $s/state/skills/s
		oci-sandbox state import --force claude; cat $s/state/CLAUDE.md $s/state/CLAUDE.md.bak
		oci-sandbox state reset claude && ls $s; ls -d /workspace/.git
		claude "cat ~/.claude/CLAUDE.md"'
	is $'/root/.local/state/oci-sandbox/claude
oci-sandbox: state store /root/.local/state/oci-sandbox: No such file or directory\n66
imported      CLAUDE.md\none
imported      skills\nnot imported  CLAUDE.md (the agent has its own)\nown\nnew
imported      CLAUDE.md\nimported      skills\ntwo\nown\nlock\n/workspace/.git
oci-sandbox: the first launch of claude here: imported CLAUDE.md, skills\ntwo'
}

@test "state: a reset leaves a running agent's alone, and a sandbox can ask for none" {
	run -0 confined sh -c 'exec 2>&1
		claude "echo kept >~/.claude/note; mkfifo go; echo up >up; read -r x <go" & pid=$!
		until [ -s up ]; do :; done
		s=$(oci-sandbox state path claude)
		oci-sandbox state reset claude; echo $?; oci-sandbox state import claude; echo $?; cat $s/state/note
		echo >go; wait $pid
		claude "for w in path import reset; do oci-sandbox state \$w claude; echo \$?; done"; cat $s/state/note
		for w in ../claude /etc "" $(printf "n%.0s" $(seq 300)); do oci-sandbox state reset "$w" >/dev/null 2>&1; echo $?; done
		for h in "" / relative /none; do HOME=$h oci-sandbox state reset claude >/dev/null 2>&1; echo $?; done
		oci-sandbox state reset nobody; echo $?; oci-sandbox state reset claude; ls -A $s'
	is $'oci-sandbox: claude is running, and uses its state: end it first\n75
oci-sandbox: claude is running, and uses its state: end it first\n75\nkept
oci-sandbox: this is a sandbox: agents\' state is managed from outside of it\n77
oci-sandbox: this is a sandbox: agents\' state is managed from outside of it\n77
oci-sandbox: this is a sandbox: agents\' state is managed from outside of it\n77\nkept\n66\n66\n64\n66\n78\n78\n78\n78
oci-sandbox: `nobody` is no agent of this container\n66\nlock'
}

@test "state: a reset follows no link that stands for a store, and no other user's is removed" {
	local store=$ROOTFS/root/.local/state/oci-sandbox

	mkdir -p "$store" "$ROOTFS/root/precious/state"
	echo kept >"$ROOTFS/root/precious/state/file"
	ln -s /root/precious "$store/claude"
	mkdir -p "$store/codex/state"
	container_owner 0 "$ROOTFS/root"
	container_owner 1000 "$store/codex"
	run -0 confined sh -c 'exec 2>&1; oci-sandbox state reset claude; echo $?; cat ~/precious/state/file
		oci-sandbox state reset codex; echo $?; ls -A ~/.local/state/oci-sandbox/codex'
	has 'oci-sandbox/claude: Too many levels of symbolic links' "$output"
	has $'73\nkept' "$output"
	has 'oci-sandbox/codex belongs to uid 1000, not to root: be that user, or `chown -R 0 /root/.local/state/oci-sandbox/codex`' "$output"
	[[ $output == *$'73\nstate' ]]
}

@test "state: a store, or the folder of all of them, that is another user's is told with what mends it" {
	mkdir -p "${ROOTFS%/*}/store/claude" # as a volume that Docker has made
	container_owner 0 "${ROOTFS%/*}/store"
	container_owner 1000 "$WORKSPACE"
	policy_with 'state-root = /state'
	OPTIONS+=(--volume "${ROOTFS%/*}/store:/state")
	run -0 confined sh -c 'exec 2>&1
		try() { su dev -c "claude \"echo ran\""; echo $?; }
		try; chown -R 1000 /state/claude; try; rmdir /state/claude; try; chown 1000 /state; try
		su dev -c "mkdir -p ~/.local/share; claude \"touch ~/.local/share/own; mkdir -p ~/.claude/a/b; chmod 0 ~/.claude/a\"; oci-sandbox state reset claude && ls -A /state/claude"
		claude "echo ran"; true'
	has "oci-sandbox: state store /state/claude belongs to uid 0, not to you (uid 1000): \`chown -R 1000 /state/claude\` as root mends it
125" "$output"
	has "oci-sandbox: state store /state belongs to uid 0, not to you (uid 1000): \`chown 1000 /state\` as root mends it
125
ran
0
lock
" "$output"
	has 'state store /state/claude belongs to uid 1000, not to root: be that user, or `chown -R 0 /state/claude`' "$output"
}
