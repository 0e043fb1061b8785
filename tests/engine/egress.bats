#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine
#
# What a container may reach, in the networks that podman makes: the host, siblings, published
# ports, and a network that is there only after the hook.

load ../lib/confined

HOST_IP=203.0.113.1 # the host's end of the way to the stand-in internet, and public
SUBNET=198.51.100.0/24

setup_file() {
	local port

	lab_prepare
	network_start
	mkdir -p "$LAB/www/host"
	echo 'STAND-IN page of the host' >"$LAB/www/host/index.html"
	for port in 80 8081; do
		busybox httpd -p "$port" -h "$LAB/www/host" </dev/null >/dev/null 2>&1 3>&- 4>&-
		network_wait 127.0.0.1 "$port"
	done
	# A public subnet that containers are part of; rootless has one by slirp4netns
	[[ $ENGINE == rootless ]] || engine_podman network create --subnet "$SUBNET" public
}

setup() {
	container_prepare
	SIBLING=$CONTAINER-sibling
}

teardown() {
	engine_podman rm --force --time 0 --ignore "$SIBLING" >/dev/null 2>&1 || true
	container_remove
}

# "${GET[@]}" URL: prints the page, or fails within 5 seconds
GET=(timeout 5 wget -q -O -)

# in_public_network: NEIGHBOUR is another member of the subnet that OPTIONS put the container in
in_public_network() {
	local options

	if [[ $ENGINE == rootless ]]; then
		OPTIONS=("${OPTIONS[@]/--network=slirp4netns/--network=slirp4netns:cidr=$SUBNET,allow_host_loopback=true}")
		NEIGHBOUR=198.51.100.2:8081 # slirp4netns leads there to the host's loopback
		return
	fi
	mapfile -t options < <(engine_options)
	cp -a "$LAB/template" "${ROOTFS%/*}/sibling"
	mkdir "${ROOTFS%/*}/sibling/www"
	echo 'STAND-IN page of a sibling' >"${ROOTFS%/*}/sibling/www/index.html"
	engine_podman run --detach --name "$SIBLING" "${options[@]}" --network public \
		--rootfs "${ROOTFS%/*}/sibling" busybox httpd -f -h /www 3>&-
	NEIGHBOUR=$(engine_podman inspect --format '{{.NetworkSettings.Networks.public.IPAddress}}' "$SIBLING")
	network_wait "$NEIGHBOUR" 80
	OPTIONS+=(--network public)
}

# in_user_namespace: the container has one of its own, and so its network after the hook
in_user_namespace() {
	local root=200000

	if [[ $ENGINE == rootless ]]; then
		root=$LAB_SUBID
		OPTIONS+=(--uidmap 0:1:65536) # of the user's namespace, where 1 is the first of the others
	else
		OPTIONS+=(--uidmap "0:$root:65536")
	fi
	chown -R "$root:$root" "$ROOTFS" "$WORKSPACE"
}

@test "egress: the host's own public address is refused, for agent and shell" {
	run -0 unconfined "${GET[@]}" "http://$HOST_IP"
	is 'STAND-IN page of the host'
	run ! confined "${GET[@]}" "http://$HOST_IP"
	[[ $output != *STAND-IN* ]]
	run ! confined claude "${GET[*]} http://$HOST_IP"
	[[ $output != *STAND-IN* ]]
	run -0 confined claude "${GET[*]} http://$INTERNET_IP"
	is 'STAND-IN page of the internet'
}

@test "egress: allow-ip with protocol and port opens just that of the host" {
	policy_with "allow-ip = $HOST_IP tcp/8081"
	run -0 confined claude "${GET[*]} http://$HOST_IP:8081"
	is 'STAND-IN page of the host'
	run ! confined claude "${GET[*]} http://$HOST_IP"
}

@test "egress: deny-ip closes what is public" {
	policy_with "deny-ip = $INTERNET_IP"
	run ! confined claude "${GET[*]} http://$INTERNET_IP"
	[[ $output != *STAND-IN* ]]
}

@test "egress: neighbours in a public network are refused, and what is behind the gateway is not" {
	in_public_network
	run -0 unconfined "${GET[@]}" "http://$NEIGHBOUR"
	[[ $output == *STAND-IN* ]]
	run ! confined claude "${GET[*]} http://$NEIGHBOUR"
	[[ $output != *STAND-IN* ]]
	run -0 confined claude "${GET[*]} http://$INTERNET_IP"
	is 'STAND-IN page of the internet'
}

@test "egress: allow-connected opens the network that the container is part of, not its gateway" {
	in_public_network
	policy_with 'allow-connected = yes'
	run confined claude "${GET[*]} http://$NEIGHBOUR"
	if [[ $ENGINE == rootless ]]; then # slirp4netns: all that is there is the gateway
		[[ $status -ne 0 && $output != *STAND-IN* ]]
		return
	fi
	is 'STAND-IN page of a sibling'
	run ! confined claude "${GET[*]} http://198.51.100.1:8081"
	[[ $output != *STAND-IN* ]]
	run -0 unconfined "${GET[@]}" http://198.51.100.1:8081
	run ! confined claude "${GET[*]} http://$LAN_IP"
	[[ $output != *STAND-IN* ]]
}

# runc calls poststart before podman has set the network up.
@test "egress: so it is where the network comes after the hook" {
	local page

	in_public_network
	in_user_namespace
	run -0 unconfined "${GET[@]}" "http://$NEIGHBOUR"
	[[ $output == *STAND-IN* ]]
	run ! confined claude "${GET[*]} http://$NEIGHBOUR"
	[[ $output != *STAND-IN* ]]
	page="${GET[*]} http://$INTERNET_IP"
	if [[ $ENGINE == podman-runc ]]; then
		run ! confined claude "$page"
		[[ $output != *STAND-IN* ]]
	else
		run -0 confined claude "$page"
		is 'STAND-IN page of the internet'
	fi
}

@test "egress: a command that is over before poststart has not failed" {
	in_user_namespace
	for _ in {1..10}; do
		run -0 confined true
	done
}

@test "egress: a published port is reached from outside" {
	mkdir "$ROOTFS/www"
	echo 'STAND-IN page of a container' >"$ROOTFS/www/index.html"
	chmod -R a+rX "$ROOTFS/www"
	engine_podman --hooks-dir "$SANDBOX_HOOKS" run --detach --name "$CONTAINER" --publish 8099:8080 \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" --rootfs "$ROOTFS" \
		busybox httpd -f -p 8080 -h /www 3>&-
	network_wait "$HOST_IP" 8099
	run -0 ip netns exec internet "${GET[@]}" "http://$HOST_IP:8099"
	is 'STAND-IN page of a container'
	run -0 ip netns exec lan "${GET[@]}" http://10.77.0.1:8099
	is 'STAND-IN page of a container'
}
