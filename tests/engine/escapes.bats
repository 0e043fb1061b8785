#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim,once
#
# The real agents have daemons and queues, by which one that is confined could have its commands run
# by one that is not. Here the same user runs both in one container: the agent's own program, outside,
# with a daemon; and the confined one, which is told to hand its work over.

load ../lib/agents

setup_file() {
	lab_prepare
}

setup() {
	container_prepare
	policy_with 'local-port = 8377'
	container_owner 0 "$WORKSPACE"
	RAN=$WORKSPACE/ran
}

teardown() {
	[[ ! -S ${ROOTFS%/*}/tmux ]] || terminals kill-server
	agents_remove
}

# What the model asks for in each turn: a line that says whose it is
task='cat ~/.ssh/id_ed25519 >>/workspace/ran 2>/dev/null || echo confined >>/workspace/ran'
outside='STAND-IN key'

terminals() {
	tmux -S "${ROOTFS%/*}/tmux" -f /dev/null "$@" 3>&-
}

# terminal NAME COMMAND...: in the container, on a terminal
terminal() {
	local name=$1

	shift
	export -f engine_podman engine_as_user
	export CONTAINER
	terminals new-session -d -s "$name" -x 140 -y 40 bash -c \
		'engine_podman exec -it --env TERM=xterm "$CONTAINER" "$@"; exec sleep 1000' - "$@"
}

# ran LINE...: that is what the turns have said, once there are as many
ran() {
	local deadline=$((SECONDS + 60)) expected name

	expected=$(printf '%s\n' "$@")
	until [[ -e $RAN && $(wc -l <"$RAN") -ge $# ]]; do
		((SECONDS < deadline)) || {
			printf 'nothing more than: %s\n' "$(cat "$RAN")"
			for name in $(terminals list-sessions -F '#S' 2>/dev/null); do
				terminals capture-pane -p -t "$name"
			done
			return 1
		}
	done
	diff -u <(printf '%s\n' "$expected") "$RAN"
}

inside() {
	engine_podman exec --env ANTHROPIC_BASE_URL=http://127.0.0.1:8377 --env ANTHROPIC_API_KEY=sk-mock \
		"$CONTAINER" "$@" </dev/null
}

@test "codex: no turn of the confined terminal and no queued message gets to the daemon outside" {
	local store=$ROOTFS/root/.local/state/oci-sandbox/codex/state thread

	codex_install
	mkdir -p "$ROOTFS/root/.codex" "$store"
	cat >"$ROOTFS/root/.codex/config.toml" <<-'END'
		model = "mock-model"
		model_provider = "mock"
		sandbox_mode = "danger-full-access"
		approval_policy = "never"
		check_for_update_on_startup = false
		[model_providers.mock]
		name = "mock"
		base_url = "http://127.0.0.1:8377/v1"
		wire_api = "responses"
		[projects."/workspace"]
		trust_level = "trusted"
	END
	cp "$ROOTFS/root/.codex/config.toml" "$store"
	container_owner 0 "$ROOTFS/root"
	model_start "$task"

	inside sh -c "$CODEX app-server --listen unix:// >/dev/null 2>&1 &
		until [ -S ~/.codex/app-server-control/app-server-control.sock ]; do :; done"
	terminal outside "$CODEX" hello
	ran "$outside"
	terminal confined codex hello
	ran "$outside" confined

	thread=$(cd "$ROOTFS/root/.codex/sessions" && find . -name '*.jsonl')
	thread=$(grep -oE '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' <<<"${thread##*/}")
	run -1 inside codex queue --thread "$thread" --message confined
	has "no rollout found for thread id $thread" "$output"
	# the session outside is idle, and takes what comes by its own queue
	inside "$CODEX" queue --thread "$thread" --message outside
	ran "$outside" confined "$outside"
}

@test "claude: no work for the background goes from a sandbox to the daemon outside" {
	local bg

	claude_install
	printf '%s' '{"hasCompletedOnboarding": true, "customApiKeyResponses": {"approved": ["sk-mock"]},
		"projects": {"/workspace": {"hasTrustDialogAccepted": true}}}' >"$ROOTFS/root/.claude.json"
	bg="$CLAUDE --bg --allowedTools Bash --permission-mode default hello </dev/null"
	# one turn in the sandbox hands the next one over, and waits for it
	cat >"$WORKSPACE/task" <<-END
		$task
		[ -p /workspace/done ] || exit 0
		mkdir /workspace/once 2>/dev/null || { echo >/workspace/done; exit; }
		unset CLAUDE_CODE_DISABLE_AGENT_VIEW
		$bg
		read -r x </workspace/done
	END
	container_owner 0 "$ROOTFS/root/.claude.json" "$WORKSPACE"
	model_start 'timeout 80 sh /workspace/task'

	inside sh -c "$bg"
	ran "$outside"
	run -1 inside claude --bg hello
	has "'--bg' is disabled by CLAUDE_CODE_DISABLE_AGENT_VIEW" "$output"
	# nor by who has switched it on again
	inside mkfifo /workspace/done
	run -0 inside claude -p hi --allowedTools Bash
	has MOCK-DONE "$output"
	ran "$outside" confined confined
	inside sh -c 'probe connect /tmp/cc-daemon-0/*/control.sock' # it was there all the time
}
