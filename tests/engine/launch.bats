#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine
#
# One launch: where it may be, what can't be moved away, what it may call, how it ends.

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

@test "workspace: a folder inside a larger mount comes back alone" {
	mkdir "$WORKSPACE/sub"
	echo other >"$WORKSPACE/other"
	container_owner 0 "$WORKSPACE"
	OPTIONS+=(--workdir /workspace/sub)
	run -0 --separate-stderr confined claude 'echo new >file; ls -A /workspace; cat ../other 2>&1; true'
	is $'sub\ncat: can\'t open \'../other\': No such file or directory'
	[ "$(cat "$WORKSPACE/sub/file")" = new ]
}

@test "workspace: the root is refused" {
	refused "your home (/root) is in it" --workdir /
}

@test "workspace: the home is refused" {
	refused "your home (/root) is in it" --workdir /root
}

@test "workspace: a hidden folder of the home is refused" {
	refused "hidden folder of your home" --workdir /root/.ssh
}

@test "workspace: a folder of the system is refused" {
	refused "part of the system" --workdir /etc
}

@test "workspace: a home that the environment moves to the root is refused" {
	refused "HOME is /" --env HOME=/
}

@test "workspace: a home that the environment moves hides the developer's own as well" {
	mkdir -p "$ROOTFS/opt/elsewhere"
	container_owner 0 "$ROOTFS/opt/elsewhere"
	OPTIONS+=(--env HOME=/opt/elsewhere)
	run -0 --separate-stderr confined claude 'cat /root/.ssh/id_ed25519 2>&1; echo ran'
	is $'cat: can\'t open \'/root/.ssh/id_ed25519\': No such file or directory\nran'
}

@test "protect: a folder that holds protected paths cannot be moved away" {
	run -0 confined claude 'mv .git away; mv .vscode away; rm -rf .git/hooks; echo ran'
	[ "$(grep -cE 'busy|Read-only' <<<"$output")" -ge 3 ]
	has ran "$output"
	[ -d "$WORKSPACE/.git/hooks" ]
	[ ! -e "$WORKSPACE/away" ]
}

@test "protect: a symlink to hooks can be neither replaced nor written through" {
	rmdir "$WORKSPACE/.git/hooks"
	mkdir "$WORKSPACE/hooks"
	ln -s ../hooks "$WORKSPACE/.git/hooks"
	container_owner 0 "$WORKSPACE/hooks"
	run -0 confined claude 'rm .git/hooks; echo x >.git/hooks/a; echo x >hooks/b; echo ran'
	has ran "$output"
	[ -L "$WORKSPACE/.git/hooks" ]
	[ -z "$(ls -A "$WORKSPACE/hooks")" ]
}

@test "protect: a .git that is a symlink to a folder is refused, with what to do" {
	mv "$WORKSPACE/.git" "$WORKSPACE/real"
	ln -s real "$WORKSPACE/.git"
	refused 'take what is below it out of `protect`'
}

@test "protect: a symlink to hooks that are not there yet keeps them away" {
	rmdir "$WORKSPACE/.git/hooks"
	ln -s ../later "$WORKSPACE/.git/hooks"
	run -0 confined claude 'rm .git/hooks; mkdir later; echo x >.git/hooks/a; echo ran'
	has ran "$output"
	[ -L "$WORKSPACE/.git/hooks" ]
	[ ! -e "$WORKSPACE/later/a" ]
}

@test "protect: what is not there leaves no stub behind" {
	run -0 confined claude 'echo ran'
	run -0 find "$WORKSPACE" -name .idea -o -name .devcontainer -o -name config.worktree
	is ''
}

@test "protect: what the agent makes of it is named at the end" {
	run -0 --separate-stderr confined claude 'echo ../evil >.git/commondir; mkdir .idea'
	has '/workspace/.git/commondir is new' "$stderr"
	has '/workspace/.idea is new' "$stderr"
	run -0 --separate-stderr confined claude 'echo x >>.git/commondir; echo x >.idea/a; echo ran'
	is ran
	[ "$(cat "$WORKSPACE/.git/commondir")" = ../evil ]
	[[ $stderr != *'is new'* ]]
}

@test "engine mounts: an overlay of a host folder is masked like a bind mount" {
	OPTIONS+=(--volume "$KUBE:/mnt/overlay:O")
	run -0 --separate-stderr unconfined claude 'cat /mnt/overlay/config'
	is 'STAND-IN kubeconfig'
	run -0 --separate-stderr confined claude 'cat /mnt/overlay/config 2>/dev/null; echo ran'
	is ran
}

