#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim
#
# What of the container's files and devices an agent has besides its workspace, as the policy says.

load ../lib/confined

setup_file() {
	lab_prepare
}

setup() {
	container_prepare
}

teardown() {
	container_remove
}

@test "allow-write: a folder of a hidden mount comes back, writable, and nothing beside it" {
	mkdir "$KUBE/cache"
	container_owner 0 "$KUBE"
	policy_with 'allow-write = /mnt/kube/cache'
	run -0 --separate-stderr confined claude 'echo x >/mnt/kube/cache/file; cat /mnt/kube/config; echo x >/mnt/kube/y; ls /mnt/kube'
	is cache
	[ "$(cat "$KUBE/cache/file")" = x ]
}

@test "allow-write: a folder of the home, through a symlink of the home" {
	folder /cache/m2 /root/.gradle
	ln -s /cache/m2 "$ROOTFS/root/.m2"
	policy_with $'allow-write = ~/.m2\nallow-write = ~/.gradle'
	run -0 --separate-stderr confined claude 'for d in ~/.m2 ~/.gradle; do echo x >$d/file; done; ls -A ~/.ssh 2>/dev/null; echo ran'
	is ran
	[ "$(cat "$ROOTFS/cache/m2/file" "$ROOTFS/root/.gradle/file")" = $'x\nx' ]
}

@test "allow-write: a file and a socket through a mask" {
	folder /data
	echo old >"$ROOTFS/data/file"
	container_owner 0 "$ROOTFS/data/file"
	policy_with $'mask = /data\nallow-write = /data/file\nallow-write = /data/socket'
	run -0 --separate-stderr confined sh -c 'probe listen /data/socket & until test -S /data/socket; do :; done
		claude "echo new >/data/file; probe connect /data/socket && ls /data"; kill $!'
	is $'file\nsocket'
	[ "$(cat "$ROOTFS/data/file")" = new ]
}

@test "allow-write: the agent of an ordinary user writes what the user may" {
	folder /data/theirs /data/mine
	container_owner 1000 "$ROOTFS/data/mine" "$WORKSPACE"
	policy_with 'allow-write = /data'
	OPTIONS+=(--user 1000)
	run -0 --separate-stderr confined claude 'echo x >/data/mine/file; echo x >/data/theirs/file; echo ran'
	is ran
	[ -e "$ROOTFS/data/mine/file" ]
	[ ! -e "$ROOTFS/data/theirs/file" ]
}

@test "allow-write: what is not there is told in one line, and left out" {
	policy_with $'allow-write = /nowhere/a\nallow-write = ~/nothing'
	run -0 --separate-stderr confined claude 'ls -d /nowhere ~/nothing 2>/dev/null; echo ran'
	is ran
	has 'warning: allow-write: /nowhere: No such file or directory (left out)' "$stderr"
	has 'warning: allow-write: /root/nothing: No such file or directory (left out)' "$stderr"
	[ "${#stderr_lines[@]}" -eq 2 ]
	[ ! -e "$ROOTFS/nowhere" ]
}

@test "allow-write: a symlink that an agent placed leads nowhere, in this workspace and any other" {
	ln -s /root/.ssh "$WORKSPACE/out"
	policy_with 'allow-write = /workspace/out'
	refused '/workspace/out is a symlink in a folder that agents may have written'
	folder /other/project
	ln -s /root "$ROOTFS/other/project/out"
	policy_with 'allow-write = /other/project/out/.ssh'
	refused '/other/project/out is a symlink in a folder that agents may have written'
}

@test "allow-write: what is protected, ours or the kernel's is refused" {
	local path

	folder /etc/links
	ln -s /workspace/.git/hooks "$ROOTFS/etc/links/hooks"
	# shellcheck disable=SC2088 # the policy's
	for path in /etc/links/hooks /workspace/.git /workspace/.vscode/x /run /run/oci-sandbox \
		/usr/libexec /proc/sys /dev/shm '~/.local/state' /root /root/.local/state/oci-sandbox/claude; do
		mkdir -p "$WORKSPACE/.vscode/x" "$ROOTFS/root/.local/state/oci-sandbox/claude"
		container_owner 0 "$ROOTFS/root/.local"
		policy_with "allow-write = $path"
		refused "allow-write = $path: "
	done
}

