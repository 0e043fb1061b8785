# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Containers that run and serve, for what agents reach of them and of the network.

# shellcheck source=tests/lib/confined.bash
. "$(dirname "${BASH_SOURCE[0]}")/confined.bash"

GET=(timeout 5 wget -q -O -)
# shellcheck disable=SC2034 # for who loads this
INTERNET="http://$INTERNET_IP"

# running [OPTION...]: a container that runs, with a service on its loopback and on all of its
# addresses; without the hook if UNHOOKED is set
running() {
	local deadline=$((SECONDS + 20)) hooks=(--hooks-dir "$SANDBOX_HOOKS")

	[[ -z ${UNHOOKED:-} ]] || hooks=()
	mkdir -p "$ROOTFS/www"
	echo 'STAND-IN page of the container' >"$ROOTFS/www/index.html"
	chmod -R a+rX "$ROOTFS/www"
	engine_podman "${hooks[@]}" run --detach --name "$CONTAINER" \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" "$@" --rootfs "$ROOTFS" \
		sh -c 'httpd -p 127.0.0.1:8080 -h /www; httpd -p 8081 -h /www; exec sleep 1000' 3>&-
	until inside "${GET[@]}" http://127.0.0.1:8080 >/dev/null 2>&1; do
		((SECONDS < deadline))
	done
}

# inside COMMAND...: in it
inside() {
	engine_podman exec "$CONTAINER" "$@"
}

# resolver ADDRESS COMMAND...: a resolver on ADDRESS (lib/resolver.py), in the network namespace that
# COMMAND enters; each name is the internet's. QUERIES is its log, RESOLVER its process.
resolver() {
	local address=$1 deadline=$((SECONDS + 10))

	shift
	QUERIES=${ROOTFS%/*}/queries
	rm -f "$QUERIES"
	"$@" env PYTHONDONTWRITEBYTECODE=1 python3 "$SRCDIR/tests/lib/resolver.py" "$address" "$INTERNET_IP" "$QUERIES" \
		3>&- 4>&- &
	RESOLVER=$!
	until [[ -s $QUERIES ]]; do
		((SECONDS < deadline))
	done
}

# appears FILE: an agent makes it within 20 seconds
appears() {
	local deadline=$((SECONDS + 20))

	until [[ -e $1 ]]; do
		((SECONDS < deadline))
	done
}

# container_net: the container's network namespace
container_net() {
	echo "/proc/$(engine_podman inspect --format '{{.State.Pid}}' "$CONTAINER")/ns/net"
}

# resolver_inside ADDRESS: a resolver on ADDRESS of the container
resolver_inside() {
	resolver "$1" nsenter "--net=$(container_net)"
}
