#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine
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
}

HOOKS=()
GET=(timeout 5 wget -q -O -)
INTERNET="http://$INTERNET_IP"

# running [OPTION...]: a container without the hook that runs, with a service on its loopback and
# on all of its addresses
running() {
	local deadline=$((SECONDS + 20))

	mkdir -p "$ROOTFS/www"
	echo 'STAND-IN page of the container' >"$ROOTFS/www/index.html"
	chmod -R a+rX "$ROOTFS/www"
	engine_podman "${HOOKS[@]}" run --detach --name "$CONTAINER" "${OPTIONS[@]}" "$@" \
		--rootfs "$ROOTFS" \
		sh -c 'httpd -p 127.0.0.1:8080 -h /www; httpd -p 8081 -h /www; exec sleep 1000' 3>&-
	until inside "${GET[@]}" http://127.0.0.1:8080 >/dev/null 2>&1; do
		((SECONDS < deadline))
	done
}

inside() {
	engine_podman exec "$CONTAINER" "$@"
}

# policy LINE...: as root wrote it into the image
policy() {
	printf '%s\n' "$@" >>"$ROOTFS/etc/oci-sandbox/policy.conf"
}

# programs: what a launch has started in the container and not ended yet
programs() {
	inside ps -o args | grep -E '^(pasta|/usr/bin/pasta|/usr/libexec/oci-sandbox)' || true
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
