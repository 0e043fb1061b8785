#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim,once
#
# oci-sandbox run, and --print-plan: what is printed is what a launch then has.

load ../lib/standalone
load ../lib/schema

RUN=(oci-sandbox run)

setup_file() {
	lab_prepare
	standalone_template
	network_start
}

setup() {
	container_prepare
}

teardown() {
	container_remove
}

# agents: "claude" writes the files that it is told of, with nothing in between; "codex" is a shell
agents() {
	local dir=$ROOTFS/usr/local/bin

	[[ ! -e $ROOTFS/usr/bin/claude ]] || dir=$ROOTFS/usr/bin
	printf '#!/bin/busybox cat\n' >"$dir/claude"
	printf '#!/bin/sh\nshift 2\nexec sh -c "$@"\n' >"$ROOTFS/usr/bin/codex" # not its profile's
	chmod 755 "$dir/claude" "$ROOTFS/usr/bin/codex"
	[[ $dir == */local/* ]] || ln -s /usr/libexec/oci-sandbox/shim "$ROOTFS/usr/local/bin/codex"
	mkdir -p "$ROOTFS/home/dev/.local/share/tool" "$ROOTFS/home/dev/.cargo" "$ROOTFS/root/.rustup" \
		"$ROOTFS/root/.config/gh"
	touch "$ROOTFS/home/dev/.cargo/credentials"
	tee "$ROOTFS/home/dev/.claude/CLAUDE.md" <<<'be brief' >"$ROOTFS/root/.claude/CLAUDE.md"
	container_owner 1000 "$ROOTFS/home/dev"
	container_owner 0 "$ROOTFS/root"
}

# by ID COMMAND...: in the container, as that user
by() {
	local home=/root

	[[ $1 == 0 ]] || home=/home/dev
	engine_podman exec --user "$1:$1" --env "HOME=$home" --env LC_ALL=C.UTF-8 --env TERM=vt100 \
		--env ANTHROPIC_API_KEY=STAND-IN-KEY "$CONTAINER" "${@:2}"
}

# everything: what is in the container, with all that changes when something is done to it
everything() {
	find "$ROOTFS" "$WORKSPACE" -printf '%p %i %m %U %s %T@ %C@\n' | sort
}

# planned ID ARG...: PLAN is a file with what is printed for such a launch; nothing is done for it
planned() {
	local before

	PLAN=${ROOTFS%/*}/plan
	before=$(everything)
	by "$1" "${RUN[@]}" --print-plan --json "${@:2}" >"$PLAN"
	diff <(echo "$before") <(everything)
	schema_fits plan "$(<"$PLAN")"
}

# agent_file ID FILE: the agent's own, of /proc/self
agent_file() {
	by "$1" claude "/proc/self/$2" | tail -n +2
}

# launched ID: a launch has what PLAN says
launched() {
	local id=$1 own=${ROOTFS%/*}

	# busybox has set none of its own
	agent_file "$id" environ | tr '\0' '\n' >"$own/environ"
	jq -r '.environment[] | .name + "=" + (.value // "STAND-IN-KEY")' "$PLAN" | diff - "$own/environ"

	agent_file "$id" mountinfo >"$own/sandbox"
	by "$id" cat /proc/self/mountinfo >"$own/container"
	python3 "$SRCDIR/tests/lib/plan_mounts.py" "$PLAN" "$own/sandbox" "$own/container" "/=$ROOTFS" \
		"/workspace=$WORKSPACE" "/mnt/kube=$KUBE" /proc=/nowhere /sys=/nowhere /dev=/nowhere /run=/nowhere

	agent_file "$id" status >"$own/status"
	grep -qx "Uid:	$(jq -r '.user.uid_inside as $u | [$u, $u, $u, $u] | map(tostring) | join("\t")' "$PLAN")" "$own/status"
	grep -qx "Gid:	$(jq -r '.user.gid_inside as $g | [$g, $g, $g, $g] | map(tostring) | join("\t")' "$PLAN")" "$own/status"
	grep -qx 'NoNewPrivs:	1' "$own/status"
	[[ $(grep -c '^Cap[A-Za-z]*:	0*$' "$own/status") -eq 5 ]]
}

# namespaces_differ ID: those of an agent are other ones than the container's, as PLAN says
namespaces_differ() {
	local ls='for n in user mnt pid ipc uts cgroup net; do readlink /proc/self/ns/$n; done'

	diff <(by "$1" sh -c "$ls") <(by "$1" codex "$ls") | sed -n 's/^> \([a-z]*\):.*/\1/p' |
		sed 's/mnt/mount/' | sort >"${ROOTFS%/*}/namespaces"
	jq -r '[.namespaces.makes[], (if .network.kind == "none" then empty else "net" end)] | unique | .[]' \
		"$PLAN" | diff - "${ROOTFS%/*}/namespaces"
}

@test "plan: nothing is done to print it, and a launch has just that" {
	local id

	agents
	running
	for id in 0 1000; do
		container_owner "$id" "$WORKSPACE"
		planned "$id" claude /proc/self/environ
		jq -e --argjson id "$id" '.user.uid == $id and .hook and .network.kind == "namespace" and
			.cwd == "/workspace" and .command.program == "/usr/local/bin/claude" and
			.command.arguments == ["claude", "/proc/self/environ"] and
			(.first.makes | length) == 8 and .first.obstacles == [] and
			(.first.imports | length) == 1 and (.first.imports[0] | endswith("/.claude/CLAUDE.md"))' "$PLAN"
		launched "$id"
		run -0 by "$id" claude "$(jq -r '.first.imports[0]' "$PLAN")"
		[[ $output == *'be brief' ]]
		namespaces_differ "$id"
		# the stores are there now, and the rest is the same
		cp "$PLAN" "$PLAN.first"
		planned "$id" claude /proc/self/environ
		diff <(jq '.first.makes = [] | .first.imports = []' "$PLAN.first") <(jq . "$PLAN")
	done
}

@test "plan: without the hook it is what a launch has as well" {
	local id

	standalone_prepare
	agents
	printf '%s\n' 'protect = .git/hooks .tool' 'local-port = 8080' >>"$ROOTFS/etc/oci-sandbox/policy.conf"
	running
	for id in 0 1000; do
		container_owner "$id" "$WORKSPACE"
		planned "$id" claude
		jq -e '(.hook | not) and .network.kind == "pasta" and .network.local_ports == [8080] and
			.protected_missing == [".tool"]' "$PLAN"
		launched "$id"
		namespaces_differ "$id"
	done
	engine_podman exec --env OCI_SANDBOX_EGRESS=none "$CONTAINER" "${RUN[@]}" --print-plan --json codex true >"$PLAN"
	jq -e '.network | .kind == "none" and .egress == "none" and .resolvers == []' "$PLAN"
}

@test "plan: while another session has the overlay, there is none in it" {
	agents
	mkdir -p "$ROOTFS/root/.local/share/tool"
	container_owner 0 "$ROOTFS/root"
	running
	planned 0 claude
	jq -e '.mounts[] | select(.target == "/root/.local/share") | .step == "overlay"' "$PLAN"
	engine_podman exec --detach "$CONTAINER" codex 'echo up >up; exec sleep 1000'
	appears "$WORKSPACE/up"
	planned 0 codex
	jq -e '.mounts[] | select(.target == "/root/.local/share") | .step == "bind"' "$PLAN"
	planned 0 claude # has a store of its own
	jq -e '.mounts[] | select(.target == "/root/.local/share") | .step == "overlay"' "$PLAN"
	run -0 by 0 codex "grep ' /root/.local/share ' /proc/self/mountinfo"
	[[ $output != *overlay* ]]
}

@test "plan: it takes no process, no privilege, no folder and no lock" {
	agents
	jq -n '{defaultAction: "SCMP_ACT_ALLOW", syscalls: [{action: "SCMP_ACT_ERRNO", errnoRet: 1,
		names: ["clone", "clone3", "fork", "vfork", "unshare", "setns", "mkdir", "mkdirat", "flock",
			"mount", "open_tree", "fsopen", "socket", "unlink", "unlinkat", "rename", "renameat2",
			"chmod", "fchmodat", "symlinkat"]}]}' >"${ROOTFS%/*}/seccomp.json"
	chmod 644 "${ROOTFS%/*}/seccomp.json"
	printf '[user]\n\tname = A\n' >"$ROOTFS/root/.gitconfig"
	chmod 644 "$ROOTFS/root/.gitconfig"
	container_owner 0 "$ROOTFS/root"
	OPTIONS+=(--read-only --cap-drop all --env HOME=/root --security-opt "seccomp=${ROOTFS%/*}/seccomp.json")
	run -0 --separate-stderr confined "${RUN[@]}" --print-plan --json claude x
	jq -e '.first.asks_git and (.first.obstacles | any(test("can.t be made: Read-only file system"))) and
		(.mounts | length) > 50' <<<"$output"
	[[ -z $stderr ]]
	run -125 confined "${RUN[@]}" claude x
	has 'Operation not permitted' "$output"
	OPTIONS=("${OPTIONS[@]:0:${#OPTIONS[@]}-2}")
	run -125 confined "${RUN[@]}" claude x
	has 'Read-only file system' "$output"
}

