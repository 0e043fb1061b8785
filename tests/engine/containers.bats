#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine
#
# Every kind of container: the shim has the agent's name, the manifest is there, the rules are in
# force, and the agent works; or the container is refused and says why.

load ../lib/confined

setup_file() {
	lab_prepare
	network_start
	ids_for_auto
	image_make
}

setup() {
	container_prepare
	mapfile -t OPTIONS < <(engine_options)
	chmod 777 "$WORKSPACE" # whatever ids the container has
	OPTIONS+=(--volume "$WORKSPACE:/workspace" --workdir /workspace)
}

teardown() {
	engine_podman pod rm --force --time 0 --ignore "$CONTAINER-pod" >/dev/null 2>&1 || true
	engine_podman rm --force --time 0 --ignore "$CONTAINER-other" >/dev/null 2>&1 || true
	container_remove
}

# ids_for_auto: rootful --userns=auto takes ids of a user "containers", rootless the user's own
ids_for_auto() {
	local file

	[[ $ENGINE != rootless && ! -e $LAB/subuid ]] || return 0
	for file in subuid subgid; do
		cp "/etc/$file" "$LAB/$file"
		echo containers:2147483648:1000000 >>"$LAB/$file"
		mount --bind "$LAB/$file" "/etc/$file"
	done
}

# image_make: the template as an image "lab"; podman gives its own user namespaces to images only
image_make() {
	local tar=(tar)

	! engine_podman image exists lab || return 0
	cp -a "$LAB/template" "$LAB/image"
	printf '#!/bin/sh\nexec sleep 1000\n' >"$LAB/image/pause"
	chmod 755 "$LAB/image/pause"
	[[ $ENGINE != rootless ]] || tar=(engine_podman unshare tar)
	"${tar[@]}" -C "$LAB/image" -cf - . >"$LAB/image.tar"
	chmod 644 "$LAB/image.tar"
	engine_podman import "$LAB/image.tar" lab
	rm -r "$LAB/image" "$LAB/image.tar"
}

# network NAME: in the place of the engine's
network() {
	local i

	for i in "${!OPTIONS[@]}"; do
		[[ ${OPTIONS[i]} != --network=* ]] || unset "OPTIONS[i]"
	done
	OPTIONS+=("--network=$1")
}

# ours SUBCOMMAND ARG...: podman with the hook, for a container that asks
ours() {
	engine_podman --hooks-dir "$SANDBOX_HOOKS" "$1" --name "$CONTAINER" \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" "${@:2}"
}

# What a container says: where the shim is not, where the manifest is not, and what it reaches
# shellcheck disable=SC2016 # the container's
says='cmp -s /usr/libexec/oci-sandbox/shim "$(command -v claude)" || echo "no shim"
	[ -s /run/oci-sandbox/container ] || echo "no manifest"
	timeout 5 wget -q -O - http://10.77.0.10 2>&1
	timeout 5 wget -q -O - http://203.0.113.10 2>&1
	claude "echo an agent; cat /home/dev/.ssh/id_ed25519 /root/.ssh/id_ed25519 2>/dev/null
		touch /workspace/written && echo a workspace"'

# confines [LATE]: $output is of a container that is confined, on a network
confines() {
	local lan="wget: can't connect to remote host ($LAN_IP): No route to host"
	local internet='STAND-IN page of the internet'

	[[ ${1:-} != late || $ENGINE != podman-runc ]] || # runc does not wait for it
		internet="wget: can't connect to remote host ($INTERNET_IP): No route to host"
	is "$lan"$'\n'"$internet"$'\nan agent\na workspace'
}

# confined_image OPTION...: a container of the image with these options is confined
confined_image() {
	rm -f "$WORKSPACE/written" # its owner may have been another one
	run ours run --rm "$@" lab sh -c "$says"
	[[ $status -eq 0 ]] || {
		echo "with $*: $output"
		return 1
	}
	confines
}

