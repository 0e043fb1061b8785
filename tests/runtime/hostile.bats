#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The hook below a real runtime, with images, processes and neighbours that want to harm the host.

bats_require_minimum_version 1.5.0

setup_file() {
	export SRCDIR=${SRCDIR:-$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}
	export BUILDDIR=${BUILDDIR:-$SRCDIR/build}
	# shellcheck source=tests/lib/bundle.bash
	. "$SRCDIR/tests/lib/bundle.bash"
	bundle_setup_file
}

setup() {
	# shellcheck source=tests/lib/bundle.bash
	. "$SRCDIR/tests/lib/bundle.bash"
	# shellcheck source=tests/lib/swapper.bash
	. "$SRCDIR/tests/lib/swapper.bash"
	bundle_setup
}

teardown() {
	swapper_stop
	bundle_teardown
}

# ---- invariant 3 ----

@test "hook: a hostile image makes it touch nothing outside" {
	local where before target

	for where in usr/local/sbin run usr/libexec etc; do
		for target in / "$HOOK_DIR/canary" "../../../../../../../../..$HOOK_DIR/canary"; do
			fresh
			printf 'nameserver 10.9.8.7\n' >"$HOOK_DIR/canary/resolv.conf"
			mkdir -p "$HOOK_ROOTFS$HOOK_DIR/canary"
			rm -rf "${HOOK_ROOTFS:?}/$where"
			ln -s "$target" "$HOOK_ROOTFS/$where"
			before=$(hook_tree "$HOOK_DIR/canary")
			container_does 'cmp /usr/libexec/oci-sandbox/shim /usr/local/sbin/claude && echo same'
			# a hook that gives up would touch nothing, either
			run -0 container_run
			[[ $output == *same* ]]
			[[ $(hook_tree "$HOOK_DIR/canary") == "$before" ]]
			run ! grep -F "$HOOK_DIR/canary" /proc/self/mountinfo
		done
	done
}

@test "hook: what the container has is mounted nowhere else, and is nobody's peer" {
	local before

	before=$(cut -d' ' -f4- /proc/self/mountinfo)
	container_create
	[[ $(grep -c "$HOOK_LIBEXEC\|oci-sandbox" "/proc/$PID/mountinfo") -ge 3 ]]
	# the lab's own mounts are shared: a clone of them is a peer, if nothing is done about it
	run ! grep "\($HOOK_LIBEXEC\|oci-sandbox\).*\(shared\|master\):" "/proc/$PID/mountinfo"
	[[ $(cut -d' ' -f4- /proc/self/mountinfo) == "$before" ]]
}

@test "hook: a mount that is shared with the host gets no names" {
	mkdir "$HOOK_DIR/shared"
	config '.linux.rootfsPropagation = "shared" | .mounts += [{destination: "/usr/local/sbin",
		type: "bind", source: ($config + "/../shared"), options: ["rbind", "rshared"]}]'
	stopped "mount on /usr/local/sbin/claude in the container: it is in a mount that is shared with the host"
	run ! grep -F "$HOOK_DIR/shared/claude" /proc/self/mountinfo
}

# ---- images ----

# odd_image WHERE KIND: a folder that the hook needs is something else
odd_image() {
	local path=$HOOK_ROOTFS/$1

	rm -rf "${path:?}"
	case $2 in
	file) printf 'x\n' >"$path" ;;
	fifo) mkfifo "$path" ;;
	dangling) ln -s /nowhere/at/all "$path" ;;
	loop) ln -s "/$1" "$path" ;;
	loops) ln -s "/$1.b" "$path" && ln -s "/$1" "$path.b" ;;
	proc) ln -s /proc/1/root/tmp "$path" ;;
	self) ln -s /proc/self/cwd "$path" ;;
	chain) ln -s "$(printf '../%.0s' {1..300})canary-chain" "$path" ;;
	long) ln -s "$(printf '%0200d/' {1..15})" "$path" ;;
	esac
}

@test "hostile: folders of an image that are no folders stop the container, or do no harm" {
	local where kind before

	for where in usr/libexec run usr/local usr/local/sbin etc usr; do
		for kind in file fifo dangling loop loops proc self chain long; do
			fresh
			odd_image "$where" "$kind"
			before=$(hook_tree "$HOOK_DIR/canary"; ls /; ls -A /run)
			container_does 'cmp /usr/libexec/oci-sandbox/shim "$(command -v claude)" && echo same'
			run container_run
			# it ran with the shim in its place, or it did not start
			[[ $output == same || ! -e $OUT/ran ]]
			[[ $status -eq 0 || ! -e $OUT/ran ]]
			[[ $(hook_tree "$HOOK_DIR/canary"; ls /; ls -A /run) == "$before" ]]
			runtime delete --force "$CID" 2>/dev/null || true
		done
	done
}

