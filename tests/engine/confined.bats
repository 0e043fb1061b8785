#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine
#
# An agent in a podman container with the hook: what it has, and what it has not.

load ../lib/confined

setup_file() {
	lab_prepare
	network_start
}

setup() {
	container_prepare
}

teardown() {
	container_remove
}

# What an agent may try to read; it says "ran" at the end, so that silence proves something.
secrets='cat ~/.ssh/id_ed25519 ~/.aws/credentials ~/.netrc ~/.claude/history.jsonl \
	/mnt/kube/config 2>/dev/null; env | grep STAND-IN; echo ran'

# reads_nothing OPTION...: without the hook the agent finds all six, with it none
reads_nothing() {
	OPTIONS+=("$@")
	run -0 --separate-stderr unconfined claude "$secrets"
	[ "$(grep -c STAND-IN <<<"$output")" -eq 6 ]
	run -0 --separate-stderr confined claude "$secrets"
	is ran
}

# running: a container that waits, for "podman exec"
running() {
	engine_podman --hooks-dir "$SANDBOX_HOOKS" run --detach --name "$CONTAINER" \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" --rootfs "$ROOTFS" sleep 1000 3>&-
}

@test "confined: the agent of container root reads no secret" {
	reads_nothing
}

@test "confined: the agent of an ordinary user reads no secret" {
	container_owner 1000 "$WORKSPACE"
	reads_nothing --user 1000
}

@test "confined: an agent in the user's home is confined" {
	mkdir -p "$ROOTFS/home/dev/.local/bin"
	mv "$ROOTFS/usr/local/bin/claude" "$ROOTFS/home/dev/.local/bin/claude"
	container_owner 1000 "$ROOTFS/home/dev/.local"
	reads_nothing --user 1000 --env PATH=/home/dev/.local/bin:/usr/local/bin:/usr/bin:/bin
}

@test "confined: what the agent cannot see, its children cannot either" {
	run -0 --separate-stderr confined claude 'sh -c "cat ~/.ssh/id_ed25519" 2>&1; echo ran'
	has 'No such file or directory' "$output"
	has ran "$output"
}

@test "confined: the docker socket in /run is out of reach" {
	"$BUILDDIR/tests/lib/probe" listen "$LAB/docker.sock" 3>&- &
	local listener=$!

	until [[ -S $LAB/docker.sock ]]; do :; done
	chmod 666 "$LAB/docker.sock"
	OPTIONS+=(--volume "$LAB/docker.sock:/run/docker.sock")
	run -0 unconfined claude 'probe connect /run/docker.sock'
	run -1 confined claude 'probe connect /run/docker.sock'
	has 'No such file or directory' "$output"
	kill "$listener"
	rm "$LAB/docker.sock"
}

@test "confined: the workspace is writable, and what is written belongs to the container's user" {
	container_owner 1000 "$WORKSPACE"
	OPTIONS+=(--user 1000)
	run -0 --separate-stderr confined sh -c 'claude "echo text >file" && stat -c %u file && cat file'
	is $'1000\ntext'
}

@test "confined: files of container root's agent belong to root outside" {
	run -0 --separate-stderr confined sh -c 'claude "echo text >file; id -u" && stat -c %u file'
	is $'1000\n0'
}

@test "confined: what editors and git obey is read-only in the workspace" {
	run -0 confined claude 'for f in .git/hooks/x .git/config .vscode/tasks.json; do
		echo x >>$f; done; echo ran'
	[ "$(grep -c 'Read-only file system' <<<"$output")" -eq 3 ]
	has ran "$output"
	[ "$(cat "$WORKSPACE/.git/config")" = '[core]' ]
}

@test "confined: the image is read-only" {
	run -0 confined claude 'echo x >/usr/local/bin/git; echo x >>/etc/passwd; echo ran'
	[ "$(grep -c 'Read-only file system' <<<"$output")" -eq 2 ]
	has ran "$output"
}

@test "confined: what the agent writes in the home and in /tmp is gone after the launch" {
	run -0 --separate-stderr confined sh -c 'claude "echo x >~/.bashrc; echo x >/tmp/x; echo ran"
		ls /root/.bashrc /tmp/x 2>/dev/null; echo looked'
	is $'ran\nlooked'
}

@test "confined: state is kept from one launch to the next, apart from the developer's own" {
	run -0 --separate-stderr confined sh -c 'claude "echo remembered >\$CLAUDE_CONFIG_DIR/memory"
		claude "echo \$CLAUDE_CONFIG_DIR; cat \$CLAUDE_CONFIG_DIR/memory"; ls -A /root/.claude'
	is $'/root/.claude\nremembered\nhistory.jsonl'
}

