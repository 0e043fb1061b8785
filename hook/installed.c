/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What has to be installed on the host
 *
 * Looked at as a container's start does it; and as podman does it, which leaves a hook out
 * without a word when its program is missing.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pwd.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "err.h"
#include "hook.h"
#include "hooks_d.h"
#include "installed.h"
#include "io.h"
#include "libexec.h"
#include "load.h"
#include "path.h"
#include "podman.h"
#include "register.h"
#include "strlist.h"
#include "survey.h"

#define SUBID_MAX_BYTES (1024 * 1024)

/* ---- programs ---- */

static int read_elf(int fd, ElfW(Ehdr) * ret, struct err *e)
{
	if (pread(fd, ret, sizeof(*ret), 0) != sizeof(*ret) ||
	    memcmp(ret->e_ident, ELFMAG, SELFMAG) != 0)
		return err_set(e, ENOEXEC, "not a program");
	return 0;
}

/* It runs in foreign root file systems: without a loader, and on the same processor as we. */
static int check_elf(int fd, struct err *e)
{
	cleanup_fd int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ElfW(Ehdr) shim, own;
	ElfW(Phdr) segment;

	if (self < 0)
		return err_set(e, errno, "open /proc/self/exe");
	if (read_elf(fd, &shim, e) < 0 || read_elf(self, &own, e) < 0)
		return -1;
	if (shim.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] || shim.e_machine != own.e_machine)
		return err_set(e, 0, "it is for another kind of machine");
	for (unsigned i = 0; i < shim.e_phnum; i++) {
		off_t at = (off_t)(shim.e_phoff + i * sizeof(segment));

		if (pread(fd, &segment, sizeof(segment), at) != sizeof(segment))
			return err_set(e, ENOEXEC, "not a program");
		if (segment.p_type == PT_INTERP)
			return err_set(e, 0,
				       "it is linked dynamically, and needs libraries that a "
				       "container may not have");
	}
	return 0;
}

static int check_program(const struct hook_paths *paths, int dir, const char *name, struct err *e)
{
	cleanup_fd int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	/* access(2) also says whether the file system is mounted noexec */
	if (fd < 0 || faccessat(dir, name, X_OK, 0) < 0)
		return err_set(e, errno, "%s/%s", paths->libexec, name);
	if (check_elf(fd, e) < 0)
		return err_wrap(e, "%s/%s", paths->libexec, name);
	return 0;
}

int installed_programs(const struct hook_paths *paths, struct err *e)
{
	struct survey_id id;
	cleanup_fd int dir = libexec_open(paths->libexec, &id, e);

	if (dir < 0 || check_program(paths, dir, LIBEXEC_SHIM, e) < 0)
		return -1;
	return check_program(paths, dir, LIBEXEC_CLI, e);
}

/* ---- configuration ---- */

int installed_policy(const struct hook_paths *paths, struct err *e)
{
	cleanup_policy struct policy policy = { 0 };
	bool missing;

	if (load_policy(paths->config, &policy, &missing, e) < 0)
		return -1;
	if (!missing)
		return 0;
	(void)err_set(e, 0,
		      "there is no %s/policy.conf (an empty one has the defaults), so containers "
		      "that ask are stopped",
		      paths->config);
	return INSTALLED_WARNING;
}

int installed_profiles(const struct hook_paths *paths, struct err *e)
{
	cleanup_policy struct policy policy = { 0 };
	cleanup_loaded_profiles struct loaded_profiles profiles = { 0 };
	bool missing;

	if (load_policy(paths->config, &policy, &missing, e) < 0 || missing) {
		(void)err_set(e, 0, "no policy says which");
		return INSTALLED_WARNING;
	}
	return load_profiles(paths->config, &policy, &profiles, e);
}

/* ---- podman ---- */

/**
 * struct registered - the description of one stage
 * @file:	Its name in the hooks folder
 * @stage:	The stage
 * @is_at:	Does a description name it?
 * @missing:	What comes of it if none does
 */
struct registered {
	const char *file;
	const char *stage;
	bool (*is_at)(const struct hooks_d *h);
	const char *missing;
};

static bool is_at_create(const struct hooks_d *h)
{
	return h->at_create;
}

static bool is_at_poststart(const struct hooks_d *h)
{
	return h->at_poststart;
}

static const struct registered at_create = { REGISTER_FILE, "createRuntime", is_at_create,
					     "podman does not call the hook" };
static const struct registered at_poststart = {
	REGISTER_FILE_POSTSTART, "poststart", is_at_poststart,
	"a network that is configured after the hook is never finished"
};

/* A folder's description of this hook; @ret_text is NULL if it has none. */
static int read_description(const char *dir, const char *file, char **ret_text, struct err *e)
{
	cleanup_free char *path = path_join(dir, file, e);

	if (path == NULL)
		return -1;
	*ret_text = read_path(path, HOOKS_D_MAX_BYTES, e);
	return *ret_text == NULL && e->code != ENOENT ? -1 : 0;
}

static int check_always(const char *dir, const struct registered *r, const struct hooks_d *h,
			struct err *e)
{
	if (h->always)
		return 0;
	(void)err_set(e, 0, "%s/%s does not say `\"always\": true`: some containers are left out",
		      dir, r->file);
	return INSTALLED_WARNING;
}

/* The stage in the arguments, which is what the hook goes by; prestart is another name. */
static int check_stage(const char *dir, const struct registered *r, const struct hooks_d *h,
		       struct err *e)
{
	const char *command = h->command != NULL ? h->command : "no stage";

