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
 *   allow-write		before workspace and masks, as these hold in what it names; and once
 *				more where it names something in a mask
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
#include "plan_session.h"
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

static int plan_dev(const struct launch *l, struct plan *p, struct err *e)
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
	for (size_t i = 0; i < l->devices.n; i++)
		if (plan_add(p, OP_DEVICE, OP_OPTIONAL, l->devices.v[i].real, l->devices.v[i].named,
			     e) < 0)
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

/* STATE/@store of the container, writable at HOME/@rel of the sandbox, unless that is shared. */
static int home_store(const struct launch *l, struct plan *p, const char *store, const char *rel,
		      struct err *e)
{
	cleanup_free char *source = path_join(l->state, store, e);
	cleanup_free char *target = source != NULL ? path_join(l->home, rel, e) : NULL;

	if (target == NULL)
		return -1;
	return places_have(&l->shared, target) ? 0 : plan_add(p, OP_BIND_RW, 0, source, target, e);
}

/* In a folder that the agent's sessions write, where a name could have become a symlink. */
static int plan_skills(const struct launch *l, struct plan *p, struct err *e)
{
	for (size_t i = 0; i < l->skills.n; i++) {
		const char *name = l->skills.v[i];
		cleanup_free char *source = path_join(SKILLS_DIR, name, e);
		cleanup_free char *target = NULL;

		if (source == NULL)
			return -1;
		if (asprintf(&target, "%s/%s/%s/%s", l->home, l->profile.state, l->profile.skills,
			     name) < 0) {
			target = NULL;
			return err_set(e, ENOMEM, "allocate a path");
		}
		if (plan_add(p, OP_BIND, OP_NO_LINKS, source, target, e) < 0)
			return -1;
	}
	return 0;
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
	    plan_state_masks(l, p, e) < 0 || plan_skills(l, p, e) < 0 ||
	    home_store(l, p, cache, SHARE_CACHE, e) < 0)
		return -1;
	return home_store(l, p, STORE_SKILLS, SHARE_SKILLS, e);
}

/* The developer's data, with the agent's changes in its store: or that alone. */
static int plan_data(const struct launch *l, struct plan *p, struct err *e)
{
	cleanup_free char *data = path_join(l->home, SHARE_DATA, e);
	cleanup_free char *upper = NULL;

	if (data == NULL)
		return -1;
	if (l->share != NULL && l->share_store != NULL)
		return plan_add_overlay(p, l->share, l->share_store, data, e);
	if (l->share != NULL)
		return plan_add(p, OP_BIND, OP_OPTIONAL, l->share, data, e);
	if (l->share_store == NULL)
		return 0;
	upper = path_join(l->share_store, STORE_UPPER, e);
	return upper == NULL ? -1 : plan_add(p, OP_BIND_RW, 0, upper, data, e);
}

static int plan_shared(const struct launch *l, struct plan *p, struct err *e)
{
	for (size_t i = 0; i < l->shared.n; i++)
		if (plan_add(p, OP_BIND_RW, 0, l->shared.v[i].real, l->shared.v[i].named, e) < 0)
			return -1;
	return l->shared.n > 0 ? 0 : plan_data(l, p, e);
}

