#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim
#
# Relays of real launches, when what they depend on fails, or is hostile.

load ../lib/serving

setup_file() {
	lab_prepare
	network_start
}

setup() {
	container_prepare
	sed -i 's/^hosts:.*/hosts: files dns/' "$ROOTFS/etc/nsswitch.conf"
}

teardown() {
	[[ -z ${RESOLVER:-} ]] || kill "$RESOLVER" || true
	[[ -z ${SERVICE:-} ]] || kill "$SERVICE" || true
	container_remove
}

PAGE='STAND-IN page of the internet'
RELAY="\$(sed -n 's/^nameserver //p' /etc/resolv.conf)" # for the agent's shell

# service PORT: on the container's loopback; it says each byte back. SERVICE is its process.
service() {
	local deadline=$((SECONDS + 20)) log=${ROOTFS%/*}/service.$1

	rm -f "$log"
	nsenter "--net=$(container_net)" python3 "$SRCDIR/tests/lib/service.py" "$1" >"$log" 3>&- 4>&- &
	SERVICE=$!
	until [[ -s $log ]]; do
		((SECONDS < deadline))
	done
}

# launch COMMAND: an agent in the background; it is there when it has made "up" in the workspace.
# SUPERVISOR is the process that relays for it, as the container counts.
launch() {
	inside claude "$1" >"${ROOTFS%/*}/launch" 2>&1 3>&- &
	LAUNCH=$!
	appears "$WORKSPACE/up"
	# shellcheck disable=SC2016 # the container's
	SUPERVISOR=$(inside sh -c 'for status in /proc/[0-9]*/status; do
		case $(tr "\n\t" "  " <$status) in "Name: claude "*" PPid: 0 "*) echo $status ;; esac
		done' | tr -dc 0-9)
}

# rss: KiB of memory that the supervisor has
rss() {
	inside awk '/^VmRSS:/ { print $2 }' "/proc/$SUPERVISOR/status"
}

# grew_at_most BEFORE KIB: since then
grew_at_most() {
	local now

	now=$(rss)
	echo "the supervisor grew from $1 to $now KiB"
	((now - $1 <= $2))
}

# pinned: root's network namespace for agents
pinned() {
	local net

	net=$(container_net)
	echo "${net%/ns/net}/root/run/oci-sandbox/ns/0/net"
}

# sockets NETWORK: its UDP sockets, and its TCP ones but for those that are closed, TIME_WAIT
sockets() {
	nsenter "--net=$1" awk 'FNR > 1 && $4 != "06" { print FILENAME, $2, $3, $4 }' \
		/proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6
}

# nothing_in NETWORK: neither socket nor process
nothing_in() {
	[[ -z $(sockets "$1") ]] &&
		! stat --dereference --format %i /proc/[0-9]*/ns/net 2>/dev/null | grep -qx "$2"
}

