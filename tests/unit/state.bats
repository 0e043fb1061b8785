#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The agents' stores, without a sandbox: what is imported, kills at each step, and what an agent may
# have put there. What agents see of them is in tests/engine/state.bats.
bats_require_minimum_version 1.5.0

TRY=$BUILDDIR/tests/lib/try-store

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	PROFILE=$SRCDIR/config/agents/claude.conf
	STATE=$PWD/stores
	OWN=$STATE/claude/state
	mkdir home
}

# store VERB: as a launch or `oci-sandbox state` does it
store() {
	"$TRY" "$1" "$STATE" "$PWD/home" "$PROFILE"
}

# kill_each VERB BEFORE AFTER: BEFORE, VERB killed before each of its steps, then AFTER, which tells
# by its status whether all is well
kill_each() {
	local n status

	for ((n = 1; ; n++)); do
		rm -rf "$STATE"
		"$2"
		status=0
		"$TRY" killed "$n" "$1" "$STATE" "$PWD/home" "$PROFILE" >out || status=$?
		[[ $status -ne 3 ]] || break
		[[ $status -eq 0 ]] || return 1
		"$3" || {
			printf 'killed before step %s\n' "$n"
			find "$STATE"
			return 1
		}
	done
	[[ $n -gt 8 ]] # there were steps
}

# fill FILE...: each says its name
fill() {
	local file

	for file; do
		mkdir -p "$(dirname "$file")"
		echo "${file##*/}" >"$file"
		chmod 4755 "$file"
	done
}

# imports PROFILE FOLDER FILE...: just these come into a new store, none of them executable
imports() {
	local name=$1

	PROFILE=$SRCDIR/config/agents/$name.conf
	shift 2
	rm -rf "$STATE"
	store enter >/dev/null
	diff -u <(printf '%s\n' "$@" | sort) <(cd "$OWN" && find . -type f | sed 's,^\./,,' | sort)
	[ -z "$(find "$STATE" -type f -perm /7111)" ]
}

@test "state: no hook, daemon, queue, plugin or program of the developer's is imported" {
	local claude=home/.claude codex=home/.codex pi=home/.pi/agent

	fill $claude/{CLAUDE.md,skills/s/run.sh,agents/a.md,hooks/h.sh,daemon/dispatch/d,jobs/j,plugins/p,projects/p.jsonl,sessions/s,history.jsonl,shell-snapshots/s}
	echo '{"claudeAiOauth": {"accessToken": "t"}}' >$claude/.credentials.json
	echo '{"hooks": {"Stop": [{"command": "x"}]}}' >$claude/settings.json
	echo '{"env": {"TOKEN": "t"}}' >home/.claude.json
	imports claude .claude CLAUDE.md .credentials.json agents/a.md skills/s/run.sh

	fill $codex/{AGENTS.md,prompts/p.md,config.toml,hooks.json,.env,queue_1.sqlite,packages/app-server-daemon/codex,app-server-control/s,sessions/s,history.jsonl}
	echo '{"tokens": {}}' >$codex/auth.json
	imports codex .codex AGENTS.md auth.json prompts/p.md

	fill $pi/{AGENTS.md,extensions/e.ts,bin/rg,sessions/s,trust.json}
	echo '{"theme": "dark", "shellPath": "/tmp/x"}' >$pi/settings.json
	echo '{"providers": {}}' >$pi/models.json
	echo '{}' >$pi/auth.json
	imports pi .pi/agent AGENTS.md auth.json models.json
}

nothing_before() {
	mkdir -p "$STATE"
}

# Whole, or not there; all there after one more launch
is_whole() {
	local file

	for file in CLAUDE.md skills; do
		[[ ! -e $OWN/$file ]] || diff -r "home/.claude/$file" "$OWN/$file" || return
	done
	store enter >/dev/null && diff -r home/.claude/skills "$OWN/skills" &&
		diff home/.claude/CLAUDE.md "$OWN/CLAUDE.md" && diff -r home/.agents/skills "$STATE/skills" &&
		[[ ! -e $OWN/.oci-sandbox-import && -e $STATE/claude/imported ]]
}

@test "state: a first launch that is killed at any step leaves nothing half done, and the next one ends it" {
	fill home/.claude/{CLAUDE.md,skills/a/SKILL.md,skills/b} home/.agents/skills/c/SKILL.md
	chmod -R a-x,u+X home
	kill_each enter nothing_before is_whole
}