@test "allow-write: above the workspace, what is protected stays so, and in its place" {
	OPTIONS=("${OPTIONS[@]/#$WORKSPACE:*/$WORKSPACE:/w/a/p}")
	OPTIONS+=(--workdir /w/a/p)
	folder /w/a
	policy_with 'allow-write = /w'
	run -0 confined claude 'echo x >../file; echo x >.git/hooks/x; mv /w/a /w/b; mv /w/a/p /w/a/q; rm -r .git; echo ran'
	has ran "$output"
	[ -e "$ROOTFS/w/a/file" ]
	[ -d "$WORKSPACE/.git/hooks" ]
	[ -z "$(ls -A "$WORKSPACE/.git/hooks")" ]
	[ "$(ls "$ROOTFS/w")" = a ]
}

@test "allow-write: a program there is not run as the agent: another agent may have written it" {
	folder /opt/bin
	mv "$ROOTFS/usr/local/bin/claude" "$ROOTFS/opt/claude"
	OPTIONS+=(--env PATH=/usr/local/bin:/opt/bin:/bin)
	run -0 --separate-stderr confined sh -c 'mv /opt/claude /opt/bin; claude "echo ran"; mv /opt/bin/claude /opt'
	is ran
	policy_with 'allow-write = /opt/bin'
	run -127 --separate-stderr confined sh -c 'mv /opt/claude /opt/bin; claude "echo the agent ran"'
	is ''
}

# device NAME: the container has a device of that name below /dev, which gives zeros
device() {
	OPTIONS+=(--volume "/dev/zero:/dev/$1")
}

@test "allow-device: a device and a symlink to it, and no other" {
	device ttyUSB0
	device ttyUSB1
	policy_with $'allow-device = /dev/ttyUSB0\nallow-device = /dev/by-id/x'
	run -0 --separate-stderr confined sh -c 'mkdir /dev/by-id; ln -s ../ttyUSB0 /dev/by-id/x
		claude "head -c 3 /dev/ttyUSB0 | wc -c; head -c 3 /dev/by-id/x | wc -c; ls /dev/ttyUSB1; rm /dev/ttyUSB0; echo x >/dev/new; echo ran" 2>&1'
	has $'3\n3\n' "$output"
	has 'ls: /dev/ttyUSB1: No such file or directory' "$output"
	[ "$(grep -c 'Read-only file system\|busy' <<<"$output")" -eq 2 ]
	has ran "$output"
}

@test "allow-device: one that is not there is told in one line, and left out; that there is no GPU is not" {
	policy_with $'allow-device = /dev/ttyUSB0\ngpu = yes'
	run -0 --separate-stderr confined claude 'echo ran'
	is ran
	[ "$stderr" = 'oci-sandbox: warning: allow-device: /dev/ttyUSB0: No such file or directory (left out)' ]
}

@test "allow-device: what is no device, or a terminal, is refused" {
	local path

	for path in /dev/shm /dev/pts/ptmx /dev/ptmx /dev/link /dev/mqueue; do
		policy_with "allow-device = $path"
		run -125 --separate-stderr confined sh -c 'ln -s /etc/passwd /dev/link; claude "echo the agent ran"'
		is ''
		has "allow-device = $path: it is no device below /dev" "$stderr"
	done
}

@test "gpu: the devices of GPUs are there, without it they are not" {
	local name want

	for name in nvidia0 nvidiactl nvidia-uvm nvidia-uvm-tools nvidia-caps/nvidia-cap1 dri/renderD128 kfd; do
		device "$name"
		want+="/dev/$name"$'\n'
	done
	device nvidia-other
	run -0 --separate-stderr confined claude 'find /dev -name "nvidia*" -o -name dri -o -name kfd; echo ran'
	is ran
	policy_with 'gpu = yes'
	run -0 --separate-stderr confined claude 'find /dev -type c -path "*nvidia*" -o -type c -path "*dri*" -o -name kfd | sort
		head -c 3 /dev/dri/renderD128 | wc -c'
	is "$(sort <<<"${want%?}")"$'\n3'
}

# data UID HOME: the developer's .local/share, with what is hidden of it
data() {
	mkdir -p "$ROOTFS$2"/.local/share/{app/sub,keyrings,applications}
	echo developer >"$ROOTFS$2/.local/share/app/file"
	echo STAND-IN >"$ROOTFS$2/.local/share/keyrings/login"
	container_owner "$1" "$ROOTFS$2/.local"
}