@test "confined: the environment is cleared, but for what profile and policy name" {
	OPTIONS+=(--env ANTHROPIC_API_KEY=sk-test --env LD_PRELOAD=/x.so --env TERM=vt100)
	run -0 --separate-stderr confined claude 'env'
	has ANTHROPIC_API_KEY=sk-test "$output"
	has TERM=vt100 "$output"
	has IS_SANDBOX=1 "$output"
	has DISABLE_AUTOUPDATER=1 "$output"
	run ! grep -E 'LD_PRELOAD|GH_TOKEN|^container=|HOSTNAME' <<<"$output"
}

@test "confined: the agent has no capability and can gain none" {
	run -0 --separate-stderr confined claude \
		'grep -E "^(Cap|NoNewPrivs)" /proc/self/status | tr -d "\t"'
	is $'CapInh:0000000000000000
CapPrm:0000000000000000
CapEff:0000000000000000
CapBnd:0000000000000000
CapAmb:0000000000000000
NoNewPrivs:1'
}

@test "confined: no descriptor but stdin, stdout and stderr is open in the agent" {
	run -0 --separate-stderr confined sh -c \
		'exec 7</etc/passwd 8<>/dev/null; probe fds; claude "probe fds; echo ran"'
	is $'7\n8\nran'
}

@test "confined: a process that the agent leaves behind ends with it" {
	run -0 --separate-stderr confined timeout 20 sh -c 'claude "setsid sleep 4242 >/dev/null 2>&1 &
		until ps | grep -q \"[s]leep 4242\$\"; do :; done; echo started"
		ps | grep "[s]leep 4242$"; echo looked'
	is $'started\nlooked'
}

@test "confined: the environment of the developer's processes cannot be read" {
	run -0 --separate-stderr confined sh -c 'claude "cat /proc/[0-9]*/environ 2>/dev/null |
		tr \"\\0\" \"\\n\" | grep STAND-IN; echo ran"'
	is ran
}

@test "confined: the developer's processes cannot be stopped" {
	run -0 --separate-stderr confined sh -c 'sleep 100 & sleeper=$!
		claude "kill -9 -1; kill -9 $sleeper; echo ran" 2>/dev/null; kill -0 $sleeper && echo alive'
	has alive "$output"
}

@test "confined: the internet is reached, the local network and the metadata service are not" {
	local page='timeout 5 wget -q -O - http'

	run -0 --separate-stderr unconfined claude "$page://$LAN_IP"
	has 'admin page' "$output"
	run -0 --separate-stderr confined claude "$page://$INTERNET_IP"
	has 'page of the internet' "$output"
	run ! confined claude "$page://$LAN_IP"
	run ! grep 'admin page' <<<"$output"
	run ! confined claude "$page://169.254.169.254"
}

@test "confined: a refused destination is refused at once" {
	run ! --separate-stderr confined claude "wget -O - http://$LAN_IP"
	has "can't connect to remote host" "$stderr"
	run ! grep -i 'timed out' <<<"$stderr"
}

@test "confined: the shells of the container obey the same rules" {
	run ! confined timeout 5 wget -q -O - "http://$LAN_IP"
	run -0 confined timeout 5 wget -q -O - "http://$INTERNET_IP"
}

@test "confined: allow-ip opens one address of the local network" {
	policy_with "allow-ip = $LAN_IP"
	run -0 --separate-stderr confined claude "timeout 5 wget -q -O - http://$LAN_IP"
	has 'admin page' "$output"
	run ! confined claude 'timeout 5 wget -q -O - http://169.254.169.254'
}

@test "confined: the rules are in the container's own network namespace, and not root's to change" {
	local pid

	rootfs_add_program "$ROOTFS" "$(command -v nft)"
	running
	pid=$(engine_podman inspect --format '{{.State.Pid}}' "$CONTAINER")
	run -0 nsenter --target "$pid" --net nft list table inet oci_sandbox
	run ! engine_podman exec "$CONTAINER" "$(command -v nft)" delete table inet oci_sandbox
	has 'Operation not permitted' "$output"
	run -0 nsenter --target "$pid" --net nft list table inet oci_sandbox
	run ! nft list table inet oci_sandbox
}

@test "status: the agent's own reaches podman" {
	for want in 0 1 3 125 255; do
		run "-$want" confined claude "exit $want"
	done
}

@test "status: 128 and the signal's number for an agent that a signal ended" {
	run -143 confined claude 'kill -TERM $$'
	run -137 confined claude 'kill -KILL $$'
}

@test "status: 126 for an agent that cannot be run" {
	printf '#!/nowhere/sh\n' >"$ROOTFS/usr/local/bin/claude"
	run -126 --separate-stderr confined claude
	has claude "$stderr"
}

@test "status: 127 for an agent that is not installed" {
	rm "$ROOTFS/usr/local/bin/claude"
	run -127 --separate-stderr confined claude
	has claude "$stderr"
}