@test "hostile: a root that is the host's own is left alone" {
	local before

	before=$(ls -d /usr/libexec/* /run/* /usr/local/*bin/* 2>/dev/null)
	config '.root.path = "/"'
	run ! container_run
	[[ ! -e $OUT/ran ]]
	run -2 "$HOOK" --config "$HOOK_CONFIG" --libexec "$HOOK_LIBEXEC" --check --bundle "$HOOK_BUNDLE"
	[[ $output == *"refused: the container's root / is the host's own"* ]]
	[[ $(ls -d /usr/libexec/* /run/* /usr/local/*bin/* 2>/dev/null) == "$before" ]]
}

@test "hostile: a root path that is a symlink means what the runtime takes it for" {
	ln -s rootfs "$HOOK_BUNDLE/link"
	config '.root.path = "link"'
	container_does 'cmp /usr/libexec/oci-sandbox/shim /usr/local/sbin/claude && echo same'
	run container_run
	[[ $output == same || ! -e $OUT/ran ]]
}

@test "hostile: nothing is made for container root in a folder where he could make nothing" {
	local outside=$HOOK_DIR/outside

	mkdir "$outside"
	rootfs_owner "$HOOK_ROOTFS" 100000 100001
	chown 100000:100000 "$OUT"
	config '.linux.namespaces += [{type: "user"}]
		| .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}]
		| .linux.gidMappings = .linux.uidMappings
		| .mounts |= map(select(.destination != "/sys"))
		| .mounts += [{destination: "/usr/libexec", type: "bind", source: ($config + "/../outside"), options: ["rbind", "rw", "rslave"]}]'
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" "$HOOK_DIR" "$BATS_TEST_TMPDIR/.."
	stopped "whose folder belongs to uid 0 and gid 0, which the container does not have"
	[[ -z $(ls -A "$outside") ]]
	chown 100000:100000 "$outside"
	run -0 container_run
	[[ -e $OUT/ran && -d $outside/oci-sandbox ]]
}

# ---- processes ----

create() {
	"$HOOK" --config "$HOOK_CONFIG" --libexec "$HOOK_LIBEXEC" createRuntime < <(hook_state "$1")
}

@test "hostile: a process that ended is not confined" {
	ended
	run -69 create "$ENDED"
	[[ $output == *"/proc/$ENDED/ns/"* ]]
	kill "$WAITER"
}

@test "hostile: a process that took the number of the container's is not taken for it" {
	local other pid before

	mkfifo "$BATS_TEST_TMPDIR/up"
	unshare --mount --net bash -c 'echo $$ >"$0"; exec sleep 1000' "$BATS_TEST_TMPDIR/up" \
		</dev/null >/dev/null 2>&1 3>&- 4>&- &
	other=$!
	pid=$(<"$BATS_TEST_TMPDIR/up")
	before=$(hook_tree "$HOOK_ROOTFS")
	run -69 create "$pid"
	kill "$other"
	[[ $output == *"the container's root is not mounted"* ]]
	[[ $(hook_tree "$HOOK_ROOTFS") == "$before" ]]
}

# ---- neighbours on the same storage ----

# starts_do_no_harm: whether the container starts or not, the canary is as it was
starts_do_no_harm() {
	local before

	before=$(hook_tree "$HOOK_DIR/canary")
	for _ in {1..12}; do
		run container_run
		[[ $(hook_tree "$HOOK_DIR/canary") == "$before" ]]
		runtime delete --force "$CID" >/dev/null 2>&1 || true
	done
	swapper_stop
	swapper_was_there
	run ! grep -F "$HOOK_DIR/canary" /proc/self/mountinfo
}

@test "hostile: a folder that turns into a symlink while the hook works leads it nowhere outside" {
	local where

	for where in usr/libexec run usr/local usr/local/sbin usr; do
		fresh
		# inside, the symlink ends in a folder as well: both ways are there to be taken
		mkdir -p "$HOOK_ROOTFS$HOOK_DIR/canary"/{bin,sbin,libexec,local/sbin}
		ln -s "../../../../../../../../../../..$HOOK_DIR/canary" "$HOOK_ROOTFS/$where.link"
		swapper_start "$HOOK_ROOTFS/$where" "$HOOK_ROOTFS/$where.link"
		starts_do_no_harm
	done
}

@test "hostile: a symlink that comes where the hook makes a file leads it nowhere outside" {
	local where

	for where in usr/local/sbin/claude usr/libexec/oci-sandbox run/oci-sandbox; do
		fresh
		swapper_start --come-and-go "../../../../../../../../../../..$HOOK_DIR/canary/new" "$HOOK_ROOTFS/$where"
		starts_do_no_harm
	done
}
