#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine
#
# The network that agents have of their own: what of the container's is out of its reach, and what
# an agent can do to it.

load ../lib/serving

setup_file() {
	lab_prepare
	network_start
}

setup() {
	container_prepare
	OTHER=$CONTAINER-other
	sed -i 's/^hosts:.*/hosts: files dns/' "$ROOTFS/etc/nsswitch.conf"
}

teardown() {
	[[ -z ${RESOLVER:-} ]] || kill "$RESOLVER" || true
	engine_podman rm --force --time 0 --ignore "$OTHER" >/dev/null 2>&1 || true
	container_remove
	[[ -z ${NETWORK:-} ]] || engine_podman network rm --force --time 0 "$NETWORK" >/dev/null
}

# in_network SUBNET: the container is part of it
in_network() {
	if [[ $ENGINE == rootless ]]; then
		OPTIONS=("${OPTIONS[@]/--network=slirp4netns/--network=slirp4netns:cidr=$1}")
		return
	fi
	NETWORK=own$BATS_TEST_NUMBER # podman's must not overlap, so it goes with the test
	engine_podman network create --subnet "$1" "$NETWORK"
	OPTIONS+=(--network "$NETWORK")
}

# links: how many of the container's interfaces lead to agents
links() {
	inside sh -c 'ls /sys/class/net' | grep -c '^oci-sandbox'
}

@test "network: the agent has a network namespace and a loopback of its own" {
	running
	run -0 inside "${GET[@]}" http://127.0.0.1:8080
	is 'STAND-IN page of the container'
	run -0 inside claude "readlink /proc/self/ns/net; ${GET[*]} http://127.0.0.1:8080 || echo refused"
	[[ ${lines[0]} == net:* && ${lines[0]} != "$(inside readlink /proc/self/ns/net)" ]]
	[[ $output == *refused* && $output != *STAND-IN* ]]
	run -0 inside claude "${GET[*]} $INTERNET"
	is 'STAND-IN page of the internet'
}

@test "network: what listens on the container's other addresses is out of the agent's reach" {
	local address addresses

	running
	addresses=$(inside sh -c "ip -o addr | awk '{ print \$4 }' | sed 's,/.*,,' | grep -v '^fe80'")
	[[ $(wc -w <<<"$addresses") -ge 3 && $addresses == *10.213.* ]]
	for address in $addresses; do
		[[ $address != *:* ]] || address="[$address]"
		run -0 inside "${GET[@]}" "http://$address:8081"
		run ! inside claude "${GET[*]} http://$address:8081"
		[[ $output != *STAND-IN* ]]
	done
}

@test "network: abstract sockets of the container are out of the agent's reach" {
	running
	engine_podman exec --detach "$CONTAINER" probe listen @stand-in
	run -0 inside sh -c 'until probe connect @stand-in 2>/dev/null; do :; done'
	run -1 inside claude 'probe connect @stand-in'
	[[ $output == *"Connection refused"* ]]
}

@test "network: the agent cannot change its interfaces, addresses, routes and rules" {
	local does

	running
	for does in 'ip link set eth0 down' 'ip link set eth0 mtu 1000' 'ip link del eth0' \
		'ip link add x type dummy' 'ip addr add 192.0.2.7/24 dev eth0' 'ip addr flush dev eth0' \
		'ip route del default' 'ip route add 192.0.2.0/24 dev lo' \
		'ip rule add from all lookup 77' 'sysctl -w net.ipv4.ip_forward=1' \
		'unshare -U -r ip link set eth0 down' 'unshare -U -r ip route del default'; do
		run inside claude "$does"
		[[ $output == *"not permitted"* || $output == *"ermission denied"* || $output == *"Read-only"* ]] || {
			echo "$does: $output"
			return 1
		}
	done
	run -0 inside claude "${GET[*]} $INTERNET"
	is 'STAND-IN page of the internet'
}