# overlays: whether this machine lets a user namespace have one on the lab's file system
overlays() {
	unshare --user --map-root-user --mount sh -c 'cd "$1" && mkdir l u w m &&
		mount -t overlay -o lowerdir=l,upperdir=u,workdir=w,userxattr none m' sh "$(mktemp -d -p "$LAB")"
}

# keeps_changes UID HOME: what an agent changes in .local/share it finds again, and nobody else does
keeps_changes() {
	local share=$ROOTFS$2/.local/share

	overlays || skip "no overlay in a user namespace here"
	data "$@"
	container_owner "$1" "$WORKSPACE"
	OPTIONS+=(--user "$1")
	run -0 --separate-stderr confined sh -c 'claude "cd ~/.local/share; cat app/file; echo agent >app/file; echo new >app/sub/new
			rm -r app/sub; mkdir app/sub; echo again >app/sub/again; ls -A keyrings applications"
		claude "cd ~/.local/share; cat app/file; ls -A app/sub"; cat ~/.local/share/app/file; ls -A ~/.local/share/app/sub'
	is $'developer\napplications:\n\nkeyrings:\nagent\nagain\ndeveloper'
	[ "$(cat "$share/app/file")" = developer ]
	[ -z "$(ls -A "$share/app/sub")" ]
}

@test "home: what container root's agent changes in .local/share is its own, and it finds it again" {
	keeps_changes 0 /root
}

@test "home: what a user's agent changes in .local/share is its own, and it finds it again" {
	keeps_changes 1000 /home/dev
}

@test "home: without a .local/share the agent has one of its own" {
	run -0 --separate-stderr confined sh -c 'claude "echo x >~/.local/share/file"; claude "cat ~/.local/share/file"
		ls -A ~/.local'
	is $'x\nstate'
}

@test "home: .local/share is read-only for a launch beside another of the agent, and never in two overlays" {
	overlays || skip "no overlay in a user namespace here"
	data 0 /root
	run -0 --separate-stderr confined timeout 60 sh -c 'mkfifo up down
		claude "echo one >~/.local/share/one; echo >up; read -r _ <down" & read -r _ <up
		claude "cat ~/.local/share/app/file; ls ~/.local/share/one; echo x >~/.local/share/two; ls -A ~/.local/share/keyrings; echo ran" 2>&1
		echo >down; wait; claude "cat ~/.local/share/one"'
	has $'developer\n' "$output"
	has "/root/.local/share/one: No such file" "$output"
	has "two: Read-only file system" "$output"
	has $'ran\none' "$output"
}

@test "home: where no overlay can be had, .local/share is read-only" {
	data 0 /root
	mkdir "$KUBE/volume"
	container_owner 0 "$KUBE"
	OPTIONS+=(--volume "$KUBE/volume:/root/.local/share/app/sub")
	run -0 --separate-stderr confined claude 'cd ~/.local/share; cat app/file; echo x >app/file; ls -A keyrings; echo ran'
	is $'developer\nran'
	has 'Read-only file system' "$stderr"
}

@test "share-write: caches, data and skills are the developer's own, but for what is hidden" {
	data 0 /root
	policy_with 'share-write = yes'
	run -0 --separate-stderr confined claude 'for d in ~/.cache ~/.local/share ~/.agents/skills; do echo x >$d/file || exit; done
		ls -A ~/.local/share/keyrings ~/.ssh 2>/dev/null; ls ~/.local; echo ran'
	has ran "$output"
	[[ $output != *login* && $output != *state* ]]
	cat "$ROOTFS"/root/{.cache,.local/share,.agents/skills}/file
}

@test "share-write: a state store in what is shared is refused" {
	policy_with $'share-write = yes\nstate-root = /root/.cache/state'
	refused 'the state stores (/root/.cache/state) are in it'
}

@test "home: an agent in the version cache of its installer is run, and the cache stays hidden" {
	folder /root/.local/share/claude/versions /root/.local/bin
	mv "$ROOTFS/usr/local/bin/claude" "$ROOTFS/root/.local/share/claude/versions/2.0"
	echo old >"$ROOTFS/root/.local/share/claude/versions/1.0"
	ln -s ../share/claude/versions/2.0 "$ROOTFS/root/.local/bin/claude"
	OPTIONS+=(--env PATH=/root/.local/bin:/usr/local/bin:/bin)
	run -0 --separate-stderr confined claude 'ls ~/.local/share/claude/versions; echo x 2>/dev/null >~/.local/share/claude/x; echo ran'
	is $'2.0\nran'
}
