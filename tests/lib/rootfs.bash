# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Root filesystems for containers, from what is on the machine: no image is pulled.

# rootfs_make DIR: busybox, root and a user "dev" (uid 1000)
rootfs_make() {
	local dir=$1 applet

	mkdir -p "$dir"/{bin,dev,etc,proc,sys,run,tmp,var/tmp,root,home/dev,workspace} \
		"$dir"/usr/{bin,sbin,libexec,local/bin,local/sbin}
	chmod 1777 "$dir/tmp" "$dir/var/tmp"
	chmod 700 "$dir/root" "$dir/home/dev"
	ln -sfn bin "$dir/sbin"
	cp "$(rootfs_busybox)" "$dir/bin/busybox"
	for applet in $("$dir/bin/busybox" --list); do
		[[ $applet == busybox ]] || ln -sf busybox "$dir/bin/$applet"
	done
	ln -sf /bin/env "$dir/usr/bin/env"
	printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' 'dev:x:1000:1000:dev:/home/dev:/bin/sh' \
		'nobody:x:65534:65534:nobody:/:/bin/false' >"$dir/etc/passwd"
	printf '%s\n' root:x:0: dev:x:1000: nogroup:x:65534: >"$dir/etc/group"
	# "files" alone: a static program must not load the machine's name service modules
	printf '%s\n' 'passwd: files' 'group: files' 'hosts: files' 'services: files' \
		>"$dir/etc/nsswitch.conf"
	printf '%s\n' 'root:STAND-IN-SHADOW:::::::' >"$dir/etc/shadow"
	chmod 600 "$dir/etc/shadow"
	chown 1000:1000 "$dir/home/dev" "$dir/workspace"
}

rootfs_busybox() {
	local path

	for path in /bin/busybox /usr/bin/busybox; do
		if [[ -x $path ]] && ! ldd "$path" >/dev/null 2>&1; then
			printf '%s\n' "$path"
			return
		fi
	done
	printf 'no static busybox: install busybox-static\n' >&2
	return 1
}

# rootfs_add_program DIR PROGRAM: the program at its own path, with the libraries it needs
rootfs_add_program() {
	local dir=$1 program=$2

	rootfs_copy "$dir" "$program"
	rootfs_add_libraries "$dir" "$program"
}

# rootfs_add_libraries DIR PROGRAM: the libraries that PROGRAM is linked with, loader included
rootfs_add_libraries() {
	local dir=$1 program=$2 file

	ldd "$program" | grep -o '/[^ ]*' | while read -r file; do
		rootfs_copy "$dir" "$file"
	done
}

# rootfs_copy DIR FILE: FILE, links followed, at the same path below DIR
rootfs_copy() {
	[[ -e $1$2 ]] || install -D "$2" "$1$2"
}

# rootfs_owner DIR ROOT SUBID: what belongs to 0 and 1000 goes to what these are for a user
# namespace that maps 0 to ROOT and 1.. to SUBID..
rootfs_owner() {
	local dir=$1 root=$2 dev=$(($3 + 999))

	find "$dir" -xdev -uid 1000 -exec chown -h "$dev:$dev" {} +
	find "$dir" -xdev -uid 0 -exec chown -h "$root:$root" {} +
}
