#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The hook below a real runtime: OCI_RUNTIME is runc or crun, in the lab (tests/README.md).

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
	bundle_setup
}

teardown() {
	syslog_stop
	bundle_teardown
}

# ---- a container that is ours ----

@test "hook: names, programs, policy and manifest are there" {
	hook_policy 'agents = claude' 'allow-ip = 192.0.2.0/24'
	# shellcheck disable=SC2016 # the container's
	container_does '
		cmp /usr/libexec/oci-sandbox/shim /usr/local/sbin/claude && echo same
		cd /run/oci-sandbox
		find . | sort
		cat policy.conf profiles/claude.conf container
		for ns in user mnt pid net; do
			echo "$ns-ns = $(readlink /proc/self/ns/$ns | tr -dc 0-9)" >>/tmp/own
		done
		head -n 4 container | cmp - /tmp/own && echo ids'
	run -0 container_run
	[[ $output == *same*ids* ]]
	for line in . ./agents ./container ./policy.conf ./profiles ./profiles/claude.conf ./session \
		"agents = claude" "allow-ip = 192.0.2.0/24" "state = .claude" "mount = /out"; do
		grep -qxF -- "$line" <<<"$output"
	done
}

@test "hook: an agent of the image is covered, and reachable for the shim" {
	printf '#!/bin/sh\necho original\n' >"$HOOK_ROOTFS/usr/bin/claude"
	chmod 755 "$HOOK_ROOTFS/usr/bin/claude"
	container_does '
		cmp /usr/libexec/oci-sandbox/shim /usr/bin/claude && echo covered
		/run/oci-sandbox/agents/claude
		grep agent /run/oci-sandbox/container'
	run -0 container_run
	[[ $output == $'covered\noriginal\nagent = claude /run/oci-sandbox/agents/claude /usr/bin/claude' ]]
}

@test "hook: a symlink is covered itself, and what it links to stays" {
	mkdir -p "$HOOK_ROOTFS/usr/lib/claude"
	printf '#!/bin/sh\necho original\n' >"$HOOK_ROOTFS/usr/lib/claude/cli.js"
	chmod 755 "$HOOK_ROOTFS/usr/lib/claude/cli.js"
	ln -s ../../lib/claude/cli.js "$HOOK_ROOTFS/usr/local/bin/claude"
	container_does '
		cmp /usr/libexec/oci-sandbox/shim /usr/local/bin/claude && echo covered
		/usr/lib/claude/cli.js
		grep agent /run/oci-sandbox/container'
	run -0 container_run
	[[ $output == $'covered\noriginal\nagent = claude /usr/lib/claude/cli.js' ]]
	[[ -L $HOOK_ROOTFS/usr/local/bin/claude ]]
}

@test "hook: a container that starts again does not take its old mount points for agents" {
	container_does 'cmp /usr/libexec/oci-sandbox/shim /usr/local/sbin/claude && echo same
		! grep agent /run/oci-sandbox/container'
	run -0 container_run
	[[ $output == same ]]
	[[ -f $HOOK_ROOTFS/usr/local/sbin/claude ]]
	runtime delete --force "$CID" >/dev/null 2>&1 || true
	run -0 container_run
	[[ $output == same ]]
}

@test "hook: a read-only root and prestart do as well" {
	config '.root.readonly = true | .hooks = {prestart: .hooks.createRuntime}
		| .hooks.prestart[0].args[-1] = "prestart"'
	container_does 'cmp /usr/libexec/oci-sandbox/shim /usr/local/sbin/claude && echo same'
	run -0 container_run
	[[ $output == *same* ]]
}

# root_tree: what a change in the root file system would change, but for what runtimes touch
root_tree() {
	(cd "$HOOK_ROOTFS" && find . -printf '%p %y %m %U:%G %s %l\n' | sort)
}

