/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The mounts of one launch, as data
 *
 * Everything is denied by inversion: the container's root comes in read-only, whole areas
 * that hold what an agent must not have are replaced by empty ones, and only what is named
 * comes back.  The order is the rule: a later step wins where it lands on an earlier one.
 *
 * Stages, each a function below, in the order of their numbers in plan_build():
 *   root, dev, proc		what a process needs to run at all
 *   engine mounts		hidden, before anything comes back on top of them
 *   private			empty /tmp, /run and homes
 *				Should: hide every socket, and every home but what comes back
 *   home, allow-mount		what comes back
 *				Mustn't: bring back, writable, what an unconfined process runs
 *   workspace			writable, its protected paths read-only
 *				Mustn't: let a protected path be renamed away
 *   masks			single files of the container that hold secrets
 *   session, agent		facts for the guard; the real agent where its own checks expect it
 *
 * Nothing here asks the kernel anything.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "err.h"
#include "launch.h"
#include "path.h"
#include "plan.h"
#include "plan_ops.h"
#include "store.h"

/* Folders where no engine mount is the developer's: the kernel's file systems and /run. */
static const char *const engine_dirs[] = { "/dev", "/proc", "/sys", "/run", "/var/run" };

/* The engine's own files: without them there are no names and no resolvers. */
static const char *const engine_files[] = { "/etc/hosts", "/etc/hostname", "/etc/resolv.conf" };

static const char *const devices[] = { "null", "zero", "full", "random", "urandom", "tty" };

static const struct {
	const char *target, *link;
} dev_links[] = {
	{ "/dev/fd", "/proc/self/fd" },       { "/dev/stdin", "/proc/self/fd/0" },
	{ "/dev/stdout", "/proc/self/fd/1" }, { "/dev/stderr", "/proc/self/fd/2" },
	{ "/dev/ptmx", "pts/ptmx" },
};

/* What runtimes mask and make read-only by default; a privileged container has none of it. */
static const char *const proc_masked[] = {
	"/proc/kcore",       "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
	"/proc/sched_debug", "/proc/acpi", "/proc/scsi",          "/proc/asound",
};
static const char *const proc_readonly[] = {
	"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs",
};

/* Secrets of the container that its root can read, and the agent is its root's uid. */
static const char *const masked[] = {
	"/etc/shadow",
	"/etc/shadow-",
	"/etc/gshadow",
	"/etc/gshadow-",
	"/etc/sudoers",
	"/etc/sudoers.d",
	"/etc/ssl/private",
	"/etc/ssh/ssh_host_rsa_key",
	"/etc/ssh/ssh_host_ecdsa_key",
	"/etc/ssh/ssh_host_ed25519_key",
	"/etc/ssh/ssh_host_dsa_key",
	"/etc/krb5.keytab",
};

/* Logins inside folders of the home that come back, and what sessions outside would obey. */
static const char *const home_masked[] = {
	".cargo/credentials",    ".cargo/credentials.toml",   ".dotnet/corefx",
	".local/share/keyrings", ".local/share/applications", ".local/share/containers",
	".local/share/claude",
};

/* Named again in case that the home mask ever regresses. */
static const char *const home_secrets[] = { ".netrc", ".Xauthority", ".ICEauthority" };

static int empty_dir(struct plan *p, const char *path, mode_t mode, struct err *e)
{
	return plan_has(p, OP_TMPFS, path) ? 0 : plan_add_mode(p, OP_TMPFS, mode, path, e);
}

static int plan_root(struct plan *p, struct err *e)
{
	return plan_add(p, OP_ROOT, 0, "/", "/", e);
}

static int plan_dev(struct plan *p, struct err *e)
{
	if (plan_add_mode(p, OP_TMPFS, 0755, "/dev", e) < 0)
		return -1;
	for (size_t i = 0; i < N_ELEMENTS(devices); i++) {
		cleanup_free char *path = path_join("/dev", devices[i], e);

		if (path == NULL || plan_add(p, OP_DEVICE, OP_OPTIONAL, path, path, e) < 0)
			return -1;
	}
	if (plan_add_mode(p, OP_DIR, 0755, "/dev/pts", e) < 0 ||
	    plan_add(p, OP_DEVPTS, 0, NULL, "/dev/pts", e) < 0 ||
	    plan_add_mode(p, OP_DIR, 0755, "/dev/shm", e) < 0 ||
	    plan_add_mode(p, OP_TMPFS, 01777, "/dev/shm", e) < 0)
		return -1;
	for (size_t i = 0; i < N_ELEMENTS(dev_links); i++)
		if (plan_add(p, OP_SYMLINK, 0, dev_links[i].link, dev_links[i].target, e) < 0)
			return -1;
	return plan_add(p, OP_SEAL, 0, NULL, "/dev", e);
}

