/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: System calls that give reach without need
 */
#include "config.h"

#include <errno.h>
#include <seccomp.h>
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

static int add_rules(scmp_filter_ctx c)
{
	const struct confinements *calls = &confinement_refused_calls;
	const struct confinements *ioctls = &confinement_refused_ioctls;
	int rc = 0;

	for (size_t i = 0; i < calls->n && rc == 0; i++)
		rc = refuse_call(c, calls->v[i].name);
	for (size_t i = 0; i < ioctls->n && rc == 0; i++)
		rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
				      SCMP_A1(SCMP_CMP_MASKED_EQ, LOW_32, ioctls->v[i].bits));
	if (rc == 0) /* vsock(7) reaches the host of a virtual machine */
		rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
				      SCMP_A0(SCMP_CMP_MASKED_EQ, LOW_32, AF_VSOCK));
	return rc;
}

/**
 * seccomp_install() - Refuse the listed calls, for this process and all that it starts
 * @e:		Set on failure
 *
 * no_new_privs is set already.
 *
 * Return: 0 on success, -1 on failure
 */
int seccomp_install(struct err *e)
{
	CLEANUP(filter_p) scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
	int rc;

	if (c == NULL)
		return err_set(e, ENOMEM, "allocate the system call filter");
	rc = add_architectures(c);
	if (rc == 0)
		rc = add_rules(c);
	if (rc == 0)
		rc = seccomp_load(c);
	if (rc < 0)
		return err_set(e, -rc, "install the system call filter");
	return 0;
}