@test "network: the agent cannot enter namespaces of the container, or its own anew" {
	running
	# shellcheck disable=SC2016 # the agent's
	run -0 inside claude '
		ls -A /run/oci-sandbox/ns
		for ns in /proc/1/ns/net /proc/[0-9]*/ns/net; do
			nsenter --net=$ns ip link set lo down 2>/dev/null && echo "FAULT: $ns"
		done
		echo done'
	is 'done'
}

@test "network: two launches of one user share their loopback, and no other user's" {
	policy_with 'allow-ip = 10.213.0.0/16' # not even then
	running
	inside claude 'httpd -f -p 127.0.0.1:8090 -h /workspace & httpd -f -p 8091 -h /workspace & echo $! >pid; while [ -e pid ]; do sleep 0.1; done' 3>&- &
	run -0 inside claude "until [ -e pid ]; do sleep 0.1; done; echo STAND-IN >index.html
		until ${GET[*]} http://127.0.0.1:8090; do sleep 0.1; done"
	[[ $output == *STAND-IN* ]]
	container_owner 1000 "$WORKSPACE"
	run -0 engine_podman exec --user 1000 "$CONTAINER" claude "${GET[*]} http://127.0.0.1:8090 || echo refused"
	[[ $output == *refused* && $output != *STAND-IN* ]]
	for address in 10.213.0.1 10.213.0.3; do
		run engine_podman exec --user 1000 "$CONTAINER" claude "${GET[*]} http://$address:8091 || echo refused"
		[[ $output == *refused* && $output != *STAND-IN* ]]
	done
	rm "$WORKSPACE/pid"
	wait
}

@test "network: a user's namespace gives him no power over what is others'" {
	running
	run -0 inside cat /etc/shadow
	run -0 inside probe power /run/oci-sandbox/ns/0/user /etc/shadow
	[[ $output == *STAND-IN* ]]
	run ! engine_podman exec --user 1000 "$CONTAINER" probe power /run/oci-sandbox/ns/1000/user /etc/shadow
	[[ $output == *"/etc/shadow: Permission denied"* && $output != *STAND-IN* ]]
	run ! engine_podman exec --user 1000 "$CONTAINER" probe enter /run/oci-sandbox/ns/0/user id
	[[ $output == *"not permitted"* ]]
}

@test "network: a user whom the policy gives no namespace launches no agent, and is told why" {
	policy_with 'agent-uid = 1000'
	running
	run -125 inside claude 'echo FAULT'
	[[ $output == *'uid 0 has no network namespace for agents (name it in `agent-uid`'* && $output != *FAULT* ]]
	[[ $(links) == 1 ]]
}

@test "network: addresses that are the container's already are not taken" {
	in_network 10.213.0.0/25
	policy_with 'agent-subnet = 10.213.0.0/24'
	running
	run -0 inside claude 'ip -o -4 addr show dev eth0'
	[[ $output == *" 10.213.0.129/31 "* ]]
	run -0 inside claude "${GET[*]} $INTERNET"
	is 'STAND-IN page of the internet'
}

@test "network: where all of a default network is the container's, another one is taken" {
	in_network 10.213.0.0/16
	running
	run -0 inside claude "ip -o -4 addr show dev eth0; ${GET[*]} $INTERNET"
	[[ $output == *" 172.30.213.1/31 "*'STAND-IN page of the internet' ]]
}

@test "network: where no address is left the container does not start" {
	in_network 10.213.0.0/25
	policy_with 'agent-subnet = 10.213.0.64/26'
	run ! confined echo FAULT
	[[ $output != *FAULT* ]]
	[[ $ENGINE != podman-runc || $output == *"agent-subnet 10.213.0.64/26: no addresses"* ]] # crun drops it
}