static int plan_proc(struct plan *p, struct err *e)
{
	if (plan_add(p, OP_PROC, 0, "/proc", "/proc", e) < 0)
		return -1;
	for (size_t i = 0; i < N_ELEMENTS(proc_masked); i++)
		if (plan_add(p, OP_MASK, OP_OPTIONAL, NULL, proc_masked[i], e) < 0)
			return -1;
	for (size_t i = 0; i < N_ELEMENTS(proc_readonly); i++)
		if (plan_add(p, OP_READONLY, OP_OPTIONAL, NULL, proc_readonly[i], e) < 0)
			return -1;
	return 0;
}

/* System users have such homes in passwd(5), e.g. /usr/sbin: no secrets, but programs. */
static bool is_of_the_system(const char *home)
{
	static const char *const system[] = { "/bin",  "/dev",  "/etc", "/lib", "/lib64",
					      "/proc", "/sbin", "/sys", "/usr" };

	for (size_t i = 0; i < N_ELEMENTS(system); i++)
		if (path_is_at_or_below(home, system[i]))
			return true;
	return false;
}

/* Empty places; /var/run may be a folder of its own and not the usual link to /run. */
static int plan_private(const struct launch *l, struct plan *p, struct err *e)
{
	if (empty_dir(p, "/tmp", 01777, e) < 0 || empty_dir(p, "/var/tmp", 01777, e) < 0 ||
	    empty_dir(p, "/run", 0755, e) < 0 || empty_dir(p, "/var/run", 0755, e) < 0 ||
	    empty_dir(p, "/home", 0755, e) < 0 || empty_dir(p, "/root", 0700, e) < 0)
		return -1;
	if (l->passwd_home != NULL && !is_of_the_system(l->passwd_home) &&
	    empty_dir(p, l->passwd_home, 0700, e) < 0)
		return -1;
	return empty_dir(p, l->home, 0700, e);
}

static int home_bind(const struct launch *l, struct plan *p, const char *rel, struct err *e)
{
	cleanup_free char *path = path_join(l->home, rel, e);

	if (path == NULL)
		return -1;
	return plan_add(p, OP_BIND, OP_OPTIONAL, path, path, e);
}

static int home_mask(const struct launch *l, struct plan *p, const char *rel, struct err *e)
{
	cleanup_free char *path = path_join(l->home, rel, e);

	if (path == NULL)
		return -1;
	return plan_add(p, OP_MASK, OP_OPTIONAL, NULL, path, e);
}

/* STATE/@store of the container, writable at HOME/@rel of the sandbox. */
static int home_store(const struct launch *l, struct plan *p, const char *store, const char *rel,
		      struct err *e)
{
	cleanup_free char *source = path_join(l->state, store, e);
	cleanup_free char *target = source != NULL ? path_join(l->home, rel, e) : NULL;

	if (target == NULL)
		return -1;
	return plan_add(p, OP_BIND_RW, 0, source, target, e);
}

/* Through these an agent could hand work to one outside of its sandbox. */
static int plan_state_masks(const struct launch *l, struct plan *p, struct err *e)
{
	cleanup_free char *state = path_join(l->home, l->profile.state, e);

	if (state == NULL)
		return -1;
	for (size_t i = 0; i < l->profile.mask.n; i++) {
		cleanup_free char *path = path_join(state, l->profile.mask.v[i], e);

		if (path == NULL || plan_add_mode(p, OP_TMPFS, 0700, path, e) < 0)
			return -1;
	}
	return 0;
}

static int plan_state(const struct launch *l, struct plan *p, struct err *e)
{
	cleanup_free char *state = path_join(l->profile.name, STORE_STATE, e);
	cleanup_free char *cache =
		state != NULL ? path_join(l->profile.name, STORE_CACHE, e) : NULL;

	if (cache == NULL || home_store(l, p, state, l->profile.state, e) < 0 ||
	    plan_state_masks(l, p, e) < 0 || home_store(l, p, cache, ".cache", e) < 0)
		return -1;
	return home_store(l, p, STORE_SKILLS, ".agents/skills", e);
}

