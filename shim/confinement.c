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

/* clang-format off */
static const struct confinement refused_calls[] = {
	{ "keyctl", 0 }, { "add_key", 0 }, { "request_key", 0 }, /* the developer's keyrings */
	{ "bpf", 0 }, { "perf_event_open", 0 },	/* a look into the kernel and other processes */
	{ "userfaultfd", 0 },			/* makes kernel races easy to win */
	{ "io_uring_setup", 0 }, { "io_uring_enter", 0 },
	{ "io_uring_register", 0 },		/* does what a filter can't see */
};
static const struct confinement refused_ioctls[] = {
	{ "TIOCSTI", TIOCSTI },		/* types into the developer's terminal */
	{ "TIOCLINUX", TIOCLINUX },	/* pastes into a virtual console */
};
/* clang-format on */

const struct confinements confinement_securebits = { securebits, N_ELEMENTS(securebits) };
const struct confinements confinement_refused_calls = { refused_calls, N_ELEMENTS(refused_calls) };
const struct confinements confinement_refused_ioctls = { refused_ioctls,
							 N_ELEMENTS(refused_ioctls) };

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