	if (!r->is_at(h))
		return err_set(e, 0, "%s/%s does not name the stage %s", dir, r->file, r->stage);
	if (strcmp(command, r->stage) != 0 && (r != &at_create || strcmp(command, "prestart") != 0))
		return err_set(e, 0, "%s/%s tells the hook `%s` at the stage %s", dir, r->file,
			       command, r->stage);
	return 0;
}

static int check_description(const char *dir, const struct registered *r, const char *text,
			     struct err *e)
{
	cleanup_hooks_d struct hooks_d h = { 0 };
	struct stat is, own;

	if (hooks_d_parse(text, &h, e) < 0)
		return err_wrap(e, "%s/%s", dir, r->file);
	if (access(h.path, X_OK) < 0)
		return err_set(e, errno, "%s/%s calls %s, and podman goes on without", dir, r->file,
			       h.path);
	if (stat(h.path, &is) < 0 || stat("/proc/self/exe", &own) < 0)
		return err_set(e, errno, "look at %s", h.path);
	if (check_stage(dir, r, &h, e) < 0)
		return -1;
	if (is.st_dev == own.st_dev && is.st_ino == own.st_ino)
		return check_always(dir, r, &h, e);
	(void)err_set(e, 0, "%s/%s calls %s, which is not this program", dir, r->file, h.path);
	return INSTALLED_WARNING;
}

static int warn_missing(const char *dir, const struct registered *r, struct err *e)
{
	(void)err_set(e, 0, "%s has no %s, so %s", dir, r->file, r->missing);
	return INSTALLED_WARNING;
}

/*
 * A folder's descriptions.  @ret_found is false if it has none.  poststart alone refuses every
 * container that asks.
 */
static int check_folder(const char *dir, bool *ret_found, struct err *e)
{
	cleanup_free char *create = NULL, *poststart = NULL;
	int ret;

	if (read_description(dir, REGISTER_FILE, &create, e) < 0 ||
	    read_description(dir, REGISTER_FILE_POSTSTART, &poststart, e) < 0)
		return -1;
	*ret_found = create != NULL || poststart != NULL;
	if (!*ret_found)
		return 0;
	if (create == NULL)
		return err_set(e, 0, "%s has %s and no %s, so each container that asks is stopped",
			       dir, REGISTER_FILE_POSTSTART, REGISTER_FILE);
	ret = check_description(dir, &at_create, create, e);
	if (ret != 0)
		return ret;
	if (poststart == NULL)
		return warn_missing(dir, &at_poststart, e);
	return check_description(dir, &at_poststart, poststart, e);
}

static int check_is_read(const char *dir, struct err *e)
{
	cleanup_free char *lacking = NULL;
	enum podman_dirs dirs;

	if (podman_find_dir(dir, &dirs, &lacking, e) < 0)
		return -1;
	if (dirs == PODMAN_DIRS_LACKING)
		return err_set(e, 0, "podman does not read %s, since %s has a hooks_dir without it",
			       dir, lacking);
	if (dirs == PODMAN_DIRS_DEFAULT && strcmp(dir, PODMAN_HOOKS_DIR) != 0)
		return err_set(e, 0, "podman does not read %s: no hooks_dir names it", dir);
	return 0;
}

/* The folders that the hook may be registered in, the first that has it counts. */
static int list_dirs(const struct hook_paths *paths, struct strlist *ret, struct err *e)
{
	cleanup_free char *own = NULL;

	if (paths->hooks_dir != NULL)
		return strlist_add(ret, paths->hooks_dir, e);
	own = podman_hooks_dir(e);
	if (own == NULL || strlist_add(ret, own, e) < 0)
		return -1;
	return strlist_add(ret, PODMAN_HOOKS_DIR, e);
}

int installed_podman(const struct hook_paths *paths, struct err *e)
{
	cleanup_strlist struct strlist dirs = { 0 };

	if (list_dirs(paths, &dirs, e) < 0)
		return -1;
	for (size_t i = 0; i < dirs.n; i++) {
		bool found = false;
		int ret = check_folder(dirs.v[i], &found, e);

		if (ret == 0 && !found)
			continue;
		if (ret == 0 && paths->hooks_dir == NULL)
			ret = check_is_read(dirs.v[i], e);
		return ret;
	}
	return warn_missing(dirs.v[0], &at_create, e);
}

/* ---- a user's ids ---- */

static bool has_range(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
		line += strspn(line, "\n");
		if (strncmp(line, name, n) == 0 && line[n] == ':')
			return true;
	}
	return false;
}

static int check_range(const char *path, const char *name, const char *uid, struct err *e)
{
	cleanup_free char *text = read_path(path, SUBID_MAX_BYTES, e);

	if (text == NULL)
		return -1;
	if (has_range(text, name) || has_range(text, uid))
		return 0;
	return err_set(e, 0, "%s has no line for %s", path, name);
}

int installed_ids(const struct hook_paths *paths, struct err *e)
{
	const struct passwd *pw;
	char uid[16];

	(void)paths;
	pw = getpwuid(geteuid());
	(void)snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());
	if (check_range("/etc/subuid", pw != NULL ? pw->pw_name : uid, uid, e) < 0 ||
	    check_range("/etc/subgid", pw != NULL ? pw->pw_name : uid, uid, e) < 0)
		return INSTALLED_WARNING;
	if (access("/usr/bin/newuidmap", X_OK) < 0 || access("/usr/bin/newgidmap", X_OK) < 0) {
		(void)err_set(e, errno, "newuidmap and newgidmap in /usr/bin");
		return INSTALLED_WARNING;
	}
	return 0;
}