# leaves_no_trace: the container runs, and the read-only root file system is afterwards as it is
# when the same container ran without the hook
leaves_no_trace() {
	local before

	config '.root.readonly = true'
	cp "$HOOK_BUNDLE/config.json" "$HOOK_BUNDLE/with"
	config 'del(.hooks)'
	runtime run --bundle "$HOOK_BUNDLE" "$CID" </dev/null >/dev/null 2>&1 || true # makes its own mount points
	runtime delete --force "$CID" >/dev/null 2>&1 || true
	mv "$HOOK_BUNDLE/with" "$HOOK_BUNDLE/config.json"
	before=$(root_tree)
	run -0 container_run
	echo "$output"
	diff <(echo "$before") <(root_tree)
}

@test "hook: a read-only root stays as it is" {
	rm "$HOOK_ROOTFS/usr/bin/env"
	cp "$HOOK_ROOTFS/bin/busybox" "$HOOK_ROOTFS/usr/local/sbin/busybox"
	chmod 4755 "$HOOK_ROOTFS/usr/local/sbin/busybox"
	chmod 711 "$HOOK_ROOTFS/usr/local/sbin"
	# shellcheck disable=SC2016 # the container's
	container_does '
		cmp /usr/libexec/oci-sandbox/shim /usr/local/sbin/claude && echo same
		/usr/local/sbin/busybox --list | head -n 1
		ls /run/oci-sandbox/container
		stat -c "%a %u" /usr/local/sbin /usr/local/sbin/busybox
		touch /usr/local/sbin/new || rm /usr/local/sbin/busybox || umount /usr/local/sbin ||
			mount -o remount,rw,bind /usr/local/sbin || echo fixed'
	config '.mounts += [{destination: "/run", type: "tmpfs", source: "tmpfs"}]'
	leaves_no_trace
	grep -qx same <<<"$output"
	grep -qx '\[' <<<"$output" # the first applet
	grep -qx /run/oci-sandbox/container <<<"$output"
	grep -qx '711 0' <<<"$output"
	grep -qx '4755 0' <<<"$output"
	grep -qx fixed <<<"$output"
	# again, and again
	runtime delete --force "$CID" >/dev/null 2>&1 || true
	leaves_no_trace
}

@test "hook: a read-only root that lacks /usr/libexec keeps what is mounted in /usr" {
	rmdir "$HOOK_ROOTFS/usr/libexec"
	mkdir "$HOOK_DIR/share" "$HOOK_ROOTFS/usr/share"
	echo shared >"$HOOK_DIR/share/file"
	printf '#!/bin/sh\necho original\n' >"$HOOK_ROOTFS/usr/bin/claude"
	chmod 755 "$HOOK_ROOTFS/usr/bin/claude"
	container_does '
		cmp /usr/libexec/oci-sandbox/shim /usr/local/sbin/claude && echo same
		cmp /usr/libexec/oci-sandbox/shim /usr/bin/claude && echo covered
		/run/oci-sandbox/agents/claude
		cat /usr/share/with\ blank/file
		echo more >>/usr/share/with\ blank/file && echo writable
		stat -f -c %T /usr/share/with\ blank/below'
	config '.mounts += [{destination: "/run", type: "tmpfs", source: "tmpfs"},
		{destination: "/usr/share/with blank", type: "bind", source: ($config + "/../share"), options: ["rbind", "rw"]},
		{destination: "/usr/share/with blank/below", type: "tmpfs", source: "tmpfs"}]'
	leaves_no_trace
	[[ $output == *same*covered*original*shared*writable*tmpfs* ]]
}

@test "hook: a read-only root with odd links makes the hook touch nothing outside" {
	local before
	config '.mounts += [{destination: "/run", type: "tmpfs", source: "tmpfs"}]'
	rm -r "$HOOK_ROOTFS/usr/local/sbin" "$HOOK_ROOTFS/usr/libexec"
	ln -s "../../../../../../../..$HOOK_DIR/canary/bin" "$HOOK_ROOTFS/usr/local/sbin"
	ln -s "$HOOK_DIR/canary" "$HOOK_ROOTFS/usr/libexec"
	before=$(hook_tree "$HOOK_DIR/canary")
	config '.root.readonly = true'
	container_does 'cmp /usr/libexec/oci-sandbox/shim /usr/local/bin/claude && echo same'
	run container_run
	[[ $(hook_tree "$HOOK_DIR/canary") == "$before" ]]
	# with the folders inside the image that these links lead to, it works
	mkdir -p "$HOOK_ROOTFS$HOOK_DIR/canary/bin"
	container_does 'cmp /usr/libexec/oci-sandbox/shim /usr/local/sbin/claude && echo same'
	runtime delete --force "$CID" >/dev/null 2>&1 || true
	leaves_no_trace
	grep -qx same <<<"$output"
	[[ $(hook_tree "$HOOK_DIR/canary") == "$before" ]]
}

