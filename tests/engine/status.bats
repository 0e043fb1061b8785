#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine
#
# oci-sandbox status: which containers it shows, to whom, and what it says of them.

load ../lib/confined
load ../lib/schema

setup_file() {
	lab_prepare
	network_start
}

setup() {
	container_prepare
	OTHER=$CONTAINER-other
	CLI=$LAB/host/usr/bin/oci-sandbox
}

teardown() {
	engine_podman rm --force --time 0 --ignore "$OTHER" "$OTHER-too" >/dev/null 2>&1 || true
	container_remove
}

# status ARG...: as who runs the engine
status() {
	engine_as_user timeout 30 "$CLI" --libexec "$SANDBOX_LIBEXEC" status "$@"
}

# somebody SUBCOMMAND ARG...: as a user who runs no engine
somebody() {
	setpriv --reuid 60097 --regid 60097 --clear-groups "$CLI" --libexec "$SANDBOX_LIBEXEC" "$@"
}

# running NAME ROOTFS [OPTION...]: a container that is ours
running() {
	engine_podman --hooks-dir "$SANDBOX_HOOKS" run --detach --name "$1" \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" "${@:3}" --rootfs "$2" sleep 1000 3>&-
}

# stranger [OPTION...]: a container without the hook, from a copy of the root file system
stranger() {
	engine_podman run --detach --name "$OTHER" "${OPTIONS[@]}" "$@" \
		--rootfs "${ROOTFS%/*}/other" sleep 1000 3>&-
}

inside() {
	engine_podman exec "$CONTAINER" "$@"
}

id_of() {
	engine_podman inspect --format '{{.Id}}' "$1"
}

# refusal ADDRESS PROTOCOL PORT: jq finds it in $output, with at least one packet
refusal() {
	jq -e --arg address "$1" --arg protocol "$2" --argjson port "$3" '.containers[0].refusals |
		any(.address == $address and .protocol == $protocol and .port == $port and
			.packets > 0 and .bytes > 0 and .seconds_ago < 60)' <<<"$output" || {
		jq -c '.containers[0].refusals' <<<"$output"
		return 1
	}
}

