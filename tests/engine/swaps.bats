#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim,once
#
# Folders that turn into symlinks and back without a pause, while agents are launched: a launch works
# or is refused, and the symlink leads it nowhere.

load ../lib/confined
load ../lib/swapper

setup_file() {
	lab_prepare
}

setup() {
	container_prepare
	mkdir -p "$ROOTFS/opt/canary/deep" # the symlink ends in a folder, so both ways are there
	touch "$ROOTFS/opt/canary"/{,deep/}canary
	container_owner 0 "$ROOTFS/opt/canary"
}

teardown() {
	swapper_stop
	container_remove
}

# swaps FOLDER: with a symlink to the canary, until swapper_stop
swaps() {
	mkdir -p "$1"
	ln -s /opt/canary "$1.link"
	container_owner 0 "$1"
	swapper_start "$1" "$1.link"
}

# launches_do_no_harm SCRIPT [FOLDER]: 25 launches, started in FOLDER, that run SCRIPT, which writes
# where the symlink could lead
launches_do_no_harm() {
	local status

	# where the folder is the one that is meant, and not the symlink's
	run -0 --separate-stderr confined sh -c "until cd '${2:-/workspace}' && [ ! -e canary ]; do :; done
		for i in \$(seq 25); do claude '$1'; echo \$?; done"
	swapper_stop
	swapper_was_there
	for status in $output; do
		[[ $status == @(0|125) ]]
	done
	has 0 "$output"
	run find "$ROOTFS/opt/canary" -type f ! -name canary
	is ''
}

@test "swaps: a folder above the workspace" {
	mkdir -p "$WORKSPACE/sub/deep"
	swaps "$WORKSPACE/sub"
	launches_do_no_harm 'touch planted ../planted; touch /workspace/sub/planted /workspace/sub/deep/planted; true' /workspace/sub/deep
}

@test "swaps: a folder of the store" {
	local store=$ROOTFS/root/.local/state/oci-sandbox/claude

	mkdir -p "$store"
	container_owner 0 "$ROOTFS/root/.local"
	swaps "$store/state"
	launches_do_no_harm 'touch ~/.claude/planted; true'
}

@test "swaps: a folder above what allow-write names" {
	mkdir -p "$WORKSPACE/../data/a/deep"
	OPTIONS+=(--volume "$(realpath "$WORKSPACE/../data"):/data")
	policy_with 'allow-write = /data/a/deep'
	swaps "$WORKSPACE/../data/a"
	launches_do_no_harm 'touch /data/a/deep/planted /data/a/planted; true'
}