# hook_killed: from here on the hook is killed as soon as one of its processes has a user namespace;
# what it had started is in the file $STARTED then
hook_killed() {
	local own=${ROOTFS%/*}

	STARTED=$own/started
	cat >"$own/killer" <<-'END'
		#!/bin/bash
		"${@:2}" <&0 &
		hook=$!
		while [[ -d /proc/$hook ]]; do
			read -r -a started 2>/dev/null <"/proc/$hook/task/$hook/children"
			for child in "${started[@]}"; do
				[[ -e /proc/$child/ns/user && ! /proc/$child/ns/user -ef /proc/$$/ns/user ]] || continue
				kill -STOP "$hook"
				read -r -a started <"/proc/$hook/task/$hook/children"
				kill -KILL "$hook"
				printf '%s\n' "${started[@]}" >"$1"
				exit 1
			done
		done
	END
	chmod 755 "$own/killer"
	install -m 666 /dev/null "$STARTED"
	SANDBOX_HOOKS=$own/hooks.d
	sandbox_register "$SANDBOX_HOOKS" createRuntime "$own/killer" killer "$STARTED" "$SANDBOX_HOOK" \
		--config "$SANDBOX_CONFIG" --libexec "$SANDBOX_LIBEXEC" createRuntime
}

@test "network: a hook that is killed stops the container, and leaves no process behind" {
	local deadline=$((SECONDS + 10)) process

	hook_killed
	run ! confined echo the container ran
	[[ $output != *'the container ran'* && -s $STARTED ]]
	while read -r process; do
		while [[ -e /proc/$process/exe ]]; do # no zombie's
			((SECONDS < deadline))
		done
	done <"$STARTED"
}

@test "network: two containers at once, each with its own" {
	local deadline=$((SECONDS + 60))

	running
	cp -a "$LAB/template" "${ROOTFS%/*}/other"
	engine_podman --hooks-dir "$SANDBOX_HOOKS" run --detach --name "$OTHER" \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" --rootfs "${ROOTFS%/*}/other" sleep 1000 3>&-
	run -0 inside claude "${GET[*]} $INTERNET"
	is 'STAND-IN page of the internet'
	run -0 engine_podman exec "$OTHER" claude "${GET[*]} $INTERNET"
	is 'STAND-IN page of the internet'
	engine_podman rm --force --time 0 "$OTHER"
	# a bridge that loses a port may get another hardware address, and neighbours learn it late
	until inside claude "${GET[*]} $INTERNET"; do
		((SECONDS < deadline))
	done
}

@test "network: containers that share a network leave each other's agents theirs" {
	running
	cp -a "$LAB/template" "${ROOTFS%/*}/other"
	OPTIONS=("${OPTIONS[@]/--network=*/--network=container:$CONTAINER}")
	[[ ${OPTIONS[*]} == *--network=* ]] || OPTIONS+=("--network=container:$CONTAINER")
	engine_podman --hooks-dir "$SANDBOX_HOOKS" run --detach --name "$OTHER" \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" --rootfs "${ROOTFS%/*}/other" sleep 1000 3>&-
	[[ $(links) == 4 ]]
	run -0 inside claude "${GET[*]} $INTERNET"
	is 'STAND-IN page of the internet'
	run -0 engine_podman exec "$OTHER" claude "${GET[*]} $INTERNET"
	is 'STAND-IN page of the internet'
}

@test "network: it is there again after a restart, and after a pause" {
	running
	engine_podman --hooks-dir "$SANDBOX_HOOKS" restart --time 0 "$CONTAINER" 3>&-
	run -0 inside claude "${GET[*]} $INTERNET"
	is 'STAND-IN page of the internet'
	[[ $(links) == 2 ]]
	if [[ $ENGINE == podman-runc ]]; then # the others' containers have no control group here
		engine_podman pause "$CONTAINER"
		engine_podman unpause "$CONTAINER"
		run -0 inside claude "${GET[*]} $INTERNET"
		is 'STAND-IN page of the internet'
	fi
}

@test "network: nothing of it is left behind" {
	local before

	before=$(ip -o link | sed 's/^[0-9]*: //' | sort; ls /run/netns; pgrep -c oci-sandbox || true)
	confined claude "${GET[*]} $INTERNET"
	[[ $(ip -o link | sed 's/^[0-9]*: //' | sort; ls /run/netns; pgrep -c oci-sandbox || true) == "$before" ]]
}

@test "network: IPv6 is there where the container has it" {
	[[ $ENGINE != rootless ]] || return 0 # slirp4netns leads to no IPv6 of the lab
	if ! engine_podman network exists six; then
		engine_podman network create --ipv6 --subnet 192.0.2.0/24 --subnet 2001:db8:99::/64 six
		ip addr add 2001:db8:77::1/64 dev internet nodad
		ip -n internet addr add 2001:db8:77::10/64 dev eth0 nodad
		ip -n internet route add default via 2001:db8:77::1
		ip netns exec internet busybox httpd -p '[2001:db8:77::10]:80' -h "$LAB/www/internet" \
			</dev/null >/dev/null 2>&1 3>&- 4>&-
	fi
	running --network six
	run -0 inside "${GET[@]}" 'http://[2001:db8:77::10]'
	run -0 inside claude "${GET[*]} http://[2001:db8:77::10]"
	is 'STAND-IN page of the internet'
	run ! inside claude "${GET[*]} http://[2001:db8:99::1]"
	run -0 inside claude 'ip -o -6 addr show dev eth0'
	[[ $output == *' fd3c:9a61:b2d7::1/127 '* ]]
}

# ---- names ----

@test "names: a public resolver is asked by the relay, and not by the agent" {
	resolver "$INTERNET_IP" ip netns exec internet
	running --dns "$INTERNET_IP" --dns-search stand-in.example
	run -0 inside claude "${GET[*]} http://www"
	is 'STAND-IN page of the internet'
	grep -qx 'www.stand-in.example udp' "$QUERIES"
	run -0 inside claude 'cat /etc/resolv.conf'
	[[ $output == "nameserver 127."*"search stand-in.example"* && $output != *"$INTERNET_IP"* ]]
	run -0 inside cat /etc/resolv.conf
	[[ $output == *"$INTERNET_IP"* ]]
}

@test "names: a resolver on the container's loopback is asked, and the agent has no way to it" {
	running --dns 127.0.0.11
	resolver_inside 127.0.0.11
	run -0 inside claude "${GET[*]} http://name.stand-in.example"
	is 'STAND-IN page of the internet'
	run ! inside claude 'nslookup -timeout=1 name.stand-in.example 127.0.0.11'
}

@test "names: a resolver in the local network is asked, and the agent has no way to it" {
	resolver "$LAN_IP" ip netns exec lan
	running --dns "$LAN_IP"
	run -0 inside claude "${GET[*]} http://name.stand-in.example"
	is 'STAND-IN page of the internet'
	: >"$QUERIES"
	run ! inside claude "nslookup -timeout=1 name.stand-in.example $LAN_IP"
	[[ ! -s $QUERIES ]]
}

@test "names: a resolv.conf that agents could have written stops the launch" {
	OPTIONS+=(--dns none) # the image's own
	printf 'nameserver %s\n' "$LAN_IP" >"$WORKSPACE/resolv.conf"
	ln -sf /workspace/resolv.conf "$ROOTFS/etc/resolv.conf"
	run confined claude 'echo FAULT'
	[[ $status == 125 && $output == *"/etc/resolv.conf leads to /workspace/resolv.conf, which agents could have written"* ]]
}

@test "names: without a resolver that answers the agent is told soon" {
	running --dns 203.0.113.77 --dns 203.0.113.78
	run -1 inside claude 'timeout 15 wget -q -O - http://name.stand-in.example'
	[[ $output == *"bad address"* ]]
}

@test "names: two launches at once have a relay each, and one that ends takes none along" {
	resolver "$INTERNET_IP" ip netns exec internet
	running --dns "$INTERNET_IP"
	inside claude ': >up; while [ -e up ]; do sleep 0.1; done; wget -q -O - http://late.stand-in.example >late' 3>&- &
	run -0 inside claude "until [ -e up ]; do sleep 0.1; done; ${GET[*]} http://name.stand-in.example"
	is 'STAND-IN page of the internet'
	rm "$WORKSPACE/up"
	wait $!
	[[ $(<"$WORKSPACE/late") == 'STAND-IN page of the internet' ]]
}

# ---- ports ----

@test "ports: local-port reaches the container's loopback, and no other port of it" {
	policy_with 'local-port = 8080 9999'
	running
	model 8082
	run -0 inside "${GET[@]}" http://127.0.0.1:8082
	is 'STAND-IN page of the container'
	run -0 inside claude "${GET[*]} http://127.0.0.1:8080; ${GET[*]} http://127.0.0.1:9999 || echo refused"
	[[ $output == 'STAND-IN page of the container'*refused* ]]
	run -0 inside claude "${GET[*]} http://127.0.0.1:8082 || echo refused"
	[[ $output == *refused && $output != *STAND-IN* ]]
	run -0 inside oci-sandbox run --local-port 8082 claude "${GET[*]} http://127.0.0.1:8082"
	is 'STAND-IN page of the container'
	run -0 inside claude "${GET[*]} http://127.0.0.1:8082 || echo refused" # it was for that launch alone
	[[ $output == *refused && $output != *STAND-IN* ]]
	run -0 inside oci-sandbox run --egress none claude 'cat /proc/net/dev | grep -c :'
	[[ $output == 1 ]]
}

# pi: an agent that has a local-model-port, and runs what it is told to as well
pi() {
	cp "$ROOTFS/usr/local/bin/claude" "$ROOTFS/usr/local/bin/pi"
}

# model PORT: something on the container's loopback that a model could be
model() {
	inside httpd -p "127.0.0.1:$1" -h /www
}

@test "ports: a profile's local-model-port is reached by its agent, at both addresses, and by no other" {
	local page='STAND-IN page of the container'

	pi
	running
	model 1920
	run -0 inside pi "${GET[*]} http://127.0.0.1:1920; ${GET[*]} http://[::1]:1920; ${GET[*]} http://127.0.0.1:8080 || echo refused"
	[[ $output == "$page"$'\n'"$page"$'\n'*refused* ]]
	run -0 inside claude "${GET[*]} http://127.0.0.1:1920 || echo refused"
	[[ $output == *refused* && $output != *STAND-IN* ]]
}

@test "ports: a policy's local-model-port comes before the profile's, and none takes it away" {
	pi
	policy_with 'local-model-port = 11434'
	running
	model 1920
	model 11434
	run -0 inside pi "${GET[*]} http://127.0.0.1:11434; ${GET[*]} http://127.0.0.1:1920 || echo refused"
	[[ $output == 'STAND-IN page of the container'*refused* ]]
	run -0 inside claude "${GET[*]} http://127.0.0.1:11434 || echo refused"
	[[ $output == *refused* && $output != *STAND-IN* ]]
	engine_podman rm --force --time 0 "$CONTAINER"
	sed -i 's/^local-model-port = .*/local-model-port = none/' "$SANDBOX_CONFIG/policy.conf"
	running
	model 1920
	run -0 inside pi "${GET[*]} http://127.0.0.1:1920 || echo refused"
	[[ $output == *refused* && $output != *STAND-IN* ]]
}

@test "ports: a local-model-port may be a local-port as well, but no callback-port" {
	pi
	policy_with 'local-port = 1920'
	running
	model 1920
	run -0 --separate-stderr inside pi "${GET[*]} http://127.0.0.1:1920; netstat -lnt | grep -c ':1920 '"
	is $'STAND-IN page of the container\n2' # one for each address
	[[ $stderr != *warning* ]]
	engine_podman rm --force --time 0 "$CONTAINER"
	sed -i 's/^local-port = .*/callback-port = 1920/' "$SANDBOX_CONFIG/policy.conf"
	running
	run -125 inside pi 'echo FAULT'
	[[ $output == *'port 1920 is a callback-port, and the local-model-port of the profile `pi`'* && $output != *FAULT* ]]
	run -0 inside claude 'echo goes on'
	[[ $output == *'goes on'* ]]
}

@test "ports: two launches share a local-port, and one that ends leaves it to the other" {
	local first second

	policy_with 'local-port = 8080'
	running
	inside claude ': >up; while [ -e up ]; do sleep 0.1; done' 3>&- &
	first=$!
	appears "$WORKSPACE/up"
	inside claude ": >second; until [ -e go ]; do sleep 0.1; done
		for i in 1 2 3 4 5 6 7 8; do ${GET[*]} http://127.0.0.1:8080 || echo FAULT; done" >"${ROOTFS%/*}/second" 3>&- &
	second=$!
	appears "$WORKSPACE/second"
	rm "$WORKSPACE/up"
	wait "$first"
	: >"$WORKSPACE/go"
	wait "$second"
	[[ $(grep -c 'STAND-IN page of the container' "${ROOTFS%/*}/second") == 8 ]]
}

# Each ends when all have their page: a connection that another launch relays outlives that one by a
# quarter of a second alone.
@test "ports: thirty launches at once share a local-port" {
	policy_with 'local-port = 8080'
	running
	# shellcheck disable=SC2016 # the container's
	run -0 inside sh -c 'for i in $(seq 30); do
		claude "wget -q -O - http://127.0.0.1:8080; : >done.$i; until [ -e done.30 ] && [ \$(ls | grep -c ^done) = 30 ]; do sleep 0.1; done" &
		done; wait'
	[[ $(grep -c '^STAND-IN page of the container$' <<<"$output") == 30 ]]
}

@test "ports: callback-port reaches what the agent serves, and nobody else's connection does" {
	policy_with 'callback-port = 8090'
	running
	echo 'STAND-IN page of the agent' >"$WORKSPACE/index.html"
	inside claude 'httpd -f -p 127.0.0.1:8090 -h /workspace & httpd -f -p 8091 -h /workspace &
		: >up; while [ -e up ]; do sleep 0.1; done' 3>&- &
	appears "$WORKSPACE/up"
	run -0 inside sh -c "until ${GET[*]} http://127.0.0.1:8090; do sleep 0.1; done"
	[[ $output == *'STAND-IN page of the agent'* ]]
	for address in 127.0.0.1 10.213.0.1 10.213.0.3; do
		run ! inside "${GET[@]}" "http://$address:8091"
	done
	rm "$WORKSPACE/up"
	wait
}

@test "ports: one that is taken is told, and the launch goes on" {
	policy_with 'callback-port = 8080'
	running
	run -0 --separate-stderr inside claude 'echo goes on'
	is 'goes on'
	[[ $stderr == *"warning: callback-port 8080: the port is taken on the container's loopback"* ]]
}

# ---- what is reached ----

@test "egress: allowlist reaches what is named, and resolves names" {
	resolver "$INTERNET_IP" ip netns exec internet
	policy_with "egress = allowlist"
	running --dns "$INTERNET_IP"
	run ! inside claude "${GET[*]} http://name.stand-in.example"
	grep -q '^name.stand-in.example' "$QUERIES"
	run ! inside "${GET[@]}" "$INTERNET"
	engine_podman rm --force --time 0 "$CONTAINER"
	printf 'allow-ip = %s tcp/80\n' "$INTERNET_IP" >>"$SANDBOX_CONFIG/policy.conf"
	running --dns "$INTERNET_IP"
	run -0 inside claude "${GET[*]} http://name.stand-in.example"
	is 'STAND-IN page of the internet'
}

@test "egress: none leaves a loopback and nothing else, by policy or for one launch" {
	running
	run -0 engine_podman exec --env OCI_SANDBOX_EGRESS=none "$CONTAINER" claude "ls /sys/class/net 2>/dev/null; ip -o link | wc -l
		httpd -p 127.0.0.1:8095 -h /www; ${GET[*]} http://127.0.0.1:8095; ${GET[*]} $INTERNET || echo refused"
	[[ $output == *'STAND-IN page of the container'*refused* && $output != *'of the internet'* ]]
	run -125 engine_podman exec --env OCI_SANDBOX_EGRESS=open "$CONTAINER" claude 'echo FAULT'
	[[ $output == *"it can only be none"* && $output != *FAULT* ]]
	engine_podman rm --force --time 0 "$CONTAINER"
	policy_with 'egress = none'
	running
	run -0 inside claude "${GET[*]} $INTERNET || echo refused"
	[[ $output == *refused* && $output != *STAND-IN* ]]
	run ! inside "${GET[@]}" "$INTERNET"
}

@test "egress: open reaches the local network as well, but for deny-ip" {
	policy_with 'egress = open'
	running
	run -0 inside claude "${GET[*]} http://$LAN_IP"
	is 'STAND-IN admin page of a device'
	run ! inside claude "${GET[*]} http://127.0.0.1:8080"
	engine_podman rm --force --time 0 "$CONTAINER"
	printf 'deny-ip = %s\n' "$LAN_IP" >>"$SANDBOX_CONFIG/policy.conf"
	running
	run ! inside claude "${GET[*]} http://$LAN_IP"
	[[ $output != *STAND-IN* ]]
}

@test "egress: with egress-scope = agent the shells keep the network they had" {
	policy_with 'egress-scope = agent'
	running
	run -0 inside "${GET[@]}" "http://$LAN_IP"
	is 'STAND-IN admin page of a device'
	run ! inside claude "${GET[*]} http://$LAN_IP"
	[[ $output != *STAND-IN* ]]
	run -0 inside claude "${GET[*]} $INTERNET"
	is 'STAND-IN page of the internet'
}

# forward_rule: what becomes of what OTHER's network forwards and is no agent's
forward_rule() {
	nsenter "--net=/proc/$(engine_podman inspect --format '{{.State.Pid}}' "$OTHER")/ns/net" \
		nft list chain inet oci_sandbox forward | grep -o "[a-z]* comment \"what is no agent's\""
}

# It forwards when the second one comes, whoever switched that on.
@test "egress: with egress-scope = agent each container of a network has it forward as before" {
	local verdict own=("${OPTIONS[@]}") sysctl=()

	policy_with 'egress-scope = agent'
	cp -a "$LAB/template" "${ROOTFS%/*}/other"
	OPTIONS=("${own[@]/--network=*/--network=container:$OTHER}")
	[[ ${OPTIONS[*]} == *--network=* ]] || OPTIONS+=("--network=container:$OTHER")
	for verdict in drop accept; do
		[[ $verdict == drop ]] || sysctl=(--sysctl net.ipv4.ip_forward=1)
		engine_podman run --detach --name "$OTHER" "${own[@]}" "${sysctl[@]}" \
			--rootfs "${ROOTFS%/*}/other" sleep 1000 3>&-
		for _ in first second; do
			run -0 confined claude 'echo there'
			is there
			run -0 forward_rule
			is "$verdict comment \"what is no agent's\""
		done
		engine_podman rm --force --time 0 "$OTHER"
	done
}

# The container with the network comes before: no engine can make one there.
@test "network: where /proc/sys is read-only agents have IPv4, and each link forwards for them" {
	[[ $ENGINE != rootless ]] || return 0 # podman keeps the mounts that it began with
	local own=("${OPTIONS[@]}")

	cp -a "$LAB/template" "${ROOTFS%/*}/other"
	engine_podman run --detach --name "$OTHER" "${own[@]}" --rootfs "${ROOTFS%/*}/other" sleep 1000 3>&-
	OPTIONS+=("--network=container:$OTHER")
	export -f confined engine_podman engine_as_user
	export CONTAINER ROOTFS SANDBOX_HOOKS
	run -0 unshare --mount bash -c 'mount --bind /proc/sys /proc/sys; mount -o remount,bind,ro /proc/sys
		OPTIONS=("$@")
		confined claude "ip -o -6 addr show scope global dev eth0; wget -q -O - http://'"$INTERNET_IP"'"' sh "${OPTIONS[@]}"
	is "STAND-IN page of the internet"
	run -0 nsenter "--net=/proc/$(engine_podman inspect --format '{{.State.Pid}}' "$OTHER")/ns/net" \
		cat /proc/sys/net/ipv4/ip_forward /proc/sys/net/ipv4/conf/eth0/forwarding
	is $'0\n1'
}