@test "hook: with a user namespace, what is made belongs to container root" {
	config '.linux.namespaces += [{type: "user"}]
		| .linux.uidMappings = [{containerID: 0, hostID: 200000, size: 65536}]
		| .linux.gidMappings = .linux.uidMappings'
	chown -Rh 200000:200000 "$HOOK_ROOTFS" "$OUT"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR" "$HOOK_DIR" "$BATS_TEST_TMPDIR/.."
	container_does '
		cmp /usr/libexec/oci-sandbox/shim /usr/local/sbin/claude && echo same
		stat -c "%u:%g" /run/oci-sandbox /run/oci-sandbox/container /run/oci-sandbox/session'
	run -0 container_run
	[[ $output == $'same\n0:0\n0:0\n0:0' ]]
	[[ $(stat -c %u:%g "$HOOK_ROOTFS/usr/local/sbin/claude" "$HOOK_ROOTFS/run/oci-sandbox") == \
		$'200000:200000\n200000:200000' ]]
}

@test "hook: the rules are in the container's network namespace, and only there" {
	container_create
	run -0 nsenter -t "$PID" -n nft list ruleset
	[[ $output == *"table inet oci_sandbox"* && $output == *admin-prohibited* ]]
	run -0 nft list ruleset
	[[ $output != *oci_sandbox* ]]
}

@test "hook: resolvers come from the engine's resolv.conf, never from the image's" {
	printf 'nameserver 10.9.8.7\n' >"$HOOK_ROOTFS/etc/resolv.conf"
	container_create
	run -0 nsenter -t "$PID" -n nft list ruleset
	[[ $output == *"table inet oci_sandbox"* && $output != *10.9.8.7* ]]
	runtime delete --force "$CID"

	fresh
	printf 'nameserver 10.9.8.7\n' >"$HOOK_DIR/resolv.conf"
	config '.mounts += [{destination: "/etc/resolv.conf", type: "bind", options: ["rbind"],
		source: ($config + "/../resolv.conf")}]'
	container_create
	run -0 nsenter -t "$PID" -n nft list ruleset
	[[ $output == *10.9.8.7* ]]
}

@test "hook: an engine's resolv.conf that another mount hides is not taken for the engine's" {
	mkdir "$HOOK_DIR/hiding"
	printf 'nameserver 10.9.8.7\n' | tee "$HOOK_DIR/resolv.conf" >"$HOOK_DIR/hiding/resolv.conf"
	config '.mounts += [
		{destination: "/etc/resolv.conf", type: "bind", options: ["rbind"], source: ($config + "/../resolv.conf")},
		{destination: "/etc", type: "bind", options: ["rbind"], source: ($config + "/../hiding")}]'
	stopped "the container's /etc/resolv.conf is not the engine's"
}

@test "hook: in a user namespace a sticky folder of the host is not trusted" {
	local dir=$LAB/sticky

	mkdir "$dir"
	cp -r "$HOOK_CONFIG" "$dir/config"
	cp -r "$HOOK_LIBEXEC" "$dir/libexec"
	cp -r "$HOOK_BUNDLE" "$dir/bundle"
	cp "$HOOK" "$dir/"
	chown -R 60097:60097 "$dir/bundle"
	as_rootless() {
		setpriv --reuid 60097 --regid 60097 --clear-groups unshare --user --map-root-user \
			"$dir/oci-sandbox-hook" --config "$dir/config" --libexec "$dir/libexec" \
			--check --bundle "$dir/bundle"
	}
	run -0 as_rootless
	[[ $output == *"shim as new /usr/local/sbin/claude"* ]]
	chmod 1777 "$dir/config"
	run -2 as_rootless
	[[ $output == "refused: policy: "*"$dir/config can be written by others"* ]]
	# while root sees whose a file in it is
	run -0 "$HOOK" --config "$dir/config" --libexec "$dir/libexec" --check --bundle "$HOOK_BUNDLE"
	chown 60097 "$dir/config/policy.conf"
	run -2 "$HOOK" --config "$dir/config" --libexec "$dir/libexec" --check --bundle "$HOOK_BUNDLE"
	[[ $output == *"policy.conf belongs to uid 60097"* ]]
}

