#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --check of a host: what is installed. What the kernel can do is tests/runtime/check.bats.

bats_require_minimum_version 1.5.0

setup() {
	# shellcheck source=tests/lib/hook.bash
	. "$SRCDIR/tests/lib/hook.bash"
	hook_setup "$BATS_TEST_TMPDIR"
	HOOKS=$BATS_TEST_TMPDIR/hooks.d
	BIN=$BATS_TEST_TMPDIR/bin
	mkdir -m 755 "$BIN"
	install -m 755 "$HOOK" "$BIN/"
	"$BIN/oci-sandbox-hook" --register podman --hooks-dir "$HOOKS" >/dev/null
}

# says LINE: --check does, and its status is that of the worst line
says() {
	local worst=0

	run "$BIN/oci-sandbox-hook" --config "$HOOK_CONFIG" --libexec "$HOOK_LIBEXEC" \
		--hooks-dir "$HOOKS" --check
	[[ $output != *$'\n'warning* && $output != warning* ]] || worst=1
	[[ $output != *$'\n'problem* && $output != problem* ]] || worst=2
	[[ $status == "$worst" ]]
	grep -F -- "$1" <<<"$output" || {
		echo "$output"
		return 1
	}
}

@test "check: what is installed as it should be is ok" {
	says "ok       programs: the shim is there, static"
	says "ok       policy: "
	says "ok       profiles: "
	says "ok       podman: it calls this program for each container"
	run ! grep -v -E '^(ok      |warning |problem ) [a-z0-9_ ]+: ' <<<"$output"
}

@test "check: changes nothing" {
	local before

	before=$(hook_tree "$BATS_TEST_TMPDIR")
	says "ok       policy: "
	[[ $(hook_tree "$BATS_TEST_TMPDIR") == "$before" ]]
}

@test "check: a shim that is missing, that others can write, or that can't run is a problem" {
	chmod g+w "$HOOK_LIBEXEC/shim"
	says "problem  programs: programs for the container: $HOOK_LIBEXEC/shim can be written by others"
	chmod 644 "$HOOK_LIBEXEC/shim"
	says "shim can't be run by all"
	rm "$HOOK_LIBEXEC/shim"
	says "problem  programs: programs for the container: open $HOOK_LIBEXEC/shim: No such file"
}

@test "check: a shim that is no static program is a problem" {
	printf '#!/bin/sh\n' >"$HOOK_LIBEXEC/shim"
	says "problem  programs: $HOOK_LIBEXEC/shim: not a program"
	: >"$HOOK_LIBEXEC/shim"
	says "problem  programs: $HOOK_LIBEXEC/shim: not a program"
	head -c 64 "$HOOK" >"$HOOK_LIBEXEC/shim"
	says "problem  programs: $HOOK_LIBEXEC/shim: not a program"
	cat "$HOOK" >"$HOOK_LIBEXEC/shim"
	says "problem  programs: $HOOK_LIBEXEC/shim: it is linked dynamically"
	cp "$(rootfs_busybox)" "$HOOK_LIBEXEC/shim"
	printf '\xff\xfe' | dd of="$HOOK_LIBEXEC/shim" bs=1 seek=18 conv=notrunc status=none
	says "problem  programs: $HOOK_LIBEXEC/shim: it is for another kind of machine"
}

@test "check: a missing policy is a warning, a broken one a problem" {
	rm "$HOOK_CONFIG/policy.conf"
	says "warning  policy: there is no $HOOK_CONFIG/policy.conf (an empty one has the defaults)"
	hook_policy 'nonsense = 1'
	says "problem  policy: $HOOK_CONFIG/policy.conf:1: unknown key \`nonsense\`"
	says "warning  profiles: no policy says which"
	hook_policy 'agents = claude'
	chmod o+w "$HOOK_CONFIG/policy.conf"
	says "problem  policy: policy: $HOOK_CONFIG/policy.conf can be written by others"
}

@test "check: a profile that the policy names and that is not there is a problem" {
	hook_policy 'agents = claude other'
	says "problem  profiles: profile \`other\`: open $HOOK_CONFIG/agents/other.conf: No such file"
}

@test "check: a hook that podman is not told of is a warning" {
	"$BIN/oci-sandbox-hook" --unregister podman --hooks-dir "$HOOKS" >/dev/null
	says "warning  podman: $HOOKS has no 50-oci-sandbox.json, so podman does not call the hook; oci-sandbox-hook --register podman"
}