static int plan_home(const struct launch *l, struct plan *p, struct err *e)
{
	static const char *const tools[] = { ".local/bin/uv", ".local/bin/uvx" };
	static const char *const forges[] = { ".config/gh", ".config/glab-cli" };

	if (plan_shared(l, p, e) < 0)
		return -1;
	for (size_t i = 0; i < N_ELEMENTS(tools); i++)
		if (home_bind(l, p, tools[i], e) < 0)
			return -1;
	for (size_t i = 0; i < l->policy.home_read.n; i++)
		if (home_bind(l, p, l->policy.home_read.v[i], e) < 0)
			return -1;
	for (size_t i = 0; i < N_ELEMENTS(forges) && !l->policy.no_forge; i++)
		if (home_bind(l, p, forges[i], e) < 0)
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

static bool holds_writable(const struct launch *l, const char *path)
{
	for (size_t i = 0; i < l->writable.n; i++)
		if (path_is_below(l->writable.v[i].real, path) ||
		    path_is_below(l->writable.v[i].named, path))
			return true;
	return false;
}

/* The workspace or an allowed mount comes back below it, so a place has to be made there. */
static bool holds_what_comes_back(const struct launch *l, const char *path)
{
	for (size_t i = 0; i < l->policy.allow_mount.n; i++)
		if (path_is_below(l->policy.allow_mount.v[i], path))
			return true;
	return holds_writable(l, path) || path_is_below(l->workspace, path) ||
	       path_is_below(l->home, path) || path_is_below(l->agent_at, path) ||
	       (l->git_common != NULL && path_is_below(l->git_common, path));
}

static int hide(const struct launch *l, struct plan *p, const char *path, struct err *e)
{
	if (!is_masked_mount(l, path))
		return 0;
	if (holds_what_comes_back(l, path))
		return empty_dir(p, path, 0755, e);
	return plan_add(p, OP_MASK, OP_OPTIONAL, NULL, path, e);
}

/* And the state stores, wherever they are: an agent sees its own, and no other's. */
static int plan_engine_mounts(const struct launch *l, struct plan *p, struct err *e)
{
	for (size_t i = 0; i < l->manifest.mounts.n; i++)
		if (hide(l, p, l->manifest.mounts.v[i], e) < 0)
			return -1;
	return strlist_has(&l->manifest.mounts, l->state) ? 0 : hide(l, p, l->state, e);
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

/* Each folder below @dir that is above @path becomes a mount, so that none can be renamed. */
static int pin_between(struct plan *p, const char *dir, const char *path, struct err *e)
{
	cleanup_free char *copy = strdup(path);

	if (copy == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	for (char *slash = copy + strlen(dir) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		if (!plan_has(p, OP_PIN, copy) &&
		    plan_add(p, OP_PIN, OP_OPTIONAL, NULL, copy, e) < 0)
			return -1;
		*slash = '/';
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

	if (path == NULL || pin_between(p, dir, path, e) < 0)
		return -1;
	return plan_add(p, OP_READONLY, OP_OPTIONAL, NULL, path, e);
}

/* By both names, as the symlink that made them two may be in the home, which is an empty one. */
static int add_writable(struct plan *p, const struct place *w, struct err *e)
{
	if (plan_add(p, OP_BIND_RW, 0, w->real, w->real, e) < 0)
		return -1;
	return strcmp(w->real, w->named) == 0 ? 0
					      : plan_add(p, OP_BIND_RW, 0, w->real, w->named, e);
}

/*
 * Before the workspace: what is protected in it stays so.  And neither it nor its repository can be
 * moved away, for another to be put in its place.
 */
static int plan_writable(const struct launch *l, struct plan *p, struct err *e)
{
	for (size_t i = 0; i < l->writable.n; i++) {
		const struct place *w = &l->writable.v[i];

		if (add_writable(p, w, e) < 0 ||
		    (path_is_below(l->workspace, w->real) &&
		     pin_between(p, w->real, l->workspace, e) < 0) ||
		    (l->git_common != NULL && path_is_below(l->git_common, w->real) &&
		     pin_between(p, w->real, l->git_common, e) < 0))
			return -1;
	}
	return 0;
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

static int list_masks(const struct launch *l, struct strlist *ret, struct err *e)
{
	for (size_t i = 0; i < N_ELEMENTS(masked); i++)
		if (strlist_add(ret, masked[i], e) < 0)
			return -1;
	for (size_t i = 0; i < l->policy.mask.n; i++)
		if (strlist_add(ret, l->policy.mask.v[i], e) < 0)
			return -1;
	for (size_t i = 0; i < N_ELEMENTS(home_masked); i++)
		if (strlist_add_fmt(ret, e, "%s/%s", l->home, home_masked[i]) < 0)
			return -1;
	for (size_t i = 0; i < N_ELEMENTS(home_secrets); i++)
		if (strlist_add_fmt(ret, e, "%s/%s", l->home, home_secrets[i]) < 0)
			return -1;
	return 0;
}

/* A mask that something comes back in is a folder that a place can be made in, until the end. */
static int add_mask(const struct launch *l, struct plan *p, const char *path, struct err *e)
{
	if (holds_writable(l, path) || path_is_below(l->agent_at, path))
		return plan_add_mode(p, OP_TMPFS, 0755, path, e);
	return plan_add(p, OP_MASK, OP_OPTIONAL, NULL, path, e);
}

/* One path through a mask: what is masked below it stays so. */
static int unmask(const struct launch *l, struct plan *p, const struct place *w,
		  const struct strlist *masks, struct err *e)
{
	bool is_in_mask = false;

	for (size_t i = 0; i < masks->n; i++)
		is_in_mask |= path_is_at_or_below(w->real, masks->v[i]);
	if (!is_in_mask)
		return 0;
	if (path_is_at_or_below(l->workspace, w->real))
		return err_set(
			e, 0,
			"allow-write: %s holds the workspace, and is masked: it can't be both",
			w->real);
	if (add_writable(p, w, e) < 0)
		return -1;
	for (size_t i = 0; i < masks->n; i++)
		if (path_is_below(masks->v[i], w->real) && add_mask(l, p, masks->v[i], e) < 0)
			return -1;
	return 0;
}

static int plan_masks(const struct launch *l, struct plan *p, struct err *e)
{
	cleanup_strlist struct strlist masks = { 0 };

	if (list_masks(l, &masks, e) < 0)
		return -1;
	for (size_t i = 0; i < masks.n; i++)
		if (add_mask(l, p, masks.v[i], e) < 0)
			return -1;
	for (size_t i = 0; i < l->writable.n; i++)
		if (unmask(l, p, &l->writable.v[i], &masks, e) < 0)
			return -1;
	return 0;
}

static int seal_hidden(const struct launch *l, struct plan *p, const char *path, struct err *e)
{
	if (!is_masked_mount(l, path) || !holds_what_comes_back(l, path))
		return 0;
	return plan_add(p, OP_SEAL, OP_OPTIONAL, NULL, path, e);
}

/* What an agent writes beside its workspace would be lost without a word. */
static int seal(const struct launch *l, struct plan *p, struct err *e)
{
	cleanup_strlist struct strlist masks = { 0 };

	for (size_t i = 0; i < l->manifest.mounts.n; i++)
		if (seal_hidden(l, p, l->manifest.mounts.v[i], e) < 0)
			return -1;
	if (seal_hidden(l, p, l->state, e) < 0)
		return -1;
	if (list_masks(l, &masks, e) < 0)
		return -1;
	for (size_t i = 0; i < masks.n; i++)
		if (plan_has(p, OP_TMPFS, masks.v[i]) &&
		    plan_add(p, OP_SEAL, OP_OPTIONAL, NULL, masks.v[i], e) < 0)
			return -1;
	return 0;
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

	if (plan_root(&p, e) < 0 || plan_dev(l, &p, e) < 0 || plan_proc(&p, e) < 0 ||
	    plan_engine_mounts(l, &p, e) < 0 || plan_private(l, &p, e) < 0 ||
	    plan_home(l, &p, e) < 0 || plan_allowed_mounts(l, &p, e) < 0 ||
	    plan_writable(l, &p, e) < 0 || plan_workspace(l, &p, e) < 0 ||
	    plan_masks(l, &p, e) < 0 || plan_session(l, &p, e) < 0 || plan_agent(l, &p, e) < 0 ||
	    seal(l, &p, e) < 0)
		return -1;

	*ret = p;
	p = (struct plan){ 0 };
	return 0;
}