@test "run: it is the launch by the agent's name, narrower if asked" {
	agents
	mkdir -p "$WORKSPACE/sub" "$ROOTFS/root/.config/gh"
	echo 'STAND-IN login' >"$ROOTFS/root/.config/gh/hosts.yml"
	container_owner 0 "$WORKSPACE" "$ROOTFS/root"
	running
	run -0 diff <(by 0 claude /proc/self/environ) <(by 0 "${RUN[@]}" claude /proc/self/environ)
	run -0 diff <(by 0 claude /proc/self/status | grep ^Sig) <(by 0 "${RUN[@]}" claude /proc/self/status | grep ^Sig)
	run -7 by 0 "${RUN[@]}" codex 'exit 7'
	run -0 by 0 "${RUN[@]}" codex 'cat ~/.config/gh/hosts.yml'
	is 'STAND-IN login'
	run -1 by 0 "${RUN[@]}" --no-forge codex 'cat ~/.config/gh/hosts.yml'
	run -0 by 0 "${RUN[@]}" --workspace sub codex 'pwd; ls ..; touch ../x 2>/dev/null || echo refused'
	is $'/workspace/sub\nsub\nrefused'
	run -0 engine_podman exec --workdir / "$CONTAINER" "${RUN[@]}" --workspace=/workspace codex pwd
	is /workspace
	run -125 by 0 "${RUN[@]}" --workspace / codex pwd
	has "your home (/root) is in it" "$output"
	run -125 by 0 "${RUN[@]}" --workspace ../nowhere codex pwd
	has "--workspace ../nowhere: No such file or directory" "$output"
	run -125 by 0 "${RUN[@]}" --workspace /etc/passwd codex pwd
	has "--workspace /etc/passwd: Not a directory" "$output"

	# in a sandbox
	run -0 by 0 codex "${RUN[*]} codex 'exit 0' && ${RUN[*]} --print-plan codex -x"
	[[ $output == 'This is a sandbox already'*'runs         /usr/bin/codex'*'argument     -x' ]]
	run -0 --separate-stderr by 0 codex "${RUN[*]} --print-plan --json codex"
	jq -e '.nested and .command.program == "/usr/bin/codex"' <<<"$output"
	schema_fits plan "$output"
	for option in --no-forge '--egress none' '--local-port 80' '--callback-port 80' '--pass-env A'; do
		run -125 by 0 codex "${RUN[*]} $option codex true"
		has 'this is a sandbox already' "$output"
	done
}