# ---- invariant 4 ----

# Whatever a program of that name is run for, it leaves a sign.
@test "hook: it runs nothing and reads no variable of the container's" {
	local name trap=$BATS_TEST_TMPDIR/trap

	printf '#!/bin/sh\n: >%s\n' "$BATS_TEST_TMPDIR/sprung" >"$trap"
	chmod 755 "$trap"
	for name in sh bash nft ip modprobe mount iptables systemctl logger podman newuidmap cat; do
		cp "$trap" "$HOOK_ROOTFS/usr/bin/$name"
	done
	mkdir -p "$HOOK_ROOTFS/etc/oci-sandbox" "$HOOK_ROOTFS/lib"
	echo broken | tee "$HOOK_ROOTFS/etc/oci-sandbox/policy.conf" "$HOOK_ROOTFS/etc/nsswitch.conf" \
		"$HOOK_ROOTFS/etc/containers.conf" >"$HOOK_ROOTFS/etc/localtime"
	config '.hooks.createRuntime[0].env = ["PATH=" + $config + "/../bundle/rootfs/usr/bin", "HOME=" + $config + "/../bundle/rootfs",
		"XDG_CONFIG_HOME=" + $config + "/../bundle/rootfs/etc", "CONTAINERS_CONF=" + $config + "/../bundle/rootfs/etc/containers.conf",
		"TMPDIR=/nowhere", "LANG=../../x", "TZ=" + $config + "/../bundle/rootfs/etc/localtime", "OCI_SANDBOX=0",
		"OCI_SANDBOX_CONFIG=/nowhere", "OCI_SANDBOX_EGRESS=open", "NETLINK_DEBUG=debug", "MALLOC_CHECK_=3"]'
	container_does 'cmp /usr/libexec/oci-sandbox/shim /usr/local/sbin/claude && echo same'
	run -0 container_run
	[[ $output == same ]]
	[[ ! -e $BATS_TEST_TMPDIR/sprung ]]
	"$HOOK_ROOTFS/usr/bin/nft"
	[[ -e $BATS_TEST_TMPDIR/sprung ]] # the traps work
}

# ---- invariant 9 ----

# An unmasked procfs would let anything in the container write core_pattern.
@test "hook: where container root is the host's, there is one procfs, and no other can be had" {
	config '.linux.maskedPaths = ["/proc/kcore", "/proc/keys"] | .linux.readonlyPaths = ["/proc/sys"]'
	# shellcheck disable=SC2016 # the container's
	container_does '
		awk "\$0 ~ / - proc / { print \$4, \$5 }" /proc/self/mountinfo | grep -v "^/[^ ]* /proc/"
		unshare -U -r -m -p -f sh -c "mount -t proc proc /mnt" && echo "FAULT: a procfs of its own"'
	mkdir -p "$HOOK_ROOTFS/mnt"
	run container_run
	[[ $output == "/ /proc"$'\n'* && $output != *FAULT* && $output == *"mount: "* ]]
	[[ $(grep -c '^/ ' <<<"$output") -eq 1 ]]
}

# ---- invariant 7 ----

