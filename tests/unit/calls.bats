#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The sandbox's filter of system calls. "evaluated" asks the filter itself, for each entry to the
# kernel that a machine of this kind can have; "installed" asks the kernel, by those that it has.
bats_require_minimum_version 1.5.0

refused=(keyctl add_key request_key bpf perf_event_open userfaultfd
	io_uring_setup io_uring_enter io_uring_register open_by_handle_at fanotify_init syslog
	kexec_load kexec_file_load reboot init_module finit_module delete_module
	acct swapon swapoff quotactl quotactl_fd settimeofday clock_settime lookup_dcookie)
refused_x86=(iopl ioperm modify_ldt uselib _sysctl nfsservctl)
refused_i386=(stime clock_settime64 vm86 vm86old)

setup() {
	calls=$BUILDDIR/tests/lib/calls
	[[ $(uname -m) != x86_64 ]] || refused+=("${refused_x86[@]}" "${refused_i386[@]}")
}

# all ENDING: each line of $output ends so, and there are some
all() {
	if [[ -z $output ]] || grep -qv ": $1\$" <<<"$output"; then
		printf 'not all of them "%s":\n%s\n' "$1" "$output"
		return 1
	fi
}

@test "calls: what has reach without need is refused, by each entry to the kernel" {
	run -0 --separate-stderr "$calls" evaluated yes "${refused[@]}"
	all EPERM
	for name in "${refused[@]}"; do
		grep -q " $name: " <<<"$output" || { echo "$name was not tried"; return 1; }
	done
	[[ $(uname -m) != x86_64 ]] || for name in "${refused[@]}"; do
		[[ $name == kexec_file_load ]] || grep -qx "i386 $name: EPERM" <<<"$output" ||
			{ echo "$name is not refused by the 32-bit entry"; return 1; }
		[[ " ${refused_i386[*]} uselib _sysctl nfsservctl " == *" $name "* ]] ||
			grep -qx "x32 $name: EPERM" <<<"$output" ||
			{ echo "$name is not refused by the x32 entry"; return 1; }
	done
	run -0 --separate-stderr "$calls" evaluated no "${refused[@]}"
	all EPERM
}

@test "calls: the kernel refuses them as well" {
	run -0 --separate-stderr "$calls" installed yes "${refused[@]}"
	all EPERM
	[[ $(wc -l <<<"$output") -ge 20 ]]
}

@test "calls: debuggers, nested sandboxes and everyday programs keep what they need" {
	# shellcheck disable=SC2054 # arguments of one call
	needed=(ptrace process_vm_readv process_vm_writev pidfd_getfd kcmp personality,0x40000
		mbind migrate_pages move_pages adjtimex name_to_handle_at inotify_init1 seccomp
		mount umount2 pivot_root fsopen move_mount mount_setattr landlock_create_ruleset
		unshare,0x10000000 clone,0x10000011 clone3 setns openat execve prctl ioctl,0,0x5401)

	run -0 --separate-stderr "$calls" evaluated yes "${needed[@]}"
	all passed
	[[ $(wc -l <<<"$output") -ge ${#needed[@]} ]]
}

@test "calls: a terminal can't be typed into, whatever is in the upper half of the request" {
	run -0 --separate-stderr "$calls" evaluated yes ioctl,0,0x5412 ioctl,0,0x541c \
		ioctl,0,0x100005412 ioctl,0,0xffffffff0000541c
	all EPERM
	run -0 --separate-stderr "$calls" installed yes ioctl,0,0x5412 ioctl,0,0x100005412
	all EPERM
}

@test "calls: sockets are of the families that agents need, and no others" {
	for family in {0..70} 255 65537 0x80000001 0xffffffff; do
		run -0 --separate-stderr "$calls" evaluated yes "socket,$family" "socketpair,$family"
		case $family in
		1|2|10|16) all passed ;;
		*) all EAFNOSUPPORT ;;
		esac || { echo "family $family"; return 1; }
	done
	run -0 --separate-stderr "$calls" installed yes socket,40 socket,38 socket,17 socketpair,30
	all EAFNOSUPPORT
	run -0 --separate-stderr "$calls" installed yes socket,1 socket,2 socket,10 socket,16 socketpair,1
	all passed
}

@test "calls: what the kernel takes for another family is refused" {
	run -0 --separate-stderr "$calls" evaluated yes socket,0x100000028 socket,0xffffffff00000026
	all EAFNOSUPPORT
}

@test "calls: netlink is for links, addresses and routes" {
	run -0 --separate-stderr "$calls" evaluated yes socket,16,3,{1..22}
	all EPROTONOSUPPORT
	run -0 --separate-stderr "$calls" evaluated yes socket,16,3,0x100000004
	grep -qv passed <<<"$output"
	run -0 --separate-stderr "$calls" installed yes socket,16,3,12 socket,16,3,4
	all EPROTONOSUPPORT
}

@test "calls: socketcall, whose arguments a filter can't see, makes no socket" {
	[[ $(uname -m) == x86_64 ]] || return 0
	run -0 --separate-stderr "$calls" evaluated yes socketcall,1 socketcall,8
	all EAFNOSUPPORT
	[[ $output == *'i386 socketcall'* ]]
	run -0 --separate-stderr "$calls" evaluated yes socketcall,3 socketcall,9
	all passed
}

@test "calls: nested-sandbox = no refuses to make or enter a user namespace" {
	# shellcheck disable=SC2054 # arguments of one call
	made=(unshare,0x10000000 unshare,0x7e020000 unshare,0xff10000000 clone,0x10000011
		clone,0x7e020011 setns setns,0,0x10000000)

	run -0 --separate-stderr "$calls" evaluated no "${made[@]}"
	all EPERM
	run -0 --separate-stderr "$calls" installed no "${made[@]}"
	all EPERM
	run -0 --separate-stderr "$calls" evaluated no clone3
	all ENOSYS
	run -0 --separate-stderr "$calls" installed no clone3
	all ENOSYS
	run -0 --separate-stderr "$calls" evaluated no clone,0x3d0f00 clone,17 unshare,0x400 fork
	all passed
}

@test "calls: a key of the session keyring stays behind" {
	run --separate-stderr "$calls" keyring
	[[ $status -ne 3 ]] || skip "$stderr"
	[[ $status -eq 0 && $output == ENOKEY ]]
}
