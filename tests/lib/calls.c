/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DOC: what the sandbox's filter does with system calls
 *
 * calls evaluated yes|no CALL[,ARGUMENT[,ARGUMENT[,ARGUMENT]]]...: "ENTRY CALL: ERROR", or "passed"
 *	for what passes the filter of such a nested-sandbox: by each entry to the kernel of the
 *	machine's kind, as the kernel would find it, but without the kernel
 * calls installed yes|no CALL...: the same by the kernel, and by what entries it has
 * calls agent CALL...: the same with the filter that is there already
 * calls keyring: put a key into the session keyring, and look for it after keyring_leave()
 *
 * None of the calls is carried out, or reaches a check of the kernel's: in their last register they
 * have a mark, by which a filter of this program's own has the kernel look for a tracer
 * (SECCOMP_RET_TRACE).  There is none, so the answer is ENOSYS; but another filter that refuses a
 * call comes before, seccomp(2).  clone3 is refused by ENOSYS, so it goes without the mark.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "privileges.h"

#define MARK 0x5a17c0deU

struct call {
	char name[64];
	unsigned long long args[3];
};

/* An entry to the kernel; it returns what the kernel does. */
typedef long (*entry_fn)(int number, const unsigned long long *args, unsigned mark);

static long by_native(int number, const unsigned long long *args, unsigned mark)
{
	long ret = syscall(number, args[0], args[1], args[2], 0, 0, mark);

	if (ret < 0)
		ret = -errno;
	/* The register keeps the mark, and exit_group(2) is to be carried out */
	(void)syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	return ret;
}

#ifdef __x86_64__
/* The sixth argument is in ebp, which the compiler keeps for itself. */
static long by_int80(int number, const unsigned long long *args, unsigned mark)
{
	int ret = number;

	__asm__ volatile("push %%rbp\n\tmov %5, %%ebp\n\tint $0x80\n\tpop %%rbp"
			 : "+a"(ret)
			 : "b"((uint32_t)args[0]), "c"((uint32_t)args[1]), "d"((uint32_t)args[2]),
			   "r"(mark), "S"(0), "D"(0)
			 : "memory", "r8", "r9", "r10", "r11");
	return ret;
}
#endif

