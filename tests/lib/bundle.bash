# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Containers below a runtime alone: OCI_RUNTIME is runc or crun, in the lab (tests/README.md).

# shellcheck source=tests/lib/hook.bash
. "$SRCDIR/tests/lib/hook.bash"

# bundle_setup_file: a root file system that each test's bundle is a copy of
bundle_setup_file() {
	rootfs_make "$BATS_FILE_TMPDIR/rootfs"
	mkdir "$BATS_FILE_TMPDIR/rootfs/out"
}

# bundle_setup: a bundle that asks to be confined, HOOK_BUNDLE, whose process leaves a sign in OUT
# when it runs. CID is the container's name, HOOK_DIR the host's files.
bundle_setup() {
	[[ $EUID == 0 && -n ${LAB:-} ]] || skip "needs the lab: tests/lib/lab"
	: "${OCI_RUNTIME:=runc}"
	CID=hook-$BATS_TEST_NUMBER-$$
	OUT=$BATS_TEST_TMPDIR/out
	hook_setup "$BATS_TEST_TMPDIR/host"
	fresh
}

bundle_teardown() {
	[[ -z ${CID:-} ]] || runtime delete --force "$CID" >/dev/null 2>&1 || true
}

# fresh: the bundle as it was, with the hook, and a process that leaves a sign that it ran
fresh() {
	rm -rf "$HOOK_BUNDLE" "$OUT"
	mkdir "$HOOK_BUNDLE" "$OUT"
	cp -a "$BATS_FILE_TMPDIR/rootfs" "$HOOK_ROOTFS"
	(cd "$HOOK_BUNDLE" && runc spec)
	# the capabilities that podman gives
	config '.process.terminal = false | .root.readonly = false | .linux.resources = {}
		| .linux.cgroupsPath = "/\($group)/\($cid)"
		| .process.env = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "OCI_SANDBOX=1"]
		| ("CHOWN DAC_OVERRIDE FOWNER FSETID KILL MKNOD NET_BIND_SERVICE NET_RAW SETFCAP SETGID SETPCAP SETUID SYS_CHROOT"
			| split(" ") | map("CAP_" + .)) as $caps
		| .process.capabilities = {bounding: $caps, effective: $caps, permitted: $caps}
		| .mounts |= map(select(.type != "cgroup"))
		| .mounts += [{destination: "/out", type: "bind", source: $out, options: ["rbind", "rw"]}]
		| .hooks.createRuntime = [{path: $hook, env: ["PATH=/bin"], timeout: 30, args:
			["hook", "--config", $config, "--libexec", $libexec, "createRuntime"]}]'
	container_does ':'
}

# config FILTER: change config.json with a filter of jq
config() {
	jq --arg hook "$HOOK" --arg config "$HOOK_CONFIG" --arg libexec "$HOOK_LIBEXEC" \
		--arg out "$OUT" --arg cid "$CID" --arg group "$LAB_CGROUP" \
		"$1" "$HOOK_BUNDLE/config.json" >"$HOOK_BUNDLE/new"
	mv "$HOOK_BUNDLE/new" "$HOOK_BUNDLE/config.json"
}

# container_does SCRIPT: what the container runs, after a sign that it runs
container_does() {
	printf ': >/out/ran\n%s\n' "$1" >"$HOOK_ROOTFS/script"
	config '.process.args = ["/bin/sh", "/script"]'
}

runtime() {
	local options=(--root "$BATS_TEST_TMPDIR/state")

	[[ $OCI_RUNTIME != crun ]] || options+=(--cgroup-manager=disabled)
	"$OCI_RUNTIME" "${options[@]}" "$@"
}

container_run() {
	runtime run --bundle "$HOOK_BUNDLE" "$CID" </dev/null
}

# container_create: up to where the process would start; PID is it
container_create() {
	runtime create --bundle "$HOOK_BUNDLE" --pid-file "$BATS_TEST_TMPDIR/pid" "$CID" \
		>/dev/null 2>"$BATS_TEST_TMPDIR/stderr" </dev/null 3>&- 4>&-
	PID=$(<"$BATS_TEST_TMPDIR/pid")
}

# mounts: what is mounted in the container, without what differs from start to start
mounts() {
	awk '{ $1 = $2 = $3 = ""; gsub(/(master|shared|propagate_from):[0-9]+/, "&"); print }' \
		"/proc/$PID/mountinfo" | sed -E 's/(master|shared):[0-9]+/\1/'
}

# stopped MESSAGE: the container does not start, and its process never ran. crun hides what a
# hook prints, so the message is the hook's own, called as the runtime calls it.
stopped() {
	run ! container_run
	[[ ! -e $OUT/ran ]]
	[[ $OCI_RUNTIME != runc || $output == *"$1"* ]]
}

# ended: ENDED is a process that is over, and that nobody waits for: its parent is sleep by then
ended() {
	local deadline=$((SECONDS + 5)) fifo=$BATS_TEST_TMPDIR/fifo

	mkfifo "$fifo"
	bash -c 'read -r <"$0" & echo $! >"$0.pid"; exec sleep 1000' "$fifo" </dev/null >/dev/null 2>&1 3>&- 4>&- &
	WAITER=$!
	until [[ $(<"/proc/$WAITER/comm") == sleep ]]; do
		((SECONDS < deadline))
	done
	echo go >"$fifo"
	ENDED=$(<"$fifo.pid")
	until grep -q '^State:.Z' "/proc/$ENDED/status"; do
		((SECONDS < deadline))
	done
}