@test "check: each of the two stages has to be registered" {
	mv "$HOOKS/50-oci-sandbox-poststart.json" "$BATS_TEST_TMPDIR/poststart"
	says "warning  podman: $HOOKS has no 50-oci-sandbox-poststart.json, so a network that is configured after the hook is never finished; oci-sandbox-hook --register podman"
	mv "$HOOKS/50-oci-sandbox.json" "$BATS_TEST_TMPDIR/create"
	cp "$BATS_TEST_TMPDIR/poststart" "$HOOKS/50-oci-sandbox-poststart.json"
	says "problem  podman: $HOOKS has 50-oci-sandbox-poststart.json and no 50-oci-sandbox.json, so each container that asks is stopped"
	cp "$BATS_TEST_TMPDIR/create" "$HOOKS/50-oci-sandbox-poststart.json"
	cp "$BATS_TEST_TMPDIR/create" "$HOOKS/50-oci-sandbox.json"
	says "problem  podman: $HOOKS/50-oci-sandbox-poststart.json does not name the stage poststart"
	cp "$BATS_TEST_TMPDIR/poststart" "$HOOKS/50-oci-sandbox.json"
	says "problem  podman: $HOOKS/50-oci-sandbox.json does not name the stage createRuntime"
}

@test "check: a hook that is told another stage than it is called at is a problem" {
	described '.stages += ["poststart"]'
	cp "$HOOKS/50-oci-sandbox.json" "$HOOKS/50-oci-sandbox-poststart.json"
	says "problem  podman: $HOOKS/50-oci-sandbox-poststart.json tells the hook \`createRuntime\` at the stage poststart"
	described '.hook.args = ["oci-sandbox-hook", "--check"]'
	says "problem  podman: $HOOKS/50-oci-sandbox.json tells the hook \`--check\` at the stage createRuntime"
	described 'del(.hook.args)'
	says "problem  podman: $HOOKS/50-oci-sandbox.json tells the hook \`no stage\` at the stage createRuntime"
	described '.hook.args = 7'
	says "problem  podman: $HOOKS/50-oci-sandbox.json: hook: args: not an array"
}

@test "check: what podman would leave out without a word is a problem" {
	local file=$HOOKS/50-oci-sandbox.json

	jq '.hook.path = "/nowhere/hook"' "$file" >"$BATS_TEST_TMPDIR/new"
	cp "$BATS_TEST_TMPDIR/new" "$file"
	says "problem  podman: $file calls /nowhere/hook, and podman goes on without: No such file"
	echo '{' >"$file"
	says "problem  podman: $file: parse JSON: "
	echo '{"hook": {}}' >"$file"
	says "problem  podman: $file: hook: path: missing"
}

@test "check: a hook that is another program is a warning" {
	cp "$BIN/oci-sandbox-hook" "$BIN/other"
	jq --arg path "$BIN/other" '.hook.path = $path' "$HOOKS/50-oci-sandbox.json" >"$BATS_TEST_TMPDIR/new"
	cp "$BATS_TEST_TMPDIR/new" "$HOOKS/50-oci-sandbox.json"
	says "warning  podman: $HOOKS/50-oci-sandbox.json calls $BIN/other, which is not this program"
}

# described FILTER: the description, changed with a filter of jq
described() {
	jq "$1" "$HOOKS/50-oci-sandbox.json" >"$BATS_TEST_TMPDIR/new"
	cp "$BATS_TEST_TMPDIR/new" "$HOOKS/50-oci-sandbox.json"
}

@test "check: a hook that is called too late is a problem, one that is not always called a warning" {
	local filter

	for filter in '.stages = ["poststop"]' '.stages = []' 'del(.stages)'; do
		described "$filter"
		says "problem  podman: $HOOKS/50-oci-sandbox.json does not name the stage createRuntime"
	done
	described '.stages = ["poststop", "prestart"]'
	says "ok       podman: "
	for filter in '.when.always = false' 'del(.when.always)' 'del(.when)'; do
		described "$filter"
		says "warning  podman: $HOOKS/50-oci-sandbox.json does not say \`\"always\": true\`: some"
	done
	described '.stages = 7'
	says "problem  podman: $HOOKS/50-oci-sandbox.json: stages: not an array"
}
