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
	# where podman looks if no CONTAINERS_CONF says otherwise
	mkdir -p /etc/containers
	cp "$CONTAINERS_CONF" /etc/containers/containers.conf
}

teardown_file() {
	umount --lazy /usr /etc
}

setup() {
	container_prepare
}

teardown() {
	container_remove
	# what a failed test left registered
	/usr/sbin/oci-sandbox-hook --unregister podman >/dev/null
	plainly /usr/sbin/oci-sandbox-hook --unregister podman >/dev/null
}

# plainly COMMAND...: as the engine's user, whose podman reads the configuration that anyone's reads
plainly() {
	engine_as_user env -u CONTAINERS_CONF "$@"
}

# register, podman_run: as root; or as the user, with a hooks folder that podman is told of on its
# command line
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

# container_is WORD: a container that asks to be confined is "confined" or "plain"
container_is() {
	run -0 --separate-stderr plainly timeout --foreground --kill-after=5 120 podman run --rm \
		--annotation io.oci-sandbox.enable=true "${OPTIONS[@]}" --rootfs "$ROOTFS" \
		sh -c 'if test -e /run/oci-sandbox/container; then echo confined; else echo plain; fi'
	is "$1"
}

# trial_says LEVEL: --check --run does, of the podman that anyone calls. With runc that one makes
# control groups outside of the lab's.
trial_says() {
	[[ $ENGINE != podman-runc ]] || return 0
	run plainly env "TMPDIR=$LAB/tmp" /usr/sbin/oci-sandbox-hook --check --run
	grep -E "^$1 +trial container: " <<<"$output" || {
		echo "$output"
		return 1
	}
}

@test "installed: --register is all that podman has to be told, and --check agrees" {
	container_is plain
	run plainly /usr/sbin/oci-sandbox-hook --check
	[[ $status == 1 ]]
	has "warning  podman: " "$output"
	trial_says problem

	run -0 plainly /usr/sbin/oci-sandbox-hook --register podman
	container_is confined
	run -0 plainly /usr/sbin/oci-sandbox-hook --check
	has "ok       podman: it calls this program for each container" "$output"
	run ! grep -v '^ok ' <<<"$output"
	trial_says ok

	run -0 plainly /usr/sbin/oci-sandbox-hook --unregister podman
	container_is plain
}

@test "installed: what root registers is for the podman of users, too" {
	run -0 /usr/sbin/oci-sandbox-hook --register podman
	container_is confined
	run -0 plainly /usr/sbin/oci-sandbox-hook --check
	has "ok       podman: it calls this program for each container" "$output"

	if [[ $ENGINE == rootless ]]; then
		# a user's own folder does not take the place of root's
		run -0 plainly /usr/sbin/oci-sandbox-hook --register podman
		container_is confined
		run -0 plainly /usr/sbin/oci-sandbox-hook --unregister podman
		container_is confined
	fi
	run -0 /usr/sbin/oci-sandbox-hook --unregister podman
	container_is plain
}

@test "installed: a program that is gone is seen by --check, for podman goes on without" {
	cp /usr/sbin/oci-sandbox-hook /usr/sbin/oci-sandbox-hook.other
	run -0 plainly /usr/sbin/oci-sandbox-hook.other --register podman
	rm /usr/sbin/oci-sandbox-hook.other
	container_is plain
	run -2 plainly /usr/sbin/oci-sandbox-hook --check
	has "calls /usr/sbin/oci-sandbox-hook.other, and podman goes on without: No such file" "$output"
	run -0 plainly /usr/sbin/oci-sandbox-hook --unregister podman
}