@test "privileges: what has reach without need is refused, whatever the engine allows" {
	OPTIONS+=(--security-opt seccomp=unconfined)
	run -0 --separate-stderr unconfined claude 'probe calls </dev/null'
	has 'TIOCSTI ENOTTY' "$output"
	[[ $output != *'keyctl EPERM'* ]]
	run -0 --separate-stderr confined claude 'probe calls </dev/null
		calls agent reboot mount socket,16,3,12 | grep -v ^i386'
	is $'TIOCSTI EPERM
TIOCSTI-high EPERM
TIOCLINUX EPERM
keyctl EPERM
add_key EPERM
request_key EPERM
bpf EPERM
perf_event_open EPERM
userfaultfd EPERM
io_uring_setup EPERM
vsock EAFNOSUPPORT
'"$(printf '%s\n' 'x86_64 reboot: EPERM' 'x32 reboot: EPERM' 'x86_64 mount: passed' 'x32 mount: passed' \
		'x86_64 socket: EPROTONOSUPPORT' 'x32 socket: EPROTONOSUPPORT')"
}

@test "privileges: other processes of the developer's can't look into the supervisor" {
	mkfifo "$WORKSPACE/up" "$WORKSPACE/down"
	container_owner 1000 "$WORKSPACE"
	# shellcheck disable=SC2016 # the container's
	OPTIONS+=(--user 1000)
	run -0 confined sh -c '
		SECRET=1 sleep 1000 & other=$!
		claude "echo up >up; read -r down <down" & pid=$!
		read -r up <up
		for file in environ maps fd/0 cwd; do
			for p in $other $pid; do
				ls -L /proc/$p/$file >/dev/null 2>&1 && cat /proc/$p/$file >/dev/null 2>&1 && echo "$p $file"
			done
		done | sed "s/^$other/other/; s/^$pid/supervisor/"
		echo >down
		wait $pid
		kill $other'
	is $'other environ\nother maps\nother fd/0'
}

@test "privileges: nested-sandbox decides whether the agent makes user namespaces" {
	local tries='calls agent unshare,0x10000000 clone,0x10000000 setns clone3 | grep ^x86_64'

	run -0 --separate-stderr confined claude "$tries"
	is $'x86_64 unshare: passed\nx86_64 clone: passed\nx86_64 setns: passed\nx86_64 clone3: passed'
	policy_with 'nested-sandbox = no'
	run -0 --separate-stderr confined claude "$tries; echo ran"
	is $'x86_64 unshare: EPERM\nx86_64 clone: EPERM\nx86_64 setns: EPERM\nx86_64 clone3: ENOSYS\nran'
}

@test "privileges: container root appears as uid 1000, by its own name, and owns its files" {
	run -0 --separate-stderr confined claude 'id -u; id -un; stat -c %U /usr/bin; touch mine; stat -c %U mine'
	is $'1000\nroot\nroot\nroot'
}

@test "privileges: container root's other groups stay outside" {
	OPTIONS+=(--group-add 2000)
	run -0 --separate-stderr confined sh -c 'id -G | grep -ow 2000; claude "id -G"'
	is $'2000\n1000'
}

@test "nested: inside a sandbox the name runs the real agent, wherever that is" {
	run -3 --separate-stderr confined claude 'cd /tmp && claude "grep NoNewPrivs /proc/self/status; exit 3"'
	is $'NoNewPrivs:\t1'
}

@test "shim: the agent gets its profile's arguments before the developer's" {
	# shellcheck disable=SC2016 # the agent's
	printf '#!/bin/sh\nprintf "<%%s>" "$@"\n' >"$ROOTFS/usr/local/bin/codex"
	chmod 755 "$ROOTFS/usr/local/bin/codex"
	run -0 --separate-stderr confined codex exec "two words" ""
	is '<-c><features.daemon_auto_start=false><exec><two words><>'
}

@test "shim: in a container without the hook no agent runs" {
	cp "$SANDBOX_LIBEXEC/shim" "$ROOTFS/usr/local/bin/claude"
	run -125 --separate-stderr unconfined claude 'echo the agent ran'
	is ''
	has 'started without oci-sandbox-hook' "$stderr"
}

