/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What each sandbox is made of, as lists
 *
 * The launch goes by them, and what --print-plan prints of it comes from the same.
 */
#include "config.h"

#include <linux/securebits.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "cleanup.h"
#include "confinement.h"
#include "launch.h"

/* The last one is for a launch that joins none, and makes none before */
static const struct confinement namespaces[] = {
	{ "user", CLONE_NEWUSER }, { "mount", CLONE_NEWNS }, { "pid", CLONE_NEWPID },
	{ "ipc", CLONE_NEWIPC },   { "uts", CLONE_NEWUTS },  { "cgroup", CLONE_NEWCGROUP },
	{ "net", CLONE_NEWNET },
};

static const struct confinement securebits[] = {
	{ "noroot", SECBIT_NOROOT | SECBIT_NOROOT_LOCKED },
	{ "no_setuid_fixup", SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED },
	{ "no_cap_ambient_raise",
	  SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED },
	{ "keep_caps_off", SECBIT_KEEP_CAPS_LOCKED },
};

/*
 * What an agent has no use for, and what would reach the developer, the host or the kernel's less
 * trodden parts.  Much of it wants capabilities that no sandbox has; the list holds where one
 * kernel or one nested namespace forgets to ask.  Not listed, because programs need them and the
 * kernel asks for rights over the other process: ptrace, process_vm_readv and its like, kcmp
 * (debuggers, graphics drivers); personality (gdb); the memory policies of NUMA; mount and its like
 * (nested sandboxes, in namespaces of their own).  Nor name_to_handle_at: a handle leads nowhere
 * without open_by_handle_at.  Nor adjtimex: without capabilities it only reads.
 */
/* clang-format off */
static const struct confinement refused_calls[] = {
	{ "keyctl", 0 }, { "add_key", 0 }, { "request_key", 0 }, /* the developer's keyrings */
	{ "bpf", 0 }, { "perf_event_open", 0 },	/* a look into the kernel and other processes */
	{ "userfaultfd", 0 },			/* makes kernel races easy to win */
	{ "io_uring_setup", 0 }, { "io_uring_enter", 0 },
	{ "io_uring_register", 0 },		/* does what a filter can't see */
	{ "open_by_handle_at", 0 },		/* opens what no mount of the sandbox shows */
	{ "fanotify_init", 0 },			/* watches others' files; inotify(7) is there */
	{ "syslog", 0 },			/* the host's messages, and kernel addresses */
	{ "kexec_load", 0 }, { "kexec_file_load", 0 }, { "reboot", 0 }, /* the host's kernel */
	{ "init_module", 0 }, { "finit_module", 0 },
	{ "delete_module", 0 },			/* code of the host's kernel */
	{ "acct", 0 },				/* has the kernel write a file of one's choice */
	{ "swapon", 0 }, { "swapoff", 0 },	/* the host's memory */
	{ "quotactl", 0 }, { "quotactl_fd", 0 },/* the limits of other users */
	{ "settimeofday", 0 }, { "stime", 0 }, { "clock_settime", 0 },
	{ "clock_settime64", 0 },		/* the host's clock */
	{ "iopl", 0 }, { "ioperm", 0 },		/* the machine's ports */
	{ "modify_ldt", 0 }, { "vm86", 0 },
	{ "vm86old", 0 },			/* 16-bit code: many a hole, no program of today */
	{ "uselib", 0 }, { "_sysctl", 0 }, { "nfsservctl", 0 },
	{ "lookup_dcookie", 0 },		/* obsolete: no library calls them any more */
};
static const struct confinement refused_ioctls[] = {
	{ "TIOCSTI", TIOCSTI },		/* types into the developer's terminal */
	{ "TIOCLINUX", TIOCLINUX },	/* pastes into a virtual console */
};
/* Besides these, for `nested-sandbox = no` */
static const struct confinement refused_nesting[] = {
	{ "unshare", CLONE_NEWUSER }, { "clone", CLONE_NEWUSER }, /* make a user namespace */
	{ "clone3", 0 },	/* its flags can't be seen; libraries go back to clone(2) */
	{ "setns", 0 },		/* enters one, by flags of 0 too; else it wants capabilities */
};
/*
 * What a socket can be of.  Other families are none of a program that talks to the internet or to
 * its own children: AF_VSOCK reaches the host of a virtual machine, AF_ALG and the others are code
 * of the kernel that the first socket of a family loads.  Of netlink, what lists links, addresses
 * and routes, as getifaddrs(3) does; nftables, xfrm, audit and their like stay the host's, and in
 * a nested network namespace would be a kernel's widest door.
 */
static const struct confinement sockets[] = {
	{ "AF_UNIX", AF_UNIX }, { "AF_INET", AF_INET }, { "AF_INET6", AF_INET6 },
	{ "AF_NETLINK (NETLINK_ROUTE)", AF_NETLINK },
};
/* clang-format on */

const struct confinements confinement_securebits = { securebits, N_ELEMENTS(securebits) };
const struct confinements confinement_refused_calls = { refused_calls, N_ELEMENTS(refused_calls) };
const struct confinements confinement_refused_ioctls = { refused_ioctls,
							 N_ELEMENTS(refused_ioctls) };
const struct confinements confinement_refused_nesting = { refused_nesting,
							  N_ELEMENTS(refused_nesting) };
const struct confinements confinement_sockets = { sockets, N_ELEMENTS(sockets) };

/**
 * confinement_namespaces() - List the namespaces that are made for a sandbox
 * @l:		The launch
 *
 * Return: the list; its bits are flags of clone(2)
 */
struct confinements confinement_namespaces(const struct launch *l)
{
	const size_t last = l->manifest.network == MANIFEST_NETWORK_NONE ? 0 : 1;

	return (struct confinements){ namespaces, N_ELEMENTS(namespaces) - last };
}

/**
 * confinement_bits() - Take the bits of a list together
 * @c:		List
 *
 * Return: all of them
 */
uint64_t confinement_bits(const struct confinements *c)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < c->n; i++)
		bits |= c->v[i].bits;
	return bits;
}