@test "hook: container root can't unmount, replace or write what the hook injected" {
	printf '#!/bin/sh\n' >"$HOOK_ROOTFS/usr/bin/claude"
	chmod 755 "$HOOK_ROOTFS/usr/bin/claude"
	# shellcheck disable=SC2016 # the container's
	container_does '
		set -- /usr/libexec/oci-sandbox /usr/libexec/oci-sandbox/shim /run/oci-sandbox \
			/run/oci-sandbox/policy.conf /run/oci-sandbox/container /run/oci-sandbox/session \
			/run/oci-sandbox/profiles/claude.conf /run/oci-sandbox/agents/claude \
			/usr/local/sbin/claude /usr/bin/claude
		: >/tmp/own && mv /tmp/own /tmp/moved && rm /tmp/moved && echo "can elsewhere"
		for path; do
			umount "$path" && echo "FAULT: umount $path"
			umount -l "$path" && echo "FAULT: umount -l $path"
			mount -o remount,rw,bind "$path" && echo "FAULT: remount $path"
			mv "$path" "$path.moved" && echo "FAULT: mv $path"
			rm -rf "$path" && echo "FAULT: rm $path"
			chmod 777 "$path" && echo "FAULT: chmod $path"
			chown 1000 "$path" && echo "FAULT: chown $path"
			if [ -d "$path" ]; then
				touch "$path/new" && echo "FAULT: write $path"
			else
				echo x >>"$path" && echo "FAULT: write $path"
				ln -f /bin/busybox "$path" && echo "FAULT: ln $path"
			fi
			[ -e "$path" ] || echo "FAULT: $path is gone"
		done 2>/dev/null
		cmp /usr/libexec/oci-sandbox/shim /usr/local/sbin/claude && echo same
		cmp /usr/libexec/oci-sandbox/shim /usr/bin/claude && echo same'
	run -0 container_run
	[[ $output == $'can elsewhere\nsame\nsame' ]]
}

# ---- poststart ----

@test "hook: poststart of a process that has ended has nothing to do" {
	local pid

	ended
	for pid in "$ENDED" 4194304; do
		run -0 "$HOOK" --config "$HOOK_CONFIG" --libexec "$HOOK_LIBEXEC" poststart < <(hook_state "$pid")
		[[ $output == "" ]]
	done
	kill "$WAITER"
	# while one that runs without rules is no container of ours
	run -71 "$HOOK" --config "$HOOK_CONFIG" --libexec "$HOOK_LIBEXEC" poststart < <(hook_state $$)
	[[ $output == *"not called at createRuntime"* ]]
	run -71 "$HOOK" --config "$HOOK_CONFIG" --libexec "$HOOK_LIBEXEC" poststart < <(hook_state 0)
	[[ $output == *"the runtime gave none"* ]]
}

# ---- invariant 6 ----

# traces: what a start of the container leaves, and what it has
traces() {
	container_create
	mounts
	nsenter -t "$PID" -n nft list ruleset
	nsenter -t "$PID" -n ip -o addr | sed 's/valid_lft.*//'
	runtime delete --force "$CID"
	(cd "$HOOK_ROOTFS" && find . -printf '%p %y %m %U:%G %s %l\n' | sort)
}

@test "hook: a container that is not ours is what it would have been without" {
	local with without

	config '.process.env -= ["OCI_SANDBOX=1"]'
	with=$(traces)
	fresh
	config '.process.env -= ["OCI_SANDBOX=1"] | del(.hooks)'
	without=$(traces)
	[[ $with == "$without" && $with == */out* ]]

	# and the comparison sees what the hook does
	fresh
	with=$(traces)
	[[ $with != "$without" ]]
}

# ---- invariant 1 ----

@test "hook: the container runs when nothing fails" {
	run -0 container_run
	[[ -e $OUT/ran ]]
}