own_before() {
	mkdir -p "$OWN"
	echo own >"$OWN/CLAUDE.md"
	touch "$STATE/claude/imported"
}

# What the agent had is in its place, or beside it
is_kept() {
	grep -qs own "$OWN/CLAUDE.md" "$OWN/CLAUDE.md.bak" && store force >/dev/null &&
		diff home/.claude/CLAUDE.md "$OWN/CLAUDE.md"
}

@test "state: an import that is killed at any step loses nothing of the agent's" {
	fill home/.claude/CLAUDE.md
	kill_each force own_before is_kept
}

much_before() {
	own_before
	fill "$OWN"/{a/b/c,d} "$STATE/claude/cache/e"
}

# A first launch finds what it imports, and the rest can still be removed
is_new() {
	store enter >/dev/null && [[ -e $OWN/CLAUDE.md ]] && store reset &&
		[[ $(ls -A "$STATE/claude") == lock ]]
}

@test "state: a reset that is killed at any step leaves a store that works, or none" {
	fill home/.claude/CLAUDE.md
	kill_each reset much_before is_new
}

@test "state: of first launches at once, one imports, and the others wait for it" {
	local i
	local -a pids=()

	fill home/.claude/{CLAUDE.md,skills/{a,b,c,d}}
	for i in {1..8}; do
		{ store enter >"out$i" && [ "$(cat "$OWN/skills/d")" = d ]; } &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	[ "$(cat out* | sort)" = $'imported CLAUDE.md\nimported skills' ]
}

@test "state: an import follows no link that the agent has left, and removes none of what they lead to" {
	fill home/.claude/{CLAUDE.md,skills/s,rules} precious/{CLAUDE.md,x/y}
	mkdir -p "$OWN"
	ln -s "$PWD/precious" "$OWN/skills"
	ln -s "$PWD/precious/CLAUDE.md" "$OWN/CLAUDE.md"
	ln -s "$PWD/precious" "$OWN/CLAUDE.md.bak"
	ln -s "$PWD/precious/x" "$OWN/.oci-sandbox-import"
	ln -s "$PWD/precious/new" "$OWN/rules"
	run -0 store import
	[[ $output == *'left out skills (the agent has its own)'* && $output != *imported* ]]
	run -0 store force
	[ "$output" = $'imported CLAUDE.md\nimported rules\nimported skills' ]
	[ "$(cd precious && find . -type f | sort | xargs cat)" = $'CLAUDE.md\ny' ]
	[[ ! -L $OWN/skills && -f $OWN/skills/s && ! -L $OWN/CLAUDE.md && -L $OWN/skills.bak ]]
	store reset
	[ "$(cd precious && find . -type f | sort | xargs cat)" = $'CLAUDE.md\ny' ]
}

@test "state: a reset removes whatever an agent can make, under any name" {
	fill "$OWN"/a/.removed-0 "$OWN"/.removed-1 "$OWN"/$'new\nline' "$OWN/-rf *" "$OWN/..x"
	mkfifo "$OWN/fifo"
	mkdir -p "$OWN/d/$(printf 'd/%.0s' {1..300})"
	chmod 0 "$OWN/a" "$OWN/d/d/d"
	chmod 500 "$OWN"
	store reset
	[ "$(ls -A "$STATE/claude")" = lock ]
}

@test "state: names from anywhere move no cursor when they are told" {
	fill home/.agents/skills/$'a\e]0;title\a\nb'
	run -0 store enter
	[ "$output" = 'imported ~/.agents/skills/a?]0;title??b' ]
}

@test "state: what stands for a store and is no folder of one's own is refused, with what to do" {
	mkdir "$STATE"
	ln -s "$PWD/home" "$STATE/claude"
	run -1 store enter
	[[ $output == *"$STATE/claude: Not a directory (a folder of yours belongs there"* ||
		$output == *"$STATE/claude: Too many levels of symbolic links (a folder of yours belongs there"* ]]
	rm "$STATE/claude"
	echo file >"$STATE/claude"
	run -1 store enter
	[[ $output == *"$STATE/claude: Not a directory (a folder of yours belongs there"* ]]
	rm "$STATE/claude"
	mkdir -p "$OWN"
	ln -s "$PWD/home" "$OWN/daemon"
	run -1 store enter
	[[ $output == *"$OWN/daemon: "* ]]
}
