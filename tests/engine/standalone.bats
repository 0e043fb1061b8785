#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim
#
# Agents in containers without the hook, and in containers on the host's network: each launch makes
# its own network, and pasta connects it.

load ../lib/standalone

setup_file() {
	lab_prepare
	standalone_template
	network_start
}

setup() {
	container_prepare
	standalone_prepare
}

teardown() {
	container_remove
	[[ -z ${FAR:-} ]] || ip route del default
}

INTERFACES='sed -n "s/^ *\([^ :]*\):.*/\1/p" /proc/net/dev'

# gone PATTERN: no process of the container has it in its arguments, after at most 2 seconds
gone() {
	local deadline=$((SECONDS + 3))

	while pgrep -f "$1" >/dev/null; do
		((SECONDS < deadline))
	done
}

# gateway: the container's
gateway() {
	inside sh -c "ip route | awk '/^default/ { print \$3; exit }'"
}

# policy LINE...: as root wrote it into the image
policy() {
	printf '%s\n' "$@" >>"$ROOTFS/etc/oci-sandbox/policy.conf"
}

# programs: what a launch has started in the container and not ended, or not waited for
programs() {
	inside ps -o args | grep -E '(pasta|passt|egress)' || true
}

@test "standalone: an agent reaches the internet, and not the network that the container is on" {
	running
	run -0 inside claude "${GET[*]} $INTERNET"
	is 'STAND-IN page of the internet'
	run ! inside claude "${GET[*]} http://$LAN_IP"
	[[ $output != *STAND-IN* ]]
	run -0 programs
	is ''
}

@test "standalone: the developer's secrets and what is mounted are out of the agent's reach" {
	running
	run -0 inside claude 'cat /root/.ssh/* /root/.aws/* /mnt/kube/config /etc/shadow 2>/dev/null; env; echo end'
	[[ $output != *STAND-IN* && $output == *end* ]]
	run -0 inside claude 'echo new >file && cat file'
	is new
	[[ $(cat "$WORKSPACE/file") == new ]]
	run -0 inside claude 'touch /usr/x /etc/oci-sandbox/policy.conf 2>&1 || echo "$?"'
	[[ $output == *"Read-only file system"* ]]
}

@test "standalone: an ordinary user's agent is confined as root's" {
	running
	run -0 engine_podman exec --user 1000:1000 --env HOME=/home/dev "$CONTAINER" sh -c \
		"mkdir /tmp/w && cd /tmp/w && claude '${GET[*]} $INTERNET; id -u; cat /home/dev/.ssh/*; true'"
	[[ $output == *'STAND-IN page of the internet'*1000* && $output != *'STAND-IN key'* ]]
}

@test "standalone: the container's loopback, its addresses and its gateway are out of reach" {
	local address gateway

	running
	run ! inside claude "${GET[*]} http://127.0.0.1:8080"
	address=$(inside sh -c "ip -o -4 addr show scope global | awk '{ print \$4; exit }'")
	gateway=$(gateway)
	run -0 inside "${GET[@]}" "http://${address%/*}:8081"
	for address in "${address%/*}" "$gateway"; do
		run inside claude "${GET[*]} http://$address:8081"
		[[ $status -ne 0 && $output != *STAND-IN* ]]
	done
}

@test "standalone: the agent cannot change its interfaces, routes and rules" {
	local does

	running
	for does in 'ip link set lo down' 'ip route del default' 'ip route add 192.0.2.0/24 dev lo' \
		'ip addr add 192.0.2.7/24 dev lo' 'unshare -U -r ip route del default' \
		'nsenter --net=/proc/1/ns/net true'; do
		run inside claude "$does"
		[[ $output == *"not permitted"* || $output == *"ermission denied"* ]] || {
			echo "$does: $output"
			return 1
		}
	done
}

@test "standalone: names come by relay, and ports as the policy has them" {
	policy 'local-port = 8080' 'callback-port = 9090'
	running
	run -0 inside claude "${GET[*]} http://127.0.0.1:8080"
	is 'STAND-IN page of the container'
	run -0 inside claude 'cat /etc/resolv.conf'
	[[ $output == 'nameserver 127.'* ]]
	engine_podman exec --detach "$CONTAINER" claude \
		'mkdir w; echo STAND-IN agent >w/index.html; httpd -p 127.0.0.1:9090 -h w; touch /workspace/up; exec sleep 1000'
	appears "$WORKSPACE/up"
	run -0 inside "${GET[@]}" http://127.0.0.1:9090
	is 'STAND-IN agent'
}