@test "shim: what an image brings as the hook's folder is not believed" {
	cp "$SANDBOX_LIBEXEC/shim" "$ROOTFS/usr/local/bin/claude"
	mkdir -p "$ROOTFS/run/oci-sandbox/profiles"
	cp "$SANDBOX_CONFIG/policy.conf" "$ROOTFS/run/oci-sandbox/policy.conf"
	cp "$SANDBOX_CONFIG"/agents/*.conf "$ROOTFS/run/oci-sandbox/profiles"
	run -125 --separate-stderr unconfined claude 'echo the agent ran'
	is ''
	has 'not the folder that oci-sandbox-hook mounts' "$stderr"
}

@test "end: when the supervisor is killed, everything in the sandbox ends" {
	engine_podman --hooks-dir "$SANDBOX_HOOKS" run --detach --name "$CONTAINER" \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" --rootfs "$ROOTFS" sh -c \
		'claude "trap : TERM HUP; sleep 1001 & echo up >up; sleep 1001" & echo $! >/tmp/supervisor
		wait; echo gone >gone; exec sleep 1000' 3>&-
	within 20 test -s "$WORKSPACE/up"
	run -0 engine_podman exec "$CONTAINER" sh -c 'ps | grep -c "[s]leep 1001"'
	[ "$output" -ge 2 ]
	engine_podman exec "$CONTAINER" sh -c 'kill -9 $(cat /tmp/supervisor)'
	within 20 test -s "$WORKSPACE/gone"
	ended() {
		[[ $(engine_podman exec "$CONTAINER" sh -c 'ps | grep -c "[s]leep 1001"') == 0 ]]
	}
	within 20 ended
}

@test "end: a signal for the launch reaches the agent" {
	mkfifo "$WORKSPACE/up"
	container_owner 0 "$WORKSPACE/up"
	run -0 --separate-stderr confined sh -c \
		'claude "trap \"echo asked; exit 7\" TERM; sleep 1000 & echo up >up; wait" & pid=$!
		read -r up <up; kill -TERM $pid; wait $pid; echo $?'
	is $'asked\n7'
}

@test "end: daemons, orphans and what multiplies end with the agent" {
	cat >"$WORKSPACE/agent" <<-'END'
		multiply() {
			[ "$1" -gt 0 ] || exec sleep 1001
			multiply $(($1 - 1)) &
			multiply $(($1 - 1)) &
			wait
		}
		setsid sh -c 'trap "" HUP TERM; sh -c "echo daemon >up; sleep 1001" & sleep 1001' &
		read -r up <up
		multiply 7 &
		until [ "$(ls -d /proc/[0-9]* | wc -l)" -ge 128 ]; do :; done
		kill -9 $$
	END
	mkfifo "$WORKSPACE/up"
	container_owner 0 "$WORKSPACE"
	OPTIONS+=(--detach)
	confined sleep 1000 >/dev/null
	run -137 engine_podman exec "$CONTAINER" claude '. ./agent'
	within 20 sessions_are_over
}

@test "end: a session whose agent is stopped ends when it is told to" {
	mkfifo "$WORKSPACE/up"
	container_owner 0 "$WORKSPACE/up"
	# shellcheck disable=SC2016 # the container's
	run -0 confined sh -c 'claude "echo up >up; kill -STOP \$\$; exit 9" & pid=$!
		read -r up <up
		until grep -q "^State:.*T (stopped)" /proc/[0-9]*/status 2>/dev/null; do :; done
		kill -CONT $pid
		wait $pid
		echo $?
		claude "echo up >up; kill -STOP \$\$" & pid=$!
		read -r up <up
		kill -TERM $pid
		kill -CONT $pid
		wait $pid
		echo $?'
	is $'9\n143'
}

@test "end: a container whose first process is a launch stops within the engine's grace" {
	local id

	id=$(OPTIONS+=(--detach) && confined claude 'trap "echo asked >asked; exit 0" TERM
		echo up >up; while :; do sleep 1000 & wait; done')
	within 20 test -s "$WORKSPACE/up"
	run -0 engine_podman stop --time 60 "$id"
	[[ $(cat "$WORKSPACE/asked") == asked && $output != *SIGKILL* ]]
}

@test "end: with few descriptors a launch works or fails, and never hangs" {
	# shellcheck disable=SC2016 # the container's
	run -0 confined sh -c '
		for n in $(seq 4 40); do
			(ulimit -n $n; timeout 20 claude "echo works" 2>&1; echo "status $?")
		done'
	[[ $output == *$'\nworks\nstatus 0' && $output == *$'\nstatus 125\n'* ]]
	run -0 sort -u <<<"$(grep -E '^status|^works' <<<"$output")"
	is $'status 0\nstatus 125\nworks'
}

@test "shim: what the caller has closed is not taken for something else" {
	# shellcheck disable=SC2016 # the container's
	run -0 confined sh -c 'claude "exec >out; readlink /proc/self/fd/0; readlink /proc/self/fd/2; ls /proc/self/fd | wc -l; cat" <&- >&- 2>&-
		echo $?; cat out'
	is $'0\n/dev/null\n/dev/null\n4' # and the one that ls reads its folder by
}
