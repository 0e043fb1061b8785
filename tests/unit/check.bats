#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --check of a host: what is installed. What the kernel can do is tests/runtime/check.bats.

bats_require_minimum_version 1.5.0

setup() {
	# shellcheck source=tests/lib/hook.bash
	. "$SRCDIR/tests/lib/hook.bash"
	# shellcheck source=tests/lib/schema.bash
	. "$SRCDIR/tests/lib/schema.bash"
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
	says "ok       programs: shim and cli are there, static"
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

@test "check: a cli that is missing or dynamic is a problem" {
	cat "$HOOK" >"$HOOK_LIBEXEC/cli"
	says "problem  programs: $HOOK_LIBEXEC/cli: it is linked dynamically"
	rm "$HOOK_LIBEXEC/cli"
	says "problem  programs: programs for the container: open $HOOK_LIBEXEC/cli: No such file"
}

@test "check: a shim that is missing, that others can write, or that can't run is a problem" {
	chmod g+w "$HOOK_LIBEXEC/shim"
	says "problem  programs: programs for the container: $HOOK_LIBEXEC/shim can be written by others"
	chmod 644 "$HOOK_LIBEXEC/shim"
	says "shim can't be run by all"
	rm "$HOOK_LIBEXEC/shim"
	says "problem  programs: programs for the container: open $HOOK_LIBEXEC/shim: No such file"
}

@test "check: programs that are somebody else's, or whose folder is, are a problem" {
	[[ $EUID == 0 ]] || skip "needs root, to give files away"
	chown 60097 "$HOOK_LIBEXEC/shim"
	says "problem  programs: programs for the container: $HOOK_LIBEXEC/shim belongs to uid 60097"
	chown 0 "$HOOK_LIBEXEC/shim"
	chown 60097 "$HOOK_LIBEXEC"
	says "problem  programs: programs for the container: $HOOK_LIBEXEC belongs to uid 60097"
	chown 0 "$HOOK_LIBEXEC"
	chmod o+w "$HOOK_LIBEXEC"
	says "problem  programs: programs for the container: $HOOK_LIBEXEC can be written by others"
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

# ---- for programs ----

# json ARG...: --check --json writes just that much, which jq understands; RESULT is it
json() {
	run "$BIN/oci-sandbox-hook" --config "$HOOK_CONFIG" --libexec "$HOOK_LIBEXEC" \
		--hooks-dir "$HOOKS" --check --json "$@"
	RESULT=$output
	jq -e '.version == 1' <<<"$RESULT" || {
		echo "$RESULT"
		return 1
	}
	fits
}

# fits: RESULT is as the schema has it
fits() {
	schema_fits check "$RESULT"
}

# lines_of_json: the lines that --check would write of it
lines_of_json() {
	jq -r '.checks[] | (.status + "         ")[:9] + .name + ": " + .found +
		if .advice then "; " + .advice else "" end' <<<"$RESULT"
}

@test "check: JSON says what the lines say, with the same exit status" {
	local code

	for code in 'true' 'rm "$HOOK_CONFIG/policy.conf"' 'rm "$HOOK_LIBEXEC/shim"'; do
		eval "$code"
		says ""
		printf '%s\n' "$output" >"$BATS_TEST_TMPDIR/lines"
		code=$status
		json
		[[ $status == "$code" ]]
		lines_of_json | diff -u "$BATS_TEST_TMPDIR/lines" -
		jq -e --argjson code "$code" '.status == ["ok", "warning", "problem"][$code]' <<<"$RESULT"
	done
}

@test "check: the schema is one, and refuses what is not as it says" {
	jq -e '."$schema" == "https://json-schema.org/draft/2020-12/schema"' "$SRCDIR/docs/check.schema.json"
	schema_python || skip "needs python3-jsonschema"
	for RESULT in '{}' '{"version": 2, "steps": []}' '{"version": 1}' \
		'{"version": 1, "status": "fine", "checks": []}' \
		'{"version": 1, "status": "warning", "checks": [{"name": "x", "status": "warning", "found": ""}]}' \
		'{"version": 1, "steps": [{"kind": "mount"}]}'; do
		run ! fits
	done
	RESULT='{"version": 1, "status": "ok", "checks": [{"name": "x", "status": "ok", "found": ""}]}'
	fits
}

# bundle [FILTER]: of a container that asks, changed with a filter of jq
bundle() {
	mkdir -p "$HOOK_ROOTFS/usr/bin" "$HOOK_ROOTFS/etc"
	printf 'nameserver 192.0.2.53\n' >"$HOOK_ROOTFS/etc/resolv.conf"
	jq -n --arg resolv "$HOOK_ROOTFS/etc/resolv.conf" '{ociVersion: "1.0.2", root: {path: "rootfs"}, process: {env: ["OCI_SANDBOX=1", "PATH=/usr/bin"]},
		mounts: [{destination: "/work", type: "bind", source: "/x"},
			{destination: "/etc/resolv.conf", type: "bind", source: $resolv}],
		linux: {namespaces: [{type: "mount"}, {type: "network"}]}}' |
		jq "${1:-.}" >"$HOOK_BUNDLE/config.json"
}

@test "check: JSON of a bundle has every namespace, rule, mount and name, in order" {
	bundle
	printf '#!/bin/sh\n' >"$HOOK_ROOTFS/usr/bin/claude"
	chmod 755 "$HOOK_ROOTFS/usr/bin/claude"
	hook_policy 'agents = claude other'
	hook_profile other 'commands = other' 'state = .other'
	json --bundle "$HOOK_BUNDLE"
	[[ $status == 0 ]]
	jq -e '.ours and .why == "OCI_SANDBOX=1 in process.env" and (has("refused") | not)' <<<"$RESULT"
	jq -e '[.steps[] | if .what | startswith("new user") then "namespaces" else .kind end] |
		[., sort_by({note: 0, namespace: 1, rule: 2, mount: 3, name: 4, namespaces: 5, agent: 6,
		"engine-mount": 7}[.])] | .[0] == .[1]' <<<"$RESULT"
	jq -e '[.steps[] | select(.kind == "namespace") | .what] ==
		["the container\u0027s mount namespace", "the container\u0027s network namespace",
		"new user and network namespaces for agents of uid 0",
		"new user and network namespaces for agents of uid 1000"]' <<<"$RESULT"
	jq -e '[.steps[] | select(.kind == "rule") | .what] | any(. == "accept established and related") and
		any(. == "refuse to an agent") and any(contains("192.0.2.53")) and any(contains("169.254.0.0"))' <<<"$RESULT"
	jq -e '[.steps[] | select(.kind == "mount" or .kind == "name") | .target] ==
		["/usr/libexec/oci-sandbox", "/run/oci-sandbox", "/run/oci-sandbox/agents/claude",
		"/usr/bin/claude", "/usr/bin/other", "/usr/bin/oci-sandbox"]' <<<"$RESULT"
	jq -e '.steps | any(.source == "/usr/bin/claude") and any(.kind == "engine-mount" and .target == "/work")' \
		<<<"$RESULT"
}

@test "check: a bundle's steps for people are those for programs" {
	bundle
	json --bundle "$HOOK_BUNDLE"
	run -0 "$BIN/oci-sandbox-hook" --config "$HOOK_CONFIG" --libexec "$HOOK_LIBEXEC" --check --bundle "$HOOK_BUNDLE"
	[[ ${lines[0]} == "ours: OCI_SANDBOX=1 in process.env" ]]
	[[ ${lines[2]} == "enter: the container's mount namespace" ]]
	[[ ${lines[3]} == "enter: the container's network namespace" && ${lines[4]} == "refuse from an agent to the container" ]]
	[[ ${#lines[@]} == $(jq '1 + (.steps | length)' <<<"$RESULT") ]]
}

@test "check: JSON of a bundle that is not ours, is refused, or can't be read" {
	bundle '.process.env = []'
	json --bundle "$HOOK_BUNDLE"
	[[ $status == 0 ]]
	jq -e '.ours == false and .steps == [] and (.why | startswith("the container does not ask"))' <<<"$RESULT"
	bundle '.linux.namespaces = [{type: "mount"}]'
	json --bundle "$HOOK_BUNDLE"
	[[ $status == 2 ]]
	jq -e '.ours and .steps == [] and (.refused | contains("network"))' <<<"$RESULT"
	echo '{' >"$HOOK_BUNDLE/config.json"
	json --bundle "$HOOK_BUNDLE"
	[[ $status == 2 ]]
	jq -e '(has("ours") or has("why") | not) and (.refused | contains("parse JSON"))' <<<"$RESULT"
}

@test "check: JSON stays JSON, whatever an image calls its files" {
	local name=$'\xff"\\\n\x01\xc3\xa9\xe2\x82\xed\xa0\x80\xf0\x9f\x98\x80\xc3'

	bundle '.process.env[1] = "PATH=/usr/bin:/bin"'
	mkdir -p "$HOOK_ROOTFS/$name" "$HOOK_ROOTFS/bin"
	printf '#!/bin/sh\n' >"$HOOK_ROOTFS/$name/claude"
	chmod 755 "$HOOK_ROOTFS/$name/claude"
	ln -s "/$name/claude" "$HOOK_ROOTFS/bin/claude"
	json --bundle "$HOOK_BUNDLE"
	[[ $status == 0 ]]
	iconv -f UTF-8 -t UTF-8 <<<"$RESULT" >/dev/null
	jq -e '.steps | any(.kind == "agent" and
		.target == "/\ufffd\"\\\n\u0001é\ufffd\ufffd\ufffd\ufffd\ufffd😀\ufffd/claude")' <<<"$RESULT"
}

@test "check: what can't be written is no success" {
	run -2 bash -c '"$@" >/dev/full' - "$BIN/oci-sandbox-hook" --check --json
	bundle
	run -2 bash -c '"$@" >/dev/full' - "$BIN/oci-sandbox-hook" --config "$HOOK_CONFIG" \
		--libexec "$HOOK_LIBEXEC" --check --json --bundle "$HOOK_BUNDLE"
}

@test "check: what is for --check is for nothing else" {
	local args

	for args in --json "--json createRuntime" "--json --version" "--run createRuntime" --run \
		"--check --run docker" "--check --run podman podman" "--check --run --bundle /x" \
		"--check --time-limit 5" "--check --run --time-limit" "--check --run --time-limit 0" \
		"--check --run --time-limit 1x" "--check --run --time-limit 3601" "poststart --time-limit 5"; do
		# shellcheck disable=SC2086
		run -64 "$BIN/oci-sandbox-hook" $args </dev/null
	done
}
