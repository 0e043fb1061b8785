# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# podman in the lab (tests/lib/lab): the same calls for rootful and rootless.

# engine_podman ARG...: podman, as the user that ENGINE runs it as. What takes minutes hangs, unless
# ENGINE_SECONDS says that more are needed.
engine_podman() {
	engine_as_user timeout --foreground --kill-after=5 "${ENGINE_SECONDS:-120}" podman "$@"
}

# engine_as_user COMMAND ARG...: as the lab's user where ENGINE is rootless, else as it is
engine_as_user() {
	if [[ $ENGINE != rootless ]]; then
		"$@"
		return
	fi
	(
		cd "$LAB/home" || exit 1
		exec setpriv --reuid "$LAB_UID" --regid "$LAB_UID" --clear-groups env -i \
			"PATH=$PATH" "HOME=$LAB/home" "USER=$LAB_USER" "XDG_RUNTIME_DIR=/run/user/$LAB_UID" \
			"CONTAINERS_CONF=$CONTAINERS_CONF" "CONTAINERS_STORAGE_CONF=$CONTAINERS_STORAGE_CONF" \
			"PODMAN_IGNORE_CGROUPSV1_WARNING=$PODMAN_IGNORE_CGROUPSV1_WARNING" \
			"TMPDIR=$LAB/tmp" "$@"
	)
}

# engine_options: what "podman run" and "podman create" need beside the test's own options
engine_options() {
	case $ENGINE in
	rootless) printf '%s\n' --network=slirp4netns ;;
	podman-runc) printf '%s\n' "--cgroup-parent=/$LAB_CGROUP" ;;
	esac
}