@test "status: what an agent was refused is there, with address, protocol and port, and counted" {
	local id

	running "$CONTAINER" "$ROOTFS"
	id=$(id_of "$CONTAINER")
	run -0 --separate-stderr status --json
	jq -e --arg id "$id" '(.containers | length) == 1 and .unknown == [] and
		(.containers[0] | .id == $id and .egress == "internet" and .scope == "container" and
		(.policy | endswith("/etc/oci-sandbox/policy.conf")) and (.users | any(.uid == 0)) and
		any(.agents[]; .command == "claude" and .program == "/usr/local/bin/claude") and
		(any(.refusals[]; .address == "10.77.0.10") | not))' <<<"$output"
	schema_fits status "$output"

	inside claude "timeout 3 wget -q -O - http://$LAN_IP:81; timeout 3 nslookup -timeout=1 x.example $LAN_IP" || true
	inside ping -c 1 -W 1 "$LAN_IP" || true
	run -0 --separate-stderr status --json "$CONTAINER"
	refusal "$LAN_IP" tcp 81
	refusal "$LAN_IP" udp 53
	refusal "$LAN_IP" icmp 0
	jq -e '.containers[0] | .refused >= 3 and .refusals_full == false and
		any(.rules[]; .name == "internal" and .verdict == "refuse" and .packets >= 3) and
		([.refusals[].packets] | add) == (.rules[] | select(.verdict == "reject") | .packets)' <<<"$output"
	schema_fits status "$output"

	run -0 status
	[[ ${#lines[@]} == 2 && ${lines[0]} == "CONTAINER "* ]]
	[[ ${lines[1]} == "${id:0:12} "*" internet "*" container "*" $LAN_IP "*" ago" ]]
	run -0 status "${id:0:7}"
	[[ $output == "container    $id"* && $output == *" $LAN_IP tcp/81"* ]]
	[[ $output == *" $LAN_IP udp/53"* && $output == *" $LAN_IP icmp"$'\n'* || $output == *" $LAN_IP icmp" ]]
	[[ $output == *"refuse      internal (destinations)"* && $output != *" nothing"* ]]

	# root sees users' containers, and of others' a user is told so
	run -0 --separate-stderr "$CLI" --libexec "$SANDBOX_LIBEXEC" status --json
	jq -e '(.containers | length) == 1' <<<"$output"
	refusal "$LAN_IP" tcp 81
	run -0 somebody status
	[[ ${#lines[@]} == 1 ]]
	[[ $output == "process "*" seems to be of a container under protection, but it is another user's: you may not look into it" ]]
	run -0 --separate-stderr somebody status --json
	jq -e '.containers == [] and (.unknown | length) == 1' <<<"$output"
	schema_fits status "$output"
}

@test "status: two containers are two lines, and one that is not ours is none" {
	local first second

	running "$CONTAINER" "$ROOTFS"
	first=$(id_of "$CONTAINER")
	cp -a "$LAB/template" "${ROOTFS%/*}/other"
	# the host's own path of the other container's folder leads nowhere
	ln -s "/proc/$(engine_podman inspect --format '{{.State.Pid}}' "$CONTAINER")/root/run/oci-sandbox" \
		"${ROOTFS%/*}/other/run/oci-sandbox"
	stranger --annotation io.oci-sandbox.enable=true
	run -0 status
	[[ ${#lines[@]} == 2 && ${lines[1]} == "${first:0:12} "* ]]
	run -66 status "$OTHER"
	[[ $output == *"container "*" ($OTHER) is not under protection, or not running" ]]

	cp -a "$LAB/template" "${ROOTFS%/*}/third"
	running "$OTHER-too" "${ROOTFS%/*}/third"
	second=$(id_of "$OTHER-too")
	run -0 status
	[[ ${#lines[@]} == 3 && $output == *"${first:0:12} "* && $output == *"${second:0:12} "* ]]
	run -0 --separate-stderr status --json "$second"
	jq -e --arg id "$second" '[.containers[].id] == [$id]' <<<"$output"
	run -66 status no-such-container
	[[ $output == *'an id that begins with `no-such-container`, and no engine knows'* ]]
	run -66 --separate-stderr status $'x\e[2J'
	[[ $stderr != *$'\e'* ]]
}

@test "status: an image that pretends is no container of ours" {
	local fake=${ROOTFS%/*}/other/run/oci-sandbox

	cp -a "$LAB/template" "${ROOTFS%/*}/other"
	mkdir -p "$fake"
	printf '%s-ns = 1\n' user mnt pid net >"$fake/container"
	printf 'id = 0123456789abcdef\nnetwork = none\n' >>"$fake/container"
	: >"$fake/policy.conf"
	cp -a "${ROOTFS%/*}/other" "${ROOTFS%/*}/plain"
	engine_podman run --detach --name "$CONTAINER" "${OPTIONS[@]}" --rootfs "${ROOTFS%/*}/plain" sleep 1000 3>&-
	run -0 status
	is 'no container is under protection'

	# a tmpfs that looks like the hook's, with what the image has there
	stranger --tmpfs /run/oci-sandbox:ro,mode=0755
	run -0 engine_podman exec "$OTHER" cat /run/oci-sandbox/container
	[[ $output == *"id = 0123456789abcdef"* ]]
	run -0 status
	[[ ${#lines[@]} == 1 && $output == "process "*" it does not have this host's programs "* ]]
	run -0 --separate-stderr status --json
	jq -e '.containers == [] and (.unknown | length) == 1' <<<"$output"
	schema_fits status "$output"
	run -66 status 0123456789abcdef
}

@test "status: in the container it says what can be seen there, whatever the image has of that name" {
	local id

	printf '#!/bin/sh\necho FAULT\n' | tee "$ROOTFS/usr/bin/oci-sandbox" >"$ROOTFS/usr/local/bin/oci-sandbox"
	chmod 755 "$ROOTFS/usr/bin/oci-sandbox" "$ROOTFS/usr/local/bin/oci-sandbox"
	policy_with 'egress-scope = agent'
	running "$CONTAINER" "$ROOTFS"
	id=$(id_of "$CONTAINER")
	run -0 inside oci-sandbox status
	[[ ${lines[0]} == "container    $id" && $output == *"agents       claude is /usr/local/bin/claude"* ]]
	[[ $output == *"egress       internet, of agents alone"* && $output == *"uid 0, 1000"* ]]
	[[ $output == *"here         the container, outside of any sandbox"* && $output == *"is shown on the host alone"* ]]
	run -0 inside claude 'oci-sandbox status; /usr/bin/oci-sandbox version'
	[[ $output == *"here         an agent's sandbox"* && $output != *FAULT* ]]
	run -0 --separate-stderr inside oci-sandbox status --json
	jq -e --arg id "$id" '.where == "container" and .container.id == $id and .container.scope == "agent"' <<<"$output"
	schema_fits status "$output"
	run -0 --separate-stderr inside claude 'oci-sandbox status --json'
	jq -e '.where == "sandbox"' <<<"$output"
	run -64 inside oci-sandbox status "$id"
}
