#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim,once
#
# The real agents' terminal programs in tmux: drawn, resized, stopped, gone on with, ended.

load ../lib/agents

setup_file() {
	lab_prepare
}

setup() {
	container_prepare
	policy_with 'local-port = 8377'
	container_owner 0 "$WORKSPACE"
}

teardown() {
	panes kill-server || true
	agents_remove
}

panes() {
	tmux -S "${ROOTFS%/*}/tmux" -f /dev/null "$@" 3>&-
}

# open_shell: in the container, in a pane of 100 columns
open_shell() {
	export -f engine_podman engine_as_user
	export CONTAINER
	panes new-session -d -s main -x 100 -y 30 bash -c 'engine_podman exec -it --env TERM=xterm-256color \
		--env ANTHROPIC_BASE_URL=http://127.0.0.1:8377 --env ANTHROPIC_API_KEY=sk-mock \
		"$CONTAINER" sh -i; exec sleep 1000'
	shows '/workspace #'
}

# type KEY...: as tmux names them
keys() {
	panes send-keys -t main "$@"
}

# shows TEXT: the pane does, by and by
shows() {
	within 60 on_screen "$1" || {
		panes capture-pane -p -t main
		return 1
	}
}

on_screen() {
	[[ $(panes capture-pane -p -t main) == *"$1"* ]]
}

# modes: what is switched on in the pane, the size of the container's terminal aside
modes() {
	panes display-message -p -t main \
		'#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_flag} #{keypad_cursor_flag} #{insert_flag}'
}

# is_plain: nothing is, and the shell finds its terminal as it was
is_plain() {
	[[ $(modes) == "0 1 0 0 0 0" ]]
}

# settings NAME: the shell writes its terminal's settings there
settings() {
	keys "stty -g >/workspace/$1; echo $1 is writ''ten" Enter
	shows "$1 is written"
}

# settings_are_back: as they were
settings_are_back() {
	within 20 is_plain || {
		modes
		return 1
	}
	settings after
	cmp "$WORKSPACE/before" "$WORKSPACE/after"
}

@test "tui: Claude Code" {
	claude_install
	printf '%s' '{"hasCompletedOnboarding": true, "theme": "dark",
		"customApiKeyResponses": {"approved": ["sk-mock"]},
		"projects": {"/workspace": {"hasTrustDialogAccepted": true}}}' >"$ROOTFS/root/.claude.json"
	container_owner 0 "$ROOTFS/root/.claude.json"
	model_start 'true'
	open_shell
	settings before
	keys claude Enter
	shows 'auto mode on'
	keys -l hello
	shows hello
	panes resize-window -t main -x 130 -y 40
	shows "$(printf '%.0s─' {1..130})"
	keys C-z
	shows '[1]+  Stopped'
	settings_are_back
	keys fg Enter
	shows 'auto mode on'
	shows hello
	keys C-c # which takes the text back
	keys -l good-bye
	shows good-bye
	keys C-c
	shows 'again to exit'
	keys C-c
	settings_are_back
}

@test "tui: Codex" {
	local store=$ROOTFS/root/.local/state/oci-sandbox/codex/state

	codex_install
	mkdir -p "$store"
	cat >"$store/config.toml" <<-'END'
		model = "mock-model"
		model_provider = "mock"
		check_for_update_on_startup = false
		[model_providers.mock]
		name = "mock"
		base_url = "http://127.0.0.1:8377/v1"
		wire_api = "responses"
		[projects."/workspace"]
		trust_level = "trusted"
	END
	container_owner 0 "$ROOTFS/root"
	model_start 'true'
	open_shell
	settings before
	keys codex Enter
	shows 'mock-model'
	keys -l hello
	shows hello
	keys C-z
	shows '[1]+  Stopped'
	settings_are_back
	keys fg Enter
	shows hello
	keys C-c
	keys C-c
	settings_are_back
}
