/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: System calls that give reach without need
 */
#include "config.h"

#include <errno.h>
#include <linux/net.h>
#include <linux/netlink.h>
#include <seccomp.h>
#include <stdbool.h>
#include <sys/socket.h>

#include "cleanup.h"
#include "confinement.h"
#include "err.h"
#include "privileges.h"

/* The kernel looks at the low 32 bits of an ioctl's request, and so must the filter. */
#define LOW_32 0xffffffffULL

static void filter_p(scmp_filter_ctx *c)
{
	if (*c != NULL)
		seccomp_release(*c);
}

/* The machine's other entries to the kernel: without them the list would be walked around. */
static int add_architectures(scmp_filter_ctx c)
{
#if defined(__x86_64__)
	static const uint32_t others[] = { SCMP_ARCH_X86, SCMP_ARCH_X32 };
#elif defined(__aarch64__)
	static const uint32_t others[] = { SCMP_ARCH_ARM };
#else
	static const uint32_t others[] = { SCMP_ARCH_NATIVE };
#endif
	for (size_t i = 0; i < N_ELEMENTS(others); i++) {
		int rc = seccomp_arch_add(c, others[i]);

		if (rc < 0 && rc != -EEXIST)
			return rc;
	}
	return 0;
}

/* A name that libseccomp doesn't know would go unrefused. */
static int refuse_call(scmp_filter_ctx c, const char *name)
{
	int call = seccomp_syscall_resolve_name(name);

	return call == __NR_SCMP_ERROR ? -ENOSYS
				       : seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), call, 0);
}

static int refuse_calls(scmp_filter_ctx c)
{
	const struct confinements *calls = &confinement_refused_calls;
	const struct confinements *ioctls = &confinement_refused_ioctls;
	int rc = 0;

	for (size_t i = 0; i < calls->n && rc == 0; i++)
		rc = refuse_call(c, calls->v[i].name);
	for (size_t i = 0; i < ioctls->n && rc == 0; i++)
		rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
				      SCMP_A1(SCMP_CMP_MASKED_EQ, LOW_32, ioctls->v[i].bits));
	return rc;
}

/* ---- sockets ---- */

static bool is_allowed(unsigned family)
{
	for (size_t i = 0; i < confinement_sockets.n; i++)
		if (confinement_sockets.v[i].bits == family)
			return true;
	return false;
}

static unsigned last_allowed(void)
{
	unsigned last = 0;

	for (size_t i = 0; i < confinement_sockets.n; i++)
		if (confinement_sockets.v[i].bits > last)
			last = (unsigned)confinement_sockets.v[i].bits;
	return last;
}

/*
 * libseccomp has no rule for all values but some: so each family that is not allowed is named, up
 * to the last that is, and then all above it.  The kernel looks at the low 32 bits, but here all
 * count: what has garbage in the upper half is above.
 */
static int refuse_families(scmp_filter_ctx c, int call)
{
	const unsigned last = last_allowed();
	int rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(EAFNOSUPPORT), call, 1,
				  SCMP_A0(SCMP_CMP_GT, last));

	for (unsigned f = 0; f < last && rc == 0; f++)
		if (!is_allowed(f))
			rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(EAFNOSUPPORT), call, 1,
					      SCMP_A0(SCMP_CMP_EQ, f));
	return rc;
}

/*
 * socketcall(2) of 32-bit x86 has its arguments behind a pointer, where no filter can see them: who
 * makes sockets by it has none.  socket(2) and socketpair(2) themselves are there since Linux 4.3.
 */
static int refuse_sockets(scmp_filter_ctx c)
{
	static const int makers[] = { SCMP_SYS(socket), SCMP_SYS(socketpair) };
	static const unsigned by_socketcall[] = { SYS_SOCKET, SYS_SOCKETPAIR };
	int rc = 0;

	for (size_t i = 0; i < N_ELEMENTS(by_socketcall) && rc == 0; i++)
		rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socketcall), 1,
				      SCMP_A0(SCMP_CMP_MASKED_EQ, LOW_32, by_socketcall[i]));
	for (size_t i = 0; i < N_ELEMENTS(makers) && rc == 0; i++)
		rc = refuse_families(c, makers[i]);
	if (rc == 0)
		rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(EPROTONOSUPPORT), SCMP_SYS(socket), 2,
				      SCMP_A0(SCMP_CMP_EQ, AF_NETLINK),
				      SCMP_A2(SCMP_CMP_NE, NETLINK_ROUTE));
	return rc;
}

/* ---- user namespaces ---- */

/* By all bits of a flag, or whole.  clone3(2) is to look as if the kernel did not have it. */
static int refuse_nesting(scmp_filter_ctx c)
{
	int rc = 0;

	for (size_t i = 0; i < confinement_refused_nesting.n && rc == 0; i++) {
		const struct confinement *n = &confinement_refused_nesting.v[i];
		const int call = seccomp_syscall_resolve_name(n->name);
		const uint32_t refusal = SCMP_ACT_ERRNO(call == SCMP_SYS(clone3) ? ENOSYS : EPERM);

		if (call == __NR_SCMP_ERROR)
			rc = -ENOSYS;
		else if (n->bits == 0)
			rc = seccomp_rule_add(c, refusal, call, 0);
		else
			rc = seccomp_rule_add(c, refusal, call, 1,
					      SCMP_A0(SCMP_CMP_MASKED_EQ, n->bits, n->bits));
	}
	return rc;
}

/**
 * seccomp_install() - Refuse the listed calls, for this process and all that it starts
 * @nested:	User namespaces may be made, as sandboxes in the sandbox need them
 * @e:		Set on failure
 *
 * no_new_privs is set already.
 *
 * Return: 0 on success, -1 on failure
 */
int seccomp_install(bool nested, struct err *e)
{
	CLEANUP(filter_p) scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
	int rc;

	if (c == NULL)
		return err_set(e, ENOMEM, "allocate the system call filter");
	rc = add_architectures(c);
	if (rc == 0)
		rc = refuse_calls(c);
	if (rc == 0)
		rc = refuse_sockets(c);
	if (rc == 0 && !nested)
		rc = refuse_nesting(c);
	if (rc == 0)
		rc = seccomp_load(c);
	if (rc < 0)
		return err_set(e, -rc, "install the system call filter");
	return 0;
}