@test "run: a policy's workspace-root is the most that there is" {
	agents
	mkdir -p "$WORKSPACE/a/b" "$WORKSPACE/c"
	container_owner 0 "$WORKSPACE"
	policy_with 'workspace-root = /workspace/a'
	OPTIONS+=(--workdir /workspace/a)
	running
	run -0 by 0 "${RUN[@]}" --workspace b codex 'pwd; touch x 2>&1 && ! touch ../x 2>/dev/null && echo ok'
	is $'/workspace/a/b\nok'
	run -125 by 0 "${RUN[@]}" --workspace ../c codex 'echo the agent ran'
	has 'is not in /workspace/a, which is the most that the policy gives' "$output"
	run -125 by 0 "${RUN[@]}" --workspace .. codex 'echo the agent ran'
	has 'is the most that the policy gives' "$output"
}

@test "run: names and arguments of all kinds are an agent's, or refused, and none reaches the terminal" {
	local name

	agents
	running
	for name in /usr/local/bin/claude $'x\e[2J\n\xff' "$(head -c 100000 /dev/zero | tr '\0' x)"; do
		run -125 --separate-stderr by 0 "${RUN[@]}" "$name" x
		[[ -z $output && $stderr == "oci-sandbox: no agent is called \`"*' here; the policy has: claude codex pi' ]]
		[[ $stderr != *$'\e'* && ${#stderr_lines[@]} -eq 1 && ${#stderr} -lt 600 ]]
	done
	run -127 --separate-stderr by 0 "${RUN[@]}" --print-plan pi
	has 'no pi in this container: install it' "$stderr"
	run -64 --separate-stderr by 0 "${RUN[@]}" --print-plan
	[[ -z $output && $stderr == 'oci-sandbox: which agent? its name is missing' ]]
	run -64 --separate-stderr by 0 "${RUN[@]}" --agents=all codex true
	has 'unknown option `--agents=all`' "$stderr"
	# shellcheck disable=SC2016 # the container's
	run -0 --separate-stderr by 0 sh -c 'x=$(head -c 120000 /dev/zero | tr "\0" x)
		"$@" --print-plan --json codex -- $x $x $x $x $x $x $x $x "" "$(printf "\033[2J\n\nz")"' - "${RUN[@]}"
	[[ $output != *$'\e'* ]]
	jq -e '.command.arguments | length == 14 and .[1] == "-c" and .[3] == "--" and (.[11] | length) == 120000 and
		.[12] == "" and .[13] == "\u001b[2J\n\nz"' <<<"$output"
	run -125 by 0 sh -c '"$@" --print-plan codex >/dev/full' - "${RUN[@]}"
	has 'write the plan: No space left on device' "$output"
}
