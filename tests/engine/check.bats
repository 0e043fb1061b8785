#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine
#
# --check --run: a trial container tells whether podman really calls the hook.

load ../lib/confined

setup_file() {
	lab_prepare
}

setup() {
	sandbox_paths
	OWN=$LAB/check/$BATS_SUITE_TEST_NUMBER
	BIN=$OWN/bin
	HOOKS=$OWN/hooks.d
	CONFIG=$OWN/config
	HOOK=$OWN/oci-sandbox-hook
	mkdir -p "$BIN" "$HOOKS" "$OWN/said"
	chmod 777 "$OWN/said"
	install -m 755 "$SANDBOX_HOOK" "$HOOK"
	cp -r "$SANDBOX_CONFIG" "$CONFIG"
	podman_with ""
	"$HOOK" --config "$CONFIG" --libexec "$SANDBOX_LIBEXEC" --hooks-dir "$HOOKS" --register podman
}

teardown() {
	rm -rf "$OWN"
	leaves_nothing
}

# podman_with CODE: the podman in PATH does this first; ARGS are its arguments. Where the engine has
# options of its own they are for "run".
podman_with() {
	local options

	mapfile -t options < <(engine_options)
	[[ $ENGINE == podman-runc ]] || options=()
	{
		printf '#!/bin/bash\nSAID=%q ARGS=()\n' "$OWN/said"
		# shellcheck disable=SC2016 # the script's
		printf 'for arg; do ARGS+=("$arg"); [[ $arg != run ]] || ARGS+=(%s); done\n' "${options[*]@Q}"
		# shellcheck disable=SC2016
		printf '%s\nexec %q "${ARGS[@]}"\n' "$1" "$(type -P podman)"
	} >"$BIN/podman"
	chmod 755 "$BIN/podman"
}

# checks ARG...: --check --run, as the engine's user
# shellcheck disable=SC2120 # they are passed by run
checks() {
	engine_as_user env "PATH=$BIN:$PATH" "TMPDIR=$LAB/tmp" "$HOOK" --config "$CONFIG" \
		--libexec "$SANDBOX_LIBEXEC" --hooks-dir "$HOOKS" --check --run "$@"
}

# trial LEVEL TEXT: what $output says of the trial container
trial() {
	local line

	line=$(grep -E '^[a-z]+ +trial container: ' <<<"$output")
	[[ $line == "$1 "* ]] || {
		printf 'expected: %s\n%s\n' "$1" "$output" >&2
		return 1
	}
	has "$2" "$line"
}

# leaves_nothing: of trial containers; what podman does after its end is waited for
leaves_nothing() {
	local left

	timeout 60 pidwait -f '[o]ci-sandbox-check-' || true
	left=$(pgrep -af '[o]ci-sandbox-check-|[u]nder-trial'
		engine_podman ps --all --quiet
		find "$LAB/tmp" -maxdepth 1 -name 'oci-sandbox-check-*')
	[[ $left == "" ]] || {
		printf 'left: %s\n' "$left" >&2
		return 1
	}
}

@test "check: podman that calls the hook is ok, and nothing is left of the trial" {
	run -0 checks
	trial ok "podman called the hook, which mounted the shim; a container whose hook fails did not start"
	run ! grep -v '^ok ' <<<"$output"
	leaves_nothing
	run -0 checks podman --json
	jq -e '.status == "ok" and (.checks[-1] | .name == "trial container" and .status == "ok")' <<<"$output"
}

@test "check: a hook that is not registered is seen" {
	rm "$HOOKS"/*
	run -2 checks
	trial problem "a container that asks to be confined started, and podman had not called the hook; oci-sandbox-hook --register podman"
}

@test "check: a hook that podman skips, since its program is gone, is seen" {
	sed -i "s#\"$HOOK\"#\"$OWN/gone\"#" "$HOOKS"/*.json
	run -2 checks
	has "calls $OWN/gone, and podman goes on without" "$output"
	trial problem "podman had not called the hook"
}

@test "check: a hook that refuses is not one that was not called" {
	echo 'nonsense = 1' >>"$CONFIG/policy.conf"
	run -2 checks
	has "unknown key \`nonsense\`" "$output"
	trial problem "the hook refused the container: Error: "
	[[ $ENGINE != podman-runc ]] || trial problem "$CONFIG/policy.conf:"
	[[ $ENGINE == podman-runc ]] || trial problem "(exit code: 78)"
}

@test "check: podman that can't start a container at all is not the hook's fault" {
	podman_with 'seq 100000; echo "what it does" >&2; printf "Error: no \033luck\n\n" >&2; exit 125'
	run -2 checks
	trial problem "podman can't start any container: Error: no ?luck; "
}

@test "check: podman that does nothing, and says that all is well, is not believed" {
	podman_with 'exit 0'
	run -2 checks
	trial problem "podman can't start any container: ; "
}

@test "check: a container that runs although its hook failed is a problem" {
	# shellcheck disable=SC2016 # the script's
	podman_with 'ARGS=("${ARGS[@]/enable=nonsense/enable=false}")'
	run -2 checks
	trial problem "a container ran although its hook had failed; "
}

@test "check: podman that is not there is said" {
	run -2 engine_as_user env "PATH=/nowhere" "TMPDIR=$LAB/tmp" "$HOOK" --config "$CONFIG" \
		--libexec "$SANDBOX_LIBEXEC" --hooks-dir "$HOOKS" --check --run
	trial problem "there is no podman in PATH; "
}

@test "check: podman that hangs is ended, with all that it has started" {
	# shellcheck disable=SC2016 # the script's
	podman_with '[[ $1 != rm ]] || { echo "$*" >"$SAID/rm"; exit; }
		exec -a under-trial sleep infinity & wait'
	run -2 checks --time-limit 1
	trial problem "podman was not done after 1 s, and was ended; "
	leaves_nothing
	[[ $(<"$OWN/said/rm") == "rm --force --ignore --time 0 oci-sandbox-check-"?????? ]]
}

# is_ended: the check is ended by a signal once something has said that it has started
is_ended() {
	local pid

	mkfifo -m 666 "$OWN/said/started"
	checks podman >"$OWN/output" 3>&- &
	pid=$!
	timeout 60 cat "$OWN/said/started"
	kill -TERM "$(pgrep -f "^$HOOK ")"
	status=0
	wait "$pid" || status=$?
	[[ $status == 2 ]]
	output=$(<"$OWN/output")
	trial problem "it was ended by signal 15; "
	leaves_nothing
}

@test "check: a signal ends the trial, and nothing is left of it" {
	# shellcheck disable=SC2016 # the script's
	podman_with '[[ $1 != rm ]] || exit 0
		echo started >"$SAID/started"; exec -a under-trial sleep infinity'
	is_ended
}

@test "check: nothing is left of a container whose hook hangs" {
	# podman has created it by then, and waits for the runtime, which waits for the hook
	printf '#!/bin/bash\necho started >%q/said/started\nexec -a under-trial sleep 1000\n' "$OWN" >"$OWN/hang"
	chmod 755 "$OWN/hang"
	sed -i -e "s#\"path\": \"[^\"]*\"#\"path\": \"$OWN/hang\"#" -e 's#"timeout": 10#"timeout": 1000#' \
		"$HOOKS/50-oci-sandbox.json"
	is_ended
}
