#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine
#
# oci-sandbox as "make install" leaves it: in /usr and /etc, registered by its own command, and
# podman called as anyone calls it.

load ../lib/confined

# The lab's own layers over the machine's /usr and /etc
setup_file() {
	local dir

	lab_prepare
	for dir in usr etc; do
		mkdir -p "$LAB/layer/$dir"/{upper,work}
		mount -t overlay -o "lowerdir=/$dir,upperdir=$LAB/layer/$dir/upper,workdir=$LAB/layer/$dir/work" \
			overlay "/$dir"
		cp -r --preserve=mode "$IMAGE/$dir/." "/$dir/"
	done
	[[ $ENGINE != rootless ]] || cp "$LAB/etc"/* /etc/
}

teardown_file() {
	umount --lazy /usr /etc
}

setup() {
	container_prepare
}

teardown() {
	container_remove
}

# register, podman_run: as root, or as the user with a hooks folder of its own, since rootless
# podman reads none by default
register() {
	if [[ $ENGINE == rootless ]]; then
		engine_as_user /usr/sbin/oci-sandbox-hook "$1" podman --hooks-dir "$LAB/home/hooks.d"
	else
		/usr/sbin/oci-sandbox-hook "$1" podman
	fi
}

podman_run() {
	local global=()

	[[ $ENGINE != rootless ]] || global=(--hooks-dir "$LAB/home/hooks.d")
	engine_podman "${global[@]}" run --rm --annotation io.oci-sandbox.enable=true \
		"${OPTIONS[@]}" --rootfs "$ROOTFS" "$@"
}

@test "installed: once registered, podman calls the hook, and no more when unregistered" {
	run -0 register --register
	has hooks.d "$output"
	run -0 --separate-stderr podman_run claude 'cat ~/.ssh/id_ed25519 2>/dev/null; echo ran'
	is ran
	run -0 register --register # twice is as good as once
	run -0 --separate-stderr podman_run claude 'cat ~/.ssh/id_ed25519 2>/dev/null; echo ran'
	is ran
	run -0 register --unregister
	run -0 --separate-stderr podman_run claude 'cat ~/.ssh/id_ed25519; echo ran'
	is $'STAND-IN key\nran'
}

@test "installed: --check finds nothing that this machine lacks" {
	run engine_as_user /usr/sbin/oci-sandbox-hook --check
	[[ $status -le 1 ]] || { # 1: warnings
		echo "$output"
		return 1
	}
	has ok "$output"
}
