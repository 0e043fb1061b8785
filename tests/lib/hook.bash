# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The hook, with a configuration and programs of the test's own, and bundles for it.

HOOK=$BUILDDIR/oci-sandbox-hook
# shellcheck source=tests/lib/rootfs.bash
. "$SRCDIR/tests/lib/rootfs.bash"

# hook_setup DIR: configuration, programs and a canary that nothing may touch, below DIR, which
# belongs to who runs the test. busybox stands in for shim and cli, which never run here.
hook_setup() {
	HOOK_DIR=$1
	HOOK_CONFIG=$HOOK_DIR/etc
	HOOK_LIBEXEC=$HOOK_DIR/libexec
	HOOK_BUNDLE=$HOOK_DIR/bundle
	HOOK_ROOTFS=$HOOK_BUNDLE/rootfs
	mkdir -p "$HOOK_CONFIG/agents" "$HOOK_LIBEXEC" "$HOOK_ROOTFS" "$HOOK_DIR/canary/bin"
	chmod -R go-w "$HOOK_DIR"
	hook_profile claude 'commands = claude' 'state = .claude'
	hook_policy 'agents = claude'
	cp "$(rootfs_busybox)" "$HOOK_LIBEXEC/shim"
	cp "$(rootfs_busybox)" "$HOOK_LIBEXEC/cli"
	chmod 755 "$HOOK_LIBEXEC/shim" "$HOOK_LIBEXEC/cli"
	printf 'canary\n' >"$HOOK_DIR/canary/file"
}

# hook_policy LINE...: the policy
hook_policy() {
	printf '%s\n' "$@" >"$HOOK_CONFIG/policy.conf"
	chmod 644 "$HOOK_CONFIG/policy.conf"
}

# hook_profile NAME LINE...: a profile
hook_profile() {
	printf '%s\n' "${@:2}" >"$HOOK_CONFIG/agents/$1.conf"
	chmod 644 "$HOOK_CONFIG/agents/$1.conf"
}

# hook_state PID [BUNDLE]: the state that a runtime would give
hook_state() {
	printf '{"ociVersion": "1.0.2", "id": "t", "status": "creating", "pid": %s, "bundle": "%s"}' \
		"$1" "${2:-$HOOK_BUNDLE}"
}

# hook_tree DIR: all that a change in DIR would change
hook_tree() {
	(cd "$1" && find . -printf '%p %y %m %U:%G %s %l %T@\n' | sort)
}