@test "kinds: a read-only root" {
	confined_image --read-only --tmpfs /root/.local/state
	confined_image --read-only --tmpfs /root/.local/state --read-only-tmpfs=false
	run ! ours run --rm --read-only lab claude true
	[[ $output == *"the container's root is read-only: mount a volume there, or name a writable folder as state-root"* ]]
}

# tree DIR: what a change in it would change
tree() {
	(cd "$1" && find . -printf '%p %y %m %U:%G %s %l\n' | sort)
}

@test "kinds: nothing is made in a root file system that is read-only" {
	local before after options=(--read-only --tmpfs /root/.local/state --rootfs "$ROOTFS")

	rmdir "$ROOTFS/usr/libexec"
	engine_podman run --rm --name "$CONTAINER" "${OPTIONS[@]}" "${options[@]}" true # podman's own mount points
	before=$(tree "$ROOTFS")
	run -0 ours run --rm "${options[@]}" sh -c "$says"
	confines
	after=$(tree "$ROOTFS")
	diff <(echo "$before") <(echo "$after")
}

@test "kinds: an ordinary user" {
	confined_image --user 1000
	confined_image --user 1000:1000 --read-only --tmpfs /home/dev/.local/state
}

@test "kinds: --userns=auto" {
	run -0 ours run --rm --userns=auto lab sh -c "$says"
	confines late
}

@test "kinds: --uidmap" {
	local first=300000

	[[ $ENGINE != rootless ]] || first=1
	run -0 ours run --rm --uidmap "0:$first:65000" lab sh -c "$says"
	confines late
}

@test "kinds: rootless keep-id and nomap" {
	if [[ $ENGINE != rootless ]]; then # podman has them for users alone
		run ! ours run --rm --userns=keep-id lab true
		return
	fi
	mkdir "${ROOTFS%/*}/home"
	chown "$LAB_UID:$LAB_UID" "$WORKSPACE" "${ROOTFS%/*}/home"
	run -0 ours run --rm --userns=keep-id --volume "${ROOTFS%/*}/home:/home/keep" --env HOME=/home/keep \
		lab sh -c "$says"
	confines
	rm "$WORKSPACE/written"
	chmod 777 "$WORKSPACE"
	run -0 ours run --rm --userns=nomap lab sh -c "$says"
	confines
}

@test "kinds: no network" {
	network none
	run -0 ours run --rm lab sh -c "$says"
	is "$(printf "wget: can't connect to remote host (%s): Network is unreachable\n" "$LAN_IP" "$INTERNET_IP")"$'\nan agent\na workspace'
}

@test "kinds: the host's network is refused, and it is said what for" {
	network host
	run ! ours run --rm lab sh -c 'touch /workspace/ran'
	[[ ! -e $WORKSPACE/ran ]]
	[[ $ENGINE != podman-runc || $output == *egress-scope* ]] # crun drops what a hook says
}

@test "kinds: another container's network" {
	engine_podman run --detach --name "$CONTAINER-other" "${OPTIONS[@]}" lab /pause 3>&-
	network "container:$CONTAINER-other"
	confined_image
	# which the rules are now for, too: a network namespace has one set of them
	run ! engine_podman exec "$CONTAINER-other" timeout 5 wget -q -O - "http://$LAN_IP"
	# and a second one finds the table of the first
	confined_image
}

@test "kinds: a pod with an infra container" {
	local pod=(pod create --name "$CONTAINER-pod" --infra-image lab --infra-command /pause)

	case $ENGINE in
	podman-runc) pod+=(--cgroup-parent "/$LAB_CGROUP") ;;
	rootless) pod+=(--network slirp4netns) ;;
	esac
	engine_podman "${pod[@]}"
	OPTIONS=(--volume "$WORKSPACE:/workspace" --workdir /workspace)
	confined_image --pod "$CONTAINER-pod"
	confined_image --pod "$CONTAINER-pod"
}