@test "hook: each failure stops the container before its process runs" {
	local cause want count=0

	while IFS='~' read -r cause want; do
		rm -rf "$HOOK_DIR"
		hook_setup "$HOOK_DIR"
		fresh
		eval "$cause"
		count=$((count + 1))
		stopped "$want" || {
			echo "$cause: $output"
			return 1
		}
	done <<-'END'
		mv "$HOOK_LIBEXEC/shim" "$HOOK_LIBEXEC/x"~shim: No such file
		chmod o+w "$HOOK_LIBEXEC/shim"~can be written by others
		chown 1234 "$HOOK_LIBEXEC/shim"~belongs to uid 1234
		chmod o+w "$HOOK_LIBEXEC"~can be written by others
		hook_policy 'broken'~unknown key
		hook_policy 'memory-max = 4G'~not supported yet
		chmod g+w "$HOOK_CONFIG/policy.conf"~can be written by others
		chown 1234 "$HOOK_CONFIG/policy.conf"~belongs to uid 1234
		chmod g+w "$HOOK_CONFIG"~can be written by others
		rm "$HOOK_CONFIG/policy.conf"~there is no
		rm "$HOOK_CONFIG/agents/claude.conf"~No such file
		hook_profile claude 'nonsense'~unknown key
		hook_profile claude 'commands = claude'~`state` is missing
		config '.annotations = {"io.oci-sandbox.policy": "x"}'~policies/x.conf: No such file
		config '.annotations = {"io.oci-sandbox.enable": "1"}'~neither true nor false
		config '.linux.namespaces |= map(select(.type != "network"))'~host's network
		config '.process.env += ["PATH=/bin"]'~PATH twice
		config '.process.env = ["OCI_SANDBOX=1", "PATH=/home/dev"]'~no folder of the container's PATH
		mkdir "$HOOK_ROOTFS/usr/bin/claude"~neither a file nor a symlink
		rmdir "$HOOK_ROOTFS/usr/libexec"; ln -s /nowhere "$HOOK_ROOTFS/usr/libexec"~usr/libexec
		rmdir "$HOOK_ROOTFS/usr/libexec"; ln -s libexec "$HOOK_ROOTFS/usr/libexec"~symbolic links
		rmdir "$HOOK_ROOTFS/usr/libexec"; : >"$HOOK_ROOTFS/usr/libexec"~Not a directory
		ln -s / "$HOOK_ROOTFS/run/oci-sandbox"~Not a directory
		ln -s /usr/bin "$HOOK_ROOTFS/usr/libexec/oci-sandbox"~Not a directory
		config '.hooks.createRuntime[0] |= (.path = "/usr/bin/setpriv" | .args = ["setpriv", "--bounding-set", "-net_admin", $hook] + .args[1:])'~Operation not permitted
		config '.hooks.createRuntime += .hooks.createRuntime'~is the hook registered twice?
		mkdir "$HOOK_ROOTFS/usr/libexec/oci-sandbox"; ln -s usr/libexec/oci-sandbox "$HOOK_ROOTFS/x"; config '.process.env = ["OCI_SANDBOX=1", "PATH=/x"]'~read back /x/claude
		config '.hooks.createRuntime[0].args[-1] = "poststart"'~the hook was not called at createRuntime
		config '.hooks.createRuntime[0].args[-1] = "poststop"'~usage:
	END
	((count == 29))
}

# syslog_start: a system log in $BATS_TEST_TMPDIR/syslog, on a /dev of the lab's own
syslog_start() {
	local deadline=$((SECONDS + 10)) layer=$BATS_TEST_TMPDIR/dev

	mkdir -p "$layer"/{upper,work}
	mount -t overlay -o "lowerdir=/dev,upperdir=$layer/upper,workdir=$layer/work" overlay /dev
	"$(rootfs_busybox)" syslogd -n -O "$BATS_TEST_TMPDIR/syslog" </dev/null >/dev/null 2>&1 3>&- 4>&- &
	SYSLOGD=$!
	until [[ -S /dev/log ]]; do
		((SECONDS < deadline))
	done
}

syslog_stop() {
	[[ -n ${SYSLOGD:-} ]] || return 0
	kill "$SYSLOGD"
	wait "$SYSLOGD" || true
	umount --lazy /dev
}

@test "hook: what failed is in the system log, also from inside the container's namespaces" {
	local deadline=$((SECONDS + 20))

	rmdir "$HOOK_ROOTFS/usr/libexec"
	ln -s /nowhere "$HOOK_ROOTFS/usr/libexec"
	syslog_start
	run ! container_run
	until grep -qs "daemon.err oci-sandbox-hook\[[0-9]*\]: mount on /usr/libexec/oci-sandbox in the container: " \
		"$BATS_TEST_TMPDIR/syslog"; do
		((SECONDS < deadline))
	done
}
