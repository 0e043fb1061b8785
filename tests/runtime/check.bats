#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --check of a host: what the kernel can do is tried, and what it refuses is seen.

bats_require_minimum_version 1.5.0

setup() {
	[[ $EUID == 0 && -n ${LAB:-} ]] || skip "needs the lab: tests/lib/lab"
	: "${SRCDIR:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"
	export SRCDIR BUILDDIR=${BUILDDIR:-$SRCDIR/build}
	# shellcheck source=tests/lib/hook.bash
	. "$SRCDIR/tests/lib/hook.bash"
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
	hook_setup "$BATS_TEST_TMPDIR/host"
	PROGRAM=$BATS_TEST_TMPDIR/oci-sandbox-hook
	install -m 755 "$HOOK" "$PROGRAM"
	CHECK=("$PROGRAM" --config "$HOOK_CONFIG" --libexec "$HOOK_LIBEXEC"
		--hooks-dir "$BATS_TEST_TMPDIR/hooks.d" --check)
	"$PROGRAM" --register podman --hooks-dir "$BATS_TEST_TMPDIR/hooks.d" >/dev/null
}

# kernel REGEX...: for each there is a line that starts so
kernel() {
	local line

	for line in "$@"; do
		grep "^$line" <<<"$output" || {
			echo "no $line: $output"
			return 1
		}
	done
}

@test "check: this kernel has all that is needed, and the status is 0" {
	run -0 "${CHECK[@]}"
	kernel 'ok       openat2: ' 'ok       mounts: ' 'ok       namespaces: ' 'ok       nf_tables: ' 'ok       veth: ' \
		'ok       user namespaces: '
	[[ $output != *"subordinate ids"* ]]
}

@test "check: leaves no mount, rule or process behind" {
	local before

	before=$(cat /proc/self/mountinfo && nft list ruleset)
	run -0 "${CHECK[@]}"
	[[ $(cat /proc/self/mountinfo && nft list ruleset) == "$before" ]]
	run ! pgrep -f -- "$PROGRAM"
}

@test "check: an ordinary user is told what rootless needs" {
	run -1 setpriv --reuid 60097 --regid 60097 --clear-groups "${CHECK[@]}"
	kernel 'ok       openat2: ' 'ok       mounts: ' 'ok       namespaces: ' 'ok       nf_tables: ' 'ok       veth: ' \
		'ok       user namespaces: ' \
		'warning  subordinate ids: /etc/subuid has no line for 60097; .*usermod --add-subuids'
	printf '60097:1000000:65536\n' >"$BATS_TEST_TMPDIR/subid"
	# shellcheck disable=SC2016 # for the inner shell
	run -0 unshare --mount bash -c 'mount --bind "$0" /etc/subuid && mount --bind "$0" /etc/subgid &&
		exec setpriv --reuid 60097 --regid 60097 --clear-groups "$@"' \
		"$BATS_TEST_TMPDIR/subid" "${CHECK[@]}"
	kernel 'ok       subordinate ids: '
}

@test "check: refused network rules are a problem" {
	run -2 setpriv --bounding-set -net_admin "${CHECK[@]}"
	kernel 'problem  nf_tables: .*Operation not permitted.*; modprobe -a nf_tables' 'ok       mounts: '
}

@test "check: refused mounts and namespaces are a problem" {
	run -2 setpriv --bounding-set -sys_admin "${CHECK[@]}"
	kernel 'problem  mounts: new namespaces: Operation not permitted; ' \
		'problem  namespaces: new mount and network namespaces are refused; ' \
		'problem  nf_tables: new namespaces: Operation not permitted; ' 'ok       openat2: '
}

@test "check: refused user namespaces are a problem" {
	# shellcheck disable=SC2016 # for the inner shell
	run -2 setpriv --reuid 60097 --regid 60097 --clear-groups unshare --user --map-root-user bash -c '
		echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' - "${CHECK[@]}"
	kernel 'problem  user namespaces: new user, mount.* namespaces: No space left on device; user.max_user_namespaces is 0: sysctl user.max_user_namespaces=15000'
}

@test "check: each switch that refuses user namespaces is named, and opened no further than needed" {
	local root=$BATS_TEST_TMPDIR/root
	# A process in a chroot gets EPERM, as with these switches; the files are stand-ins.
	# shellcheck disable=SC2016 # for the inner shell
	local script='
		mkdir "$0" && mount --rbind / "$0" && mount -t tmpfs tmpfs "$0/proc/sys" &&
			mkdir "$0/proc/sys/kernel" "$0/proc/sys/user" && echo "$2" >"$0/proc/sys/$1" || exit 99
		shift 2
		exec chroot "$0" "$@"'

	run -2 unshare --mount bash -c "$script" "$root" kernel/none 0 "${CHECK[@]}"
	kernel 'problem  user namespaces: .*: Operation not permitted; a seccomp filter, .* or a chroot forbids it'
	rmdir "$root"
	run -2 unshare --mount bash -c "$script" "$root" kernel/unprivileged_userns_clone 0 "${CHECK[@]}"
	kernel 'problem  user namespaces: .*; kernel.unprivileged_userns_clone is 0: sysctl '
	rmdir "$root"
	run -2 unshare --mount bash -c "$script" "$root" kernel/apparmor_restrict_unprivileged_userns 1 "${CHECK[@]}"
	kernel "problem  user namespaces: .*; AppArmor keeps them .*profile oci-sandbox /{${PROGRAM#/},${HOOK_LIBEXEC#/}/shim} flags=(unconfined) { userns, }"
	[[ $output != *apparmor_restrict_unprivileged_userns=0* ]]
}