@test "standalone: egress = allowlist, none, open, and deny-ip" {
	policy 'egress = allowlist' 'allow-ip = 10.77.0.0/24'
	running
	run -0 inside claude "${GET[*]} http://$LAN_IP"
	is 'STAND-IN admin page of a device'
	run ! inside claude "${GET[*]} $INTERNET"
	sed -i '/^egress\|^allow-ip/d' "$ROOTFS/etc/oci-sandbox/policy.conf"
	policy 'egress = open' "deny-ip = $INTERNET_IP"
	run -0 inside claude "${GET[*]} http://$LAN_IP"
	run -0 inside oci-sandbox run --egress internet claude "${GET[*]} http://$LAN_IP || echo refused"
	[[ $output == *refused && $output != *STAND-IN* ]]
	run ! inside claude "${GET[*]} $INTERNET"
	# not even then is the gateway another name of the container's loopback
	run ! inside claude "${GET[*]} http://$(gateway):8080"
	sed -i '/^egress\|^deny-ip/d' "$ROOTFS/etc/oci-sandbox/policy.conf"
	policy 'egress = none'
	run -0 inside claude "$INTERFACES; ${GET[*]} $INTERNET 2>/dev/null || echo refused"
	is $'lo\nrefused'
	run -0 inside env OCI_SANDBOX_EGRESS=none claude "$INTERFACES"
	is lo
}

@test "standalone: oci-sandbox status says by what agents are confined" {
	running
	run -0 inside oci-sandbox status
	[[ $output == *'/etc/oci-sandbox/policy.conf'*'internet, of agents alone'*'each launch makes one, which pasta connects'* ]]
	run -0 inside claude 'oci-sandbox status --json'
	jq -e '.where == "sandbox" and .container.network == "pasta"' <<<"$output"
}

@test "standalone: an agent launches another one in its sandbox" {
	running
	run -0 inside claude "claude '${GET[*]} $INTERNET'"
	is 'STAND-IN page of the internet'
}

@test "standalone: a container without a default route has agents without a network, and says so" {
	OPTIONS=("${OPTIONS[@]/--network=slirp4netns/--network=none}")
	[[ $ENGINE == rootless ]] || OPTIONS+=(--network none)
	running
	run -0 --separate-stderr inside claude "$INTERFACES"
	is lo
	[[ $stderr == *"no default route, so agents have no network"* ]]
}

@test "standalone: pasta is killed: the agent loses its network, is told, and is never open" {
	running
	engine_podman exec "$CONTAINER" claude "touch /workspace/up
		until [ -e /workspace/killed ]; do sleep 0.1; done
		${GET[*]} $INTERNET; echo \"status \$?\"; ip route" >"${ROOTFS%/*}/out" 2>&1 3>&- &
	appears "$WORKSPACE/up"
	pkill -9 -f 'pasta --foreground'
	until [[ -z $(programs) ]]; do :; done
	touch "$WORKSPACE/killed"
	wait $!
	run -0 cat "${ROOTFS%/*}/out"
	[[ $output == *'pasta has ended, so the agent has no network any more'* ]]
	[[ $output != *STAND-IN* && $output == *'status 1'* && $output != *default* ]]
}

@test "standalone: the supervisor is killed: the agent and pasta are gone" {
	running
	engine_podman exec --detach "$CONTAINER" claude 'touch /workspace/up; exec sleep 4711'
	appears "$WORKSPACE/up"
	run -0 pgrep -f 'pasta --foreground'
	pkill -9 -o -f '^claude touch'
	gone 'sleep 4711|pasta --foreground'
}

@test "standalone: the launch ends, and so do the programs that it has started" {
	running
	run -0 inside claude true
	run -7 inside claude 'exit 7'
	run -0 programs
	is ''
	run -0 inside sh -c 'ls -d /proc/[0-9]*/ns | wc -l; for p in /proc/[0-9]*; do readlink $p/ns/net; done | sort -u | wc -l'
	[[ ${lines[1]} -eq 1 ]]
}

@test "standalone: what is missing is said, with what to do, and nothing is launched" {
	policy 'local-port = 8080'
	running
	inside mv /usr/bin/pasta /usr/bin/not-pasta
	run -125 inside claude 'echo RUN'
	[[ $output == *'pasta is missing'*'install the package passt'* && $output != *RUN* ]]
	inside sh -c 'cp /usr/bin/passt /usr/bin/pasta && chmod 777 /usr/bin/pasta'
	run -125 inside claude 'echo RUN'
	[[ $output == *'/usr/bin/pasta can be written by others'* && $output != *RUN* ]]
	inside sh -c 'printf "#!/bin/sh\nenv >/env; echo STAND-IN reason >&2; exit 3\n" >/usr/bin/pasta; chmod 755 /usr/bin/pasta'
	run -125 inside env LD_PRELOAD=STAND-IN OTHER=STAND-IN claude 'echo RUN'
	[[ $output == *'pasta ended with status 3: STAND-IN reason'* && $output != *RUN* ]]
	run ! grep STAND-IN "$ROOTFS/env" # no variable decides what these programs do
	[[ $status -eq 1 ]]
	inside sh -c 'printf "#!/bin/sh\nexec sleep 1234\n" >/usr/bin/pasta'
	run -125 inside claude 'echo RUN'
	[[ $output == *"wait for the agent's network"* && $output != *RUN* ]]
	run -1 pgrep -f 'sleep 1234'
	inside sh -c 'rm /usr/bin/pasta; ln -s passt /usr/bin/pasta; find / -xdev -name "libnftnl*" -exec rm {} +'
	run -125 inside claude 'echo RUN'
	[[ $output == *'libnftnl'*'packages libnftnl11 and libmnl0'* && $output != *RUN* ]]
}