@test "kinds: --privileged, and what the capabilities are is told" {
	run -0 --separate-stderr ours run --rm --privileged lab sh -c "$says"
	confines
	[[ $stderr == *"warning: container root has CAP_SYS_ADMIN: it can unmount what oci-sandbox put into the container"* ]]
	[[ $stderr == *"warning: container root has CAP_NET_ADMIN: it can take the network rules away"* ]]
	run -0 --separate-stderr ours run --rm lab claude true
	[[ $stderr == "" ]]
}

# still_confined: the container that runs is
still_confined() {
	run -0 engine_podman exec "$CONTAINER" sh -c "$says"
	confines
}

@test "kinds: created, started, restarted, stopped and started again" {
	local with=(engine_podman --hooks-dir "$SANDBOX_HOOKS")

	ours create lab sleep 1000
	"${with[@]}" start "$CONTAINER" 3>&-
	still_confined
	"${with[@]}" restart --time 0 "$CONTAINER" 3>&-
	still_confined
	engine_podman stop --time 0 "$CONTAINER"
	"${with[@]}" start "$CONTAINER" 3>&-
	still_confined
}

@test "kinds: hooks of others, before and after" {
	sandbox_hooks "$LAB/hooks-of-others" "$SANDBOX_CONFIG" "$SANDBOX_LIBEXEC"
	SANDBOX_HOOKS=$LAB/hooks-of-others
	jq '.hook = {path: "/bin/true"}' "$SANDBOX_HOOKS/50-oci-sandbox.json" >"$SANDBOX_HOOKS/10-first.json"
	cp "$SANDBOX_HOOKS/10-first.json" "$SANDBOX_HOOKS/90-last.json"
	confined_image
}

@test "kinds: the user's own mounts where the hook's are to be" {
	local target own=${ROOTFS%/*}/own

	for target in /usr/local/bin /usr/local/sbin /run /run/oci-sandbox /usr/libexec /usr/libexec/oci-sandbox; do
		mkdir -p "$own"
		cp "$LAB/template/usr/local/bin/claude" "$own/"
		container_owner 0 "$own"
		confined_image --volume "$own:$target"
		rm -r "$own"
	done
	confined_image --tmpfs /run --tmpfs /usr/libexec
	confined_image --volume "$LAB/template/bin/busybox:/usr/local/sbin/codex:ro"
}

@test "kinds: a file that is mounted over the agent is covered as well" {
	local own=${ROOTFS%/*}/own

	printf '#!/bin/sh\necho mounted; exec sh -c "$@"\n' >"$own"
	chmod 755 "$own"
	container_owner 0 "$own"
	run -0 ours run --rm --volume "$own:/usr/local/bin/claude" lab sh -c "$says"
	[[ $output == *$'\nmounted\nan agent\n'* ]]
}

@test "kinds: no capabilities at all, and no new privileges" {
	confined_image --cap-drop=all --user 1000
	confined_image --security-opt no-new-privileges
	confined_image --cap-drop=all
	run ! ours run --rm --cap-drop=all --env OCI_SANDBOX_EGRESS=none lab claude true
	[[ $output == *"container root may not map ids (the container needs CAP_SETUID, CAP_SETGID and CAP_SETFCAP, or the agent an ordinary user)"* ]]
}

@test "kinds: PATH is empty, relative, or long" {
	local long=

	run ! ours run --rm --env PATH= lab /bin/true
	[[ $ENGINE != podman-runc || $output == *"PATH"* ]]
	for _ in {1..200}; do
		long+=/nowhere/$RANDOM:
	done
	run -0 ours run --rm --env "PATH=${long}/usr/local/bin:/bin" lab /bin/sh -c "$says"
	confines
	run -0 ours run --rm --env "PATH=./x:bin::/usr/local/bin:/bin" lab /bin/sh -c "$says"
	confines
}