@test "streams: pipes stay pipes, stdout and stderr stay apart" {
	run -0 --separate-stderr confined sh -c 'echo in | claude "cat; echo err >&2; test -t 0 || echo pipe"'
	is $'in\npipe'
	[ "$stderr" = err ]
}

@test "streams: a terminal stays a terminal" {
	OPTIONS+=(--tty)
	run -0 confined claude 'test -t 0 && test -t 1 && test -t 2 && echo terminal'
	has terminal "$output"
}

@test "engine: create and start give the same as run" {
	engine_podman --hooks-dir "$SANDBOX_HOOKS" create --name "$CONTAINER" \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" --rootfs "$ROOTFS" claude "$secrets"
	run -0 --separate-stderr engine_podman --hooks-dir "$SANDBOX_HOOKS" start --attach "$CONTAINER"
	is ran
}

@test "engine: an agent that podman exec launches is confined" {
	running
	run -0 --separate-stderr engine_podman exec "$CONTAINER" claude "$secrets"
	is ran
	run -0 --separate-stderr engine_podman exec --user 1000 "$CONTAINER" \
		claude "cat /home/dev/.ssh/id_ed25519 2>/dev/null; echo ran"
	is ran
}

@test "engine: two agents at once do not see each other's processes and files" {
	running
	run -0 --separate-stderr engine_podman exec "$CONTAINER" timeout 20 sh -c '
		mkfifo go; claude "echo x >/tmp/mine; echo >go; read line <go" &
		read line <go; claude "ls /tmp; echo ran"; echo >go; wait'
	is ran
}

@test "engine: with a read-only root, and a volume for its state, the agent is confined as well" {
	mkdir "${ROOTFS%/*}/state"
	container_owner 0 "${ROOTFS%/*}/state"
	reads_nothing --read-only --volume "${ROOTFS%/*}/state:/root/.local/state"
}

@test "engine: OCI_SANDBOX=1 in the environment asks for it as the annotation does" {
	OPTIONS+=(--env OCI_SANDBOX=1)
	run -0 --separate-stderr engine_podman --hooks-dir "$SANDBOX_HOOKS" run --rm \
		"${OPTIONS[@]}" --rootfs "$ROOTFS" claude "$secrets"
	is ran
}

# what_it_is: mounts without the numbers that differ from run to run, rules, files
what_it_is() {
	engine_podman "$@" run --rm --name "$CONTAINER" --hostname same "${OPTIONS[@]}" \
		--rootfs "$ROOTFS" sh -c 'cut -d" " -f4- /proc/self/mountinfo |
			sed -E "s,[0-9a-f]{64},ID,g; s,master:[0-9]+|shared:[0-9]+,,g" | sort
			ls -lR /usr /run /etc 2>/dev/null | grep -v "^total" | awk "{ print \$1, \$9 }"; env | sort'
}

@test "engine: a container that does not ask is what it would be without the hook" {
	run -0 --separate-stderr what_it_is
	local without=$output

	run -0 --separate-stderr what_it_is --hooks-dir "$SANDBOX_HOOKS"
	is "$without"
	run -0 --separate-stderr engine_podman --hooks-dir "$SANDBOX_HOOKS" run --rm "${OPTIONS[@]}" \
		--rootfs "$ROOTFS" claude 'cat ~/.ssh/id_ed25519'
	is 'STAND-IN key'
}

@test "engine: when the hook fails, no process of the container ever runs" {
	policy_with 'no-such-key = 1'
	run ! confined sh -c 'touch /workspace/ran'
	[ ! -e "$WORKSPACE/ran" ]
	[[ $ENGINE != podman-runc ]] || has no-such-key "$output" # crun drops what a hook says
}

@test "engine: when the shim is missing on the host, no process of the container ever runs" {
	sandbox_hooks "${ROOTFS%/*}/hooks.d" "$SANDBOX_CONFIG" "$LAB/nowhere"
	SANDBOX_HOOKS=${ROOTFS%/*}/hooks.d
	run ! confined sh -c 'touch /workspace/ran'
	[ ! -e "$WORKSPACE/ran" ]
}

@test "engine: what the hook put in place cannot be written, moved or unmounted by container root" {
	run -0 confined sh -c 'for f in /usr/local/bin/claude /usr/libexec/oci-sandbox/shim \
			/run/oci-sandbox/policy.conf /run/oci-sandbox/new; do
		echo x >"$f"; mv "$f" /tmp/x; rm "$f"; umount "$f"; done 2>/dev/null
		umount /run/oci-sandbox /usr/libexec/oci-sandbox 2>/dev/null; claude "echo ran"'
	is ran
	run -0 --separate-stderr confined claude "$secrets"
	is ran
}