@test "standalone: without /dev/net/tun nothing is launched" {
	OPTIONS=("${OPTIONS[@]/\/dev\/net\/tun/\/dev\/null}")
	running
	run -125 inside claude 'echo RUN'
	[[ $output == *'open /dev/net/tun'*'--device /dev/net/tun'* && $output != *RUN* ]]
}

@test "standalone: a policy that is not root's alone, or asks for the hook, launches nothing" {
	running
	inside chmod 666 /etc/oci-sandbox/policy.conf
	run -125 inside claude 'echo RUN'
	[[ $output == *'can be written by others'* && $output != *RUN* ]]
	inside chmod 644 /etc/oci-sandbox/policy.conf
	policy 'require-hook = yes'
	run -125 inside claude 'echo RUN'
	[[ $output == *'started without oci-sandbox-hook'*'require-hook = yes'* && $output != *RUN* ]]
	run -69 inside oci-sandbox status
	[[ $output == *'started without oci-sandbox-hook, so no agent is launched here'* ]]
	inside rm -r /etc/oci-sandbox
	run -125 inside claude 'echo RUN'
	[[ $output == *'started without oci-sandbox-hook'* && $output != *RUN* ]]
}

@test "standalone: a folder that looks like the hook's launches nothing" {
	mkdir -p "$ROOTFS/run/oci-sandbox"
	running
	inside mkdir -p /run/oci-sandbox
	run -125 inside claude 'echo RUN'
	[[ $output == *'is not the folder that oci-sandbox-hook mounts'* && $output != *RUN* ]]
}

# on_host_network [LINE...]: a container with the hook on the lab's own network, with this policy
on_host_network() {
	rm -rf "$ROOTFS"
	cp -a "$LAB/template" "$ROOTFS"
	pasta_add "$ROOTFS"
	[[ $ENGINE != rootless ]] || rootfs_owner "$ROOTFS" "$LAB_UID" "$LAB_SUBID"
	export UNHOOKED=
	OPTIONS=("${OPTIONS[@]/--network=slirp4netns/}" --network host
		--annotation io.oci-sandbox.enable=true)
	mapfile -t OPTIONS < <(printf '%s\n' "${OPTIONS[@]}" | grep .)
}

FAR_IP=198.51.100.10 # of TEST-NET-2, RFC 5737

# far_internet: an address of the internet that the lab reaches by a gateway
far_internet() {
	ip -n internet addr add "$FAR_IP/32" dev lo
	ip route add default via "$INTERNET_IP"
	FAR=yes
	network_serve internet "$FAR_IP"
	network_wait "$FAR_IP" 80
}

@test "host network: agents have a network of their own, and the host's rules stay as they are" {
	local before

	on_host_network
	policy_with 'egress-scope = agent'
	before=$(nft --stateless list ruleset 2>/dev/null)
	far_internet
	running
	run -0 inside "${GET[@]}" "http://$LAN_IP"
	run -0 inside claude "${GET[*]} http://$FAR_IP"
	is 'STAND-IN page of the internet'
	run ! inside claude "${GET[*]} http://$LAN_IP"
	run ! inside claude "${GET[*]} http://127.0.0.1:8080"
	run ! inside claude "${GET[*]} http://203.0.113.1:8081"
	[[ $(nft --stateless list ruleset 2>/dev/null) == "$before" ]]
	run -0 engine_as_user "$LAB/host/usr/bin/oci-sandbox" --libexec "$SANDBOX_LIBEXEC" status "$CONTAINER"
	[[ $output == *"of agents alone"*'each launch makes one'*"on the host's network, which has no rules"* ]]
	run -0 inside claude 'cat /mnt/kube/config /root/.ssh/id_ed25519 2>&1; echo end'
	[[ $output != *STAND-IN* ]]
}

@test "host network: a policy that means the whole container is refused" {
	on_host_network
	run ! engine_podman --hooks-dir "$SANDBOX_HOOKS" run --rm --name "$CONTAINER" "${OPTIONS[@]}" --rootfs "$ROOTFS" \
		echo RUN
	[[ $output != *RUN* ]]
}