static int plan_home(const struct launch *l, struct plan *p, struct err *e)
{
	static const char *const tools[] = { ".local/share", ".local/bin/uv", ".local/bin/uvx" };
	static const char *const forges[] = { ".config/gh", ".config/glab-cli" };

	for (size_t i = 0; i < N_ELEMENTS(tools); i++)
		if (home_bind(l, p, tools[i], e) < 0)
			return -1;
	for (size_t i = 0; i < l->policy.home_read.n; i++)
		if (home_bind(l, p, l->policy.home_read.v[i], e) < 0)
			return -1;
	for (size_t i = 0; i < N_ELEMENTS(forges) && !l->policy.no_forge; i++)
		if (home_bind(l, p, forges[i], e) < 0)
			return -1;
	for (size_t i = 0; i < N_ELEMENTS(home_masked); i++)
		if (home_mask(l, p, home_masked[i], e) < 0)
			return -1;
	return plan_state(l, p, e);
}

static bool is_engines_own(const char *path)
{
	for (size_t i = 0; i < N_ELEMENTS(engine_dirs); i++)
		if (path_is_at_or_below(path, engine_dirs[i]))
			return true;
	for (size_t i = 0; i < N_ELEMENTS(engine_files); i++)
		if (strcmp(path, engine_files[i]) == 0)
			return true;
	return false;
}

/* A mount that holds the workspace is masked too: the workspace comes back on top of it. */
static bool is_masked_mount(const struct launch *l, const char *path)
{
	if (strcmp(path, "/") == 0 || is_engines_own(path) || path_is_at_or_below(path, l->home) ||
	    path_is_at_or_below(path, l->workspace))
		return false;
	for (size_t i = 0; i < l->policy.allow_mount.n; i++)
		if (path_is_at_or_below(path, l->policy.allow_mount.v[i]))
			return false;
	return true;
}

/* The workspace or an allowed mount comes back below it, so a place has to be made there. */
static bool holds_what_comes_back(const struct launch *l, const char *path)
{
	for (size_t i = 0; i < l->policy.allow_mount.n; i++)
		if (path_is_below(l->policy.allow_mount.v[i], path))
			return true;
	return path_is_below(l->workspace, path) || path_is_below(l->home, path) ||
	       path_is_below(l->agent_at, path) ||
	       (l->git_common != NULL && path_is_below(l->git_common, path));
}

static int plan_engine_mounts(const struct launch *l, struct plan *p, struct err *e)
{
	for (size_t i = 0; i < l->manifest.mounts.n; i++) {
		const char *path = l->manifest.mounts.v[i];

		if (!is_masked_mount(l, path))
			continue;
		if (holds_what_comes_back(l, path)) {
			if (empty_dir(p, path, 0755, e) < 0)
				return -1;
		} else if (plan_add(p, OP_MASK, OP_OPTIONAL, NULL, path, e) < 0) {
			return -1;
		}
	}
	return 0;
}

static int plan_allowed_mounts(const struct launch *l, struct plan *p, struct err *e)
{
	for (size_t i = 0; i < l->policy.allow_mount.n; i++) {
		const char *path = l->policy.allow_mount.v[i];

		if (plan_add(p, OP_BIND, OP_OPTIONAL, path, path, e) < 0)
			return -1;
	}
	return 0;
}

/* What an agent writes beside its workspace would be lost without a word. */
static int seal_engine_mounts(const struct launch *l, struct plan *p, struct err *e)
{
	for (size_t i = 0; i < l->manifest.mounts.n; i++) {
		const char *path = l->manifest.mounts.v[i];

		if (is_masked_mount(l, path) && holds_what_comes_back(l, path) &&
		    plan_add(p, OP_SEAL, OP_OPTIONAL, NULL, path, e) < 0)
			return -1;
	}
	return 0;
}

/*
 * A protected path is a mount, so it can't be removed or renamed; but the folders above it
 * could be, and new ones put in their place.  So each of them becomes a mount too.
 */
static int protect(struct plan *p, const char *dir, const char *rel, struct err *e)
{
	cleanup_free char *path = path_join(dir, rel, e);

	if (path == NULL)
		return -1;
	for (char *slash = path + strlen(dir) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		if (!plan_has(p, OP_PIN, path) &&
		    plan_add(p, OP_PIN, OP_OPTIONAL, NULL, path, e) < 0)
			return -1;
		*slash = '/';
	}
	return plan_add(p, OP_READONLY, OP_OPTIONAL, NULL, path, e);
}