# within_a_second COMMAND...: it is so
within_a_second() {
	local start=${EPOCHREALTIME//[!0-9]/}

	until "$@"; do
		((${EPOCHREALTIME//[!0-9]/} - start < 1000000))
	done
	echo "after $(((${EPOCHREALTIME//[!0-9]/} - start) / 1000)) ms"
}

# soon COMMAND...: it is so within 20 seconds
soon() {
	local deadline=$((SECONDS + 20))

	until "$@"; do
		((SECONDS < deadline))
	done
}

# established NETWORK PORT: there is a connection to it
established() {
	sockets "$1" | grep -q "$(printf ':%04X .* 01$' "$2")"
}

# ---- the supervisor ----

@test "relays: a supervisor that is killed takes the agent, listeners and connections along" {
	local net id here

	policy_with $'local-port = 8080 8082\ncallback-port = 8090'
	running --dns 127.0.0.11
	resolver_inside 127.0.0.11
	service 8082
	launch 'nc -ll -p 8090 -e cat & nc 127.0.0.1 8082 </dev/zero >/dev/null &
		nslookup silent.stand-in.example >/dev/null & setsid sleep 1000 & : >up; wait'
	net=$(pinned)
	id=$(stat --dereference --format %i "$net")
	here=$(container_net)
	inside sh -c 'exec nc 127.0.0.1 8090 </dev/zero' >/dev/null 2>&1 3>&- &
	soon established "$net" 8082
	soon established "$net" 8090
	soon established "$here" 8082
	soon established "$here" 8090
	soon grep -q '^silent' "$QUERIES"
	run ! nothing_in "$net" "$id"

	inside kill -9 "$SUPERVISOR"
	within_a_second nothing_in "$net" "$id"
	run ! established "$here" 8082
	run ! established "$here" 8090
	run -0 sockets "$here"
	[[ ! $output =~ :1F9A\ [0-9A-F:]*\ 0A ]] # nobody listens on callback-port
	run -137 wait "$LAUNCH"
	run -0 inside claude "${GET[*]} http://127.0.0.1:8080; ${GET[*]} http://name.stand-in.example"
	is $'STAND-IN page of the container\n'"$PAGE"
}

# ---- DNS ----

@test "relays: hostile messages of the agent cost the supervisor nothing, and names resolve after them" {
	local before

	running --dns 127.0.0.11
	resolver_inside 127.0.0.11
	python3 "$SRCDIR/tests/lib/dns_messages.py" hostile >"$WORKSPACE/hostile"
	mkdir "$WORKSPACE/tcp"
	python3 "$SRCDIR/tests/lib/dns_messages.py" hostile | split -b 20000 - "$WORKSPACE/tcp/"
	launch ": >up; until [ -e go ]; do sleep 0.1; done; set -e
		probe messages 100 $RELAY 53 <hostile
		for part in tcp/*; do nc $RELAY 53 <\$part 2>/dev/null || true; done
		${GET[*]} http://name.stand-in.example; : >done; until [ -e end ]; do sleep 0.1; done"
	before=$(rss)
	: >"$WORKSPACE/go"
	appears "$WORKSPACE/done"
	grew_at_most "$before" 1024
	: >"$WORKSPACE/end"
	wait "$LAUNCH"
	[[ $(<"${ROOTFS%/*}/launch") == *"$PAGE" ]]
	run -1 grep -vE '^(ready$|name\.)' "$QUERIES" # nothing that is no query went on
}

@test "relays: a flood of queries costs bounded memory, and names resolve after it" {
	local before

	running --dns 127.0.0.11
	resolver_inside 127.0.0.11
	python3 "$SRCDIR/tests/lib/dns_messages.py" flood >"$WORKSPACE/flood"
	launch ": >up; until [ -e go ]; do sleep 0.1; done; set -e
		probe messages 200 $RELAY 53 <flood
		until ${GET[*]} http://name.stand-in.example; do :; done
		: >done; until [ -e end ]; do sleep 0.1; done"
	before=$(rss)
	: >"$WORKSPACE/go"
	appears "$WORKSPACE/done"
	[[ $(grep -c '^silent' "$QUERIES") -ge 1000 ]]
	grew_at_most "$before" 8192
	: >"$WORKSPACE/end"
	wait "$LAUNCH"
	[[ $(<"${ROOTFS%/*}/launch") == *"$PAGE" ]]
}

@test "relays: what a resolver says that is no answer is no answer to the agent, either" {
	local before

	running --dns 127.0.0.11
	resolver_inside 127.0.0.11
	launch ": >up; until [ -e go ]; do sleep 0.1; done
		for kind in lies truncated oversize flood; do ${GET[*]} http://\$kind.stand-in.example; done
		timeout 15 wget -q -O - http://only-lies.stand-in.example
		${GET[*]} http://name.stand-in.example
		: >done; until [ -e end ]; do sleep 0.1; done"
	before=$(rss)
	: >"$WORKSPACE/go"
	appears "$WORKSPACE/done"
	grew_at_most "$before" 2048
	: >"$WORKSPACE/end"
	wait "$LAUNCH"
	run -0 cat "${ROOTFS%/*}/launch"
	[[ $(grep -cx "$PAGE" <<<"$output") == 5 && $output == *"bad address 'only-lies"* ]]
	for kind in truncated oversize; do # the answer that did not fit was asked for by TCP
		grep -qx "$kind.stand-in.example tcp" "$QUERIES"
	done
}

@test "relays: a resolver that is killed, and one that comes back" {
	running --dns 127.0.0.11
	resolver_inside 127.0.0.11
	mkfifo -m 666 "$WORKSPACE"/{steps,said}
	launch ": >up; exec 3<>steps; while read -r name <&3; do
		${GET[*]} http://\$name.stand-in.example >said 2>&1 || echo none >said; done"
	exec 5<>"$WORKSPACE/steps" 6<>"$WORKSPACE/said"
	echo one >&5
	read -r -t 20 -u 6 output
	is "$PAGE"
	kill -9 "$RESOLVER"
	wait "$RESOLVER" || true
	echo two >&5
	read -r -t 20 -u 6 output
	[[ $output == *"bad address"* ]]
	read -r -t 20 -u 6 output
	is none
	resolver_inside 127.0.0.11
	echo three >&5
	read -r -t 20 -u 6 output
	is "$PAGE"
	exec 5>&- 6>&-
}

# ---- ports ----

@test "relays: a service behind local-port comes, goes and comes again during a launch" {
	policy_with 'local-port = 8082'
	running
	mkfifo -m 666 "$WORKSPACE"/{steps,said}
	launch ': >up; exec 3<>steps; while read -r _ <&3; do
		if probe crowd 1 127.0.0.1 8082 2>/dev/null; then echo served; else echo nobody; fi >said; done'
	exec 5<>"$WORKSPACE/steps" 6<>"$WORKSPACE/said"
	for _ in 1 2; do
		echo >&5
		read -r -t 20 -u 6 output
		is nobody
		service 8082
		echo >&5
		read -r -t 20 -u 6 output
		is served
		kill -9 "$SERVICE"
		wait "$SERVICE" || true
		SERVICE=
	done
	exec 5>&- 6>&-
}

@test "relays: thousands of connections through one launch, at once and one after the other" {
	local before

	policy_with 'local-port = 8082'
	running
	service 8082
	launch ": >up; until [ -e go ]; do sleep 0.1; done
		probe connects 5000 127.0.0.1 8082 && probe crowd 1500 127.0.0.1 8082 && echo served
		: >done; until [ -e end ]; do sleep 0.1; done"
	before=$(rss)
	: >"$WORKSPACE/go"
	appears "$WORKSPACE/done"
	grew_at_most "$before" 8192
	: >"$WORKSPACE/end"
	wait "$LAUNCH"
	[[ $(<"${ROOTFS%/*}/launch") == served ]]
}