static const struct entry {
	const char *name;
	uint32_t arch;
	uint32_t seen_as; /* by a filter */
	entry_fn enter;   /* NULL: not from here */
} entries[] = {
#if defined(__x86_64__)
	{ "x86_64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64, by_native },
	{ "x32", SCMP_ARCH_X32, AUDIT_ARCH_X86_64, by_native },
	{ "i386", SCMP_ARCH_X86, AUDIT_ARCH_I386, by_int80 },
#elif defined(__aarch64__)
	{ "aarch64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64, by_native },
	{ "arm", SCMP_ARCH_ARM, AUDIT_ARCH_ARM, NULL },
#endif
};

/* A kernel may be built, or started, without one: then who tries it gets a signal. */
static bool works(const struct entry *entry)
{
	const unsigned long long none[3] = { 0 };
	int wstatus;
	pid_t pid;

	if (entry->enter == NULL)
		return false;
	pid = fork();
	if (pid == 0) {
		const struct rlimit no_core = { 0, 0 };

		(void)setrlimit(RLIMIT_CORE, &no_core);
		(void)entry->enter(seccomp_syscall_resolve_name_arch(entry->arch, "getpid"), none,
				   0);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &wstatus, 0) == pid && WIFEXITED(wstatus);
}

/* ---- a filter without a kernel ---- */

static struct sock_filter captured[4096];
static size_t n_captured;
static bool capture;

int __real_seccomp_load(scmp_filter_ctx c);
int __wrap_seccomp_load(scmp_filter_ctx c);

/* In the place of libseccomp's: the linker's --wrap */
int __wrap_seccomp_load(scmp_filter_ctx c)
{
	FILE *f;

	if (!capture)
		return __real_seccomp_load(c);
	f = tmpfile();
	if (f == NULL || seccomp_export_bpf(c, fileno(f)) < 0)
		return -EIO;
	rewind(f);
	n_captured = fread(captured, sizeof(captured[0]), N_ELEMENTS(captured), f);
	return fclose(f) == 0 && n_captured > 0 && n_captured < N_ELEMENTS(captured) ? 0 : -EIO;
}

static uint32_t load(const struct seccomp_data *data, uint32_t at)
{
	uint32_t word;

	assert(at <= sizeof(*data) - sizeof(word));
	memcpy(&word, (const char *)data + at, sizeof(word));
	return word;
}

static bool jumps(const struct sock_filter *i, uint32_t a)
{
	switch (BPF_OP(i->code)) {
	case BPF_JEQ:
		return a == i->k;
	case BPF_JGT:
		return a > i->k;
	case BPF_JGE:
		return a >= i->k;
	case BPF_JSET:
		return (a & i->k) != 0;
	default:
		abort();
	}
}

/* As much of classic BPF as filters of system calls are made of */
static uint32_t evaluate(const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (size_t pc = 0; pc < n_captured; pc++) {
		const struct sock_filter *i = &captured[pc];

		if (i->code == (BPF_RET | BPF_K))
			return i->k;
		if (i->code == (BPF_LD | BPF_W | BPF_ABS))
			a = load(data, i->k);
		else if (i->code == (BPF_ALU | BPF_AND | BPF_K))
			a &= i->k;
		else if (i->code == (BPF_JMP | BPF_JA))
			pc += i->k;
		else if (BPF_CLASS(i->code) == BPF_JMP)
			pc += jumps(i, a) ? i->jt : i->jf;
		else
			abort();
	}
	abort();
}

static long by_evaluation(const struct entry *entry, int number, const struct call *c)
{
	struct seccomp_data data = { .nr = number, .arch = entry->seen_as };
	const bool narrow = (entry->seen_as & __AUDIT_ARCH_64BIT) == 0;
	uint32_t action;

	for (size_t i = 0; i < N_ELEMENTS(c->args); i++)
		data.args[i] = narrow ? (uint32_t)c->args[i] : c->args[i];
	action = evaluate(&data);
	if ((action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO)
		return -(long)(action & SECCOMP_RET_DATA);
	return action == SECCOMP_RET_ALLOW ? 0 : -EXFULL;
}

/* ---- and with one ---- */

/* What has the mark is not carried out. */
static int guard(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[5])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MARK, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = N_ELEMENTS(code), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* socketcall and its like are numbers of their own here, and no other name for the direct calls. */
static int number_of(uint32_t arch, const char *name)
{
	if (arch == SCMP_ARCH_X86 && strcmp(name, "socket") == 0)
		return 359;
	if (arch == SCMP_ARCH_X86 && strcmp(name, "socketpair") == 0)
		return 360;
	return seccomp_syscall_resolve_name_arch(arch, name);
}

static void say(const struct entry *entry, const struct call *c, bool passed, long ret)
{
	printf("%s %s: %s\n", entry->name, c->name,
	       passed    ? "passed"
	       : ret < 0 ? strerrorname_np((int)-ret)
			 : "done");
}

static void try(const struct call *c)
{
	const bool marked = strcmp(c->name, "clone3") != 0;

	for (size_t i = 0; i < N_ELEMENTS(entries); i++) {
		const int number = number_of(entries[i].arch, c->name);
		long ret;

		if (number < 0)
			continue;
		if (capture) {
			ret = by_evaluation(&entries[i], number, c);
			say(&entries[i], c, ret == 0, ret);
		} else if (works(&entries[i])) {
			ret = entries[i].enter(number, c->args, marked ? MARK : 0);
			say(&entries[i], c, ret == (marked ? -ENOSYS : -EINVAL), ret);
		}
	}
}

static bool parse(char *text, struct call *ret)
{
	char *word = strtok(text, ",");
	size_t n = 0;

	*ret = (struct call){ 0 };
	if (word == NULL || strlen(word) >= sizeof(ret->name))
		return false;
	strcpy(ret->name, word);
	while ((word = strtok(NULL, ",")) != NULL && n < N_ELEMENTS(ret->args))
		ret->args[n++] = strtoull(word, NULL, 0);
	return word == NULL;
}

static int keyring(void)
{
	static const char payload[] = "x";
	struct err e = { 0 };

	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 ||
	    syscall(SYS_add_key, "user", "oci-sandbox-test", payload, sizeof(payload),
		    KEY_SPEC_SESSION_KEYRING) < 0) {
		perror("no keyrings here");
		return 3;
	}
	if (keyring_leave(&e) < 0) {
		(void)fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	if (syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_SESSION_KEYRING, "user", "oci-sandbox-test",
		    0) < 0)
		puts(strerrorname_np(errno));
	else
		puts("found");
	return 0;
}

static int install(const char *nested, struct err *e)
{
	if (!capture && guard() < 0)
		return err_set(e, errno, "guard");
	if (nested == NULL)
		return 0;
	return seccomp_install(strcmp(nested, "yes") == 0, e);
}

int main(int argc, char **argv)
{
	struct err e = { 0 };
	int first = 3;

	if (argc == 2 && strcmp(argv[1], "keyring") == 0)
		return keyring();
	if (argc < 3)
		return 2;
	capture = strcmp(argv[1], "evaluated") == 0;
	if (strcmp(argv[1], "agent") == 0)
		first = 2;
	if (install(first == 2 ? NULL : argv[2], &e) < 0) {
		(void)fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	for (int i = first; i < argc; i++) {
		struct call c;

		if (!parse(argv[i], &c))
			return 2;
		try(&c);
	}
	return 0;
}