/* A worktree's repository: git writes there, and what git outside obeys is protected. */
static int plan_repository(const struct launch *l, struct plan *p, struct err *e)
{
	static const char *const common[] = { "hooks", "config", "config.worktree", "commondir",
					      "info/attributes" };
	static const char *const own[] = { "config.worktree", "commondir", "gitdir" };
	const char *rel;

	if (l->git_common == NULL)
		return 0;
	if (plan_add(p, OP_BIND_RW, 0, l->git_common, l->git_common, e) < 0)
		return -1;
	for (size_t i = 0; i < N_ELEMENTS(common); i++)
		if (protect(p, l->git_common, common[i], e) < 0)
			return -1;
	rel = l->git_dir + strlen(l->git_common) + 1;
	for (size_t i = 0; i < N_ELEMENTS(own); i++) {
		cleanup_free char *path = path_join(rel, own[i], e);

		if (path == NULL || protect(p, l->git_common, path, e) < 0)
			return -1;
	}
	return 0;
}

/* Submodules and worktrees: what git outside obeys is in each of their folders as well. */
static int plan_git_dirs(const struct launch *l, struct plan *p, struct err *e)
{
	static const char *const names[] = { "config", "config.worktree", "commondir",
					     "gitdir", "hooks",           "info/attributes" };
	const char *top = l->git_common != NULL ? l->git_common : l->workspace;

	if (!strlist_has(&l->policy.protect, ".git/config"))
		return 0;
	for (size_t i = 0; i < l->git_dirs.n; i++)
		for (size_t k = 0; k < N_ELEMENTS(names); k++) {
			const char *rel = l->git_dirs.v[i] + strlen(top) + 1;
			cleanup_free char *path = path_join(rel, names[k], e);

			if (path == NULL || protect(p, top, path, e) < 0)
				return -1;
		}
	return 0;
}

static int plan_workspace(const struct launch *l, struct plan *p, struct err *e)
{
	if (plan_add(p, OP_BIND_RW, 0, l->workspace, l->workspace, e) < 0)
		return -1;
	for (size_t i = 0; i < l->policy.protect.n; i++)
		if (protect(p, l->workspace, l->policy.protect.v[i], e) < 0)
			return -1;
	if (plan_repository(l, p, e) < 0)
		return -1;
	return plan_git_dirs(l, p, e);
}

static int plan_masks(const struct launch *l, struct plan *p, struct err *e)
{
	for (size_t i = 0; i < N_ELEMENTS(masked); i++)
		if (plan_add(p, OP_MASK, OP_OPTIONAL, NULL, masked[i], e) < 0)
			return -1;
	for (size_t i = 0; i < l->policy.mask.n; i++)
		if (plan_add(p, OP_MASK, OP_OPTIONAL, NULL, l->policy.mask.v[i], e) < 0)
			return -1;
	for (size_t i = 0; i < N_ELEMENTS(home_secrets); i++)
		if (home_mask(l, p, home_secrets[i], e) < 0)
			return -1;
	return 0;
}

static int add_profiles(const struct launch *l, struct plan *p, struct err *e)
{
	if (plan_add_mode(p, OP_DIR, 0755, RUN_PROFILES, e) < 0)
		return -1;
	for (size_t i = 0; i < l->profiles.n; i++) {
		cleanup_free char *path = NULL;

		if (asprintf(&path, RUN_PROFILES "/%s.conf", l->policy.agents.v[i]) < 0) {
			path = NULL;
			return err_set(e, ENOMEM, "allocate a path");
		}
		if (plan_add_file(p, l->profiles.v[i].text, path, e) < 0)
			return -1;
	}
	return 0;
}

/* The same folder where no hook has made it: what an agent launches in turn goes by it. */
static int add_run_dir(const struct launch *l, struct plan *p, struct err *e)
{
	cleanup_free char *policy = NULL, *manifest = NULL;
	size_t size;
	FILE *f = open_memstream(&policy, &size), *g;

	if (f == NULL)
		return err_set(e, ENOMEM, "allocate the policy");
	(void)policy_print(f, &l->policy);
	if (fclose(f) != 0 || (g = open_memstream(&manifest, &size)) == NULL)
		return err_set(e, ENOMEM, "allocate the policy");
	(void)manifest_print(g, &l->manifest);
	if (fclose(g) != 0)
		return err_set(e, ENOMEM, "allocate the manifest");
	if (plan_add_mode(p, OP_DIR, 0755, RUN_DIR, e) < 0 ||
	    plan_add_mode(p, OP_TMPFS, 0755, RUN_DIR, e) < 0 ||
	    plan_add_file(p, policy, RUN_POLICY, e) < 0 ||
	    plan_add_file(p, manifest, RUN_MANIFEST, e) < 0 || add_profiles(l, p, e) < 0 ||
	    plan_add_mode(p, OP_DIR, 0755, RUN_SESSION, e) < 0)
		return -1;
	return plan_add(p, OP_SEAL, 0, NULL, RUN_DIR, e);
}

/* The hook's folder comes back as it is, but for the namespaces of other launches. */
static int plan_run_dir(const struct launch *l, struct plan *p, struct err *e)
{
	if (!l->hooked)
		return add_run_dir(l, p, e);
	if (plan_add(p, OP_BIND, 0, RUN_DIR, RUN_DIR, e) < 0)
		return -1;
	return plan_add(p, OP_MASK, 0, NULL, RUN_NS, e);
}

/* What only a sandbox has is a mount in that folder. */
static int plan_session(const struct launch *l, struct plan *p, struct err *e)
{
	cleanup_free char *facts = NULL;

	if (asprintf(&facts, "agent = %s\ncommand = %s\n", l->profile.name, l->command) < 0) {
		facts = NULL;
		return err_set(e, ENOMEM, "allocate the session's facts");
	}
	if (plan_run_dir(l, p, e) < 0 || plan_add_mode(p, OP_TMPFS, 0755, RUN_SESSION, e) < 0 ||
	    plan_add_file(p, facts, SESSION_FACTS, e) < 0)
		return -1;
	if (l->gitconfig != NULL && plan_add_file(p, l->gitconfig, SESSION_GITCONFIG, e) < 0)
		return -1;
	if (l->passwd != NULL &&
	    (plan_add_file(p, l->passwd, RUN_SESSION "/passwd", e) < 0 ||
	     plan_add(p, OP_BIND, OP_FROM_NEW, RUN_SESSION "/passwd", "/etc/passwd", e) < 0))
		return -1;
	if (l->group != NULL &&
	    (plan_add_file(p, l->group, RUN_SESSION "/group", e) < 0 ||
	     plan_add(p, OP_BIND, OP_FROM_NEW, RUN_SESSION "/group", "/etc/group", e) < 0))
		return -1;
	if (l->resolv_path != NULL &&
	    (plan_add_file(p, l->resolv_conf, RUN_SESSION "/resolv.conf", e) < 0 ||
	     plan_add(p, OP_BIND, OP_FROM_NEW, RUN_SESSION "/resolv.conf", l->resolv_path, e) < 0))
		return -1;
	return plan_add(p, OP_SEAL, 0, NULL, RUN_SESSION, e);
}

/* The home or a version cache may hide it, and the shim may cover it. */
static int plan_agent(const struct launch *l, struct plan *p, struct err *e)
{
	if (path_is_below(l->agent_at, RUN_DIR))
		return 0;
	return plan_add(p, OP_BIND, 0, l->agent, l->agent_at, e);
}

/**
 * plan_build() - Plan the mounts of a launch
 * @l:		The launch
 * @ret:	Filled on success, untouched on failure; plan_done() releases it
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int plan_build(const struct launch *l, struct plan *ret, struct err *e)
{
	cleanup_plan struct plan p = { 0 };

	if (plan_root(&p, e) < 0 || plan_dev(&p, e) < 0 || plan_proc(&p, e) < 0 ||
	    plan_engine_mounts(l, &p, e) < 0 || plan_private(l, &p, e) < 0 ||
	    plan_home(l, &p, e) < 0 || plan_allowed_mounts(l, &p, e) < 0 ||
	    plan_workspace(l, &p, e) < 0 || plan_masks(l, &p, e) < 0 ||
	    plan_session(l, &p, e) < 0 || plan_agent(l, &p, e) < 0 ||
	    seal_engine_mounts(l, &p, e) < 0)
		return -1;

	*ret = p;
	p = (struct plan){ 0 };
	return 0;
}
