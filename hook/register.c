/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Having podman call the hook
 *
 * A file for each stage in a hooks folder.  Root's is one that podman reads anyway; a user has his
 * own, and a drop-in of containers.conf says so.  Files are replaced in one step: podman may read
 * them meanwhile.  A file that somebody else wrote is never changed.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "hook.h"
#include "hooks_d.h"
#include "installed.h"
#include "io.h"
#include "path.h"
#include "podman.h"
#include "register.h"
#include "root.h"
#include "strlist.h"
#include "trusted.h"

/**
 * struct place - a file of ours
 * @path:	Path, owned
 * @name:	Its last component, within @path
 * @text:	What it has to say, owned
 * @size:	Of @text
 */
struct place {
	char *path;
	const char *name;
	char *text;
	size_t size;
};

static void place_done(struct place *p)
{
	free(p->path);
	free(p->text);
}

#define cleanup_place CLEANUP(place_done)

/* ---- what the files say ---- */

static int print_description(FILE *f, const struct hook_paths *paths, const char *stage,
			     struct err *e)
{
	cleanup_strlist struct strlist args = { 0 };

	if (strlist_add(&args, "oci-sandbox-hook", e) < 0)
		return -1;
	if (strcmp(paths->config, SYSCONFDIR) != 0 &&
	    (strlist_add(&args, "--config", e) < 0 || strlist_add(&args, paths->config, e) < 0))
		return -1;
	if (strcmp(paths->libexec, PKGLIBEXECDIR) != 0 &&
	    (strlist_add(&args, "--libexec", e) < 0 || strlist_add(&args, paths->libexec, e) < 0))
		return -1;
	if (strlist_add(&args, stage, e) < 0)
		return -1;
	return hooks_d_print(f, paths->self, &args, stage, e);
}

static int print_create(FILE *f, const struct hook_paths *paths, struct err *e)
{
	return print_description(f, paths, "createRuntime", e);
}

static int print_poststart(FILE *f, const struct hook_paths *paths, struct err *e)
{
	return print_description(f, paths, "poststart", e);
}

/* The list takes the place of podman's own, whose one folder comes along. */
static int print_drop_in(FILE *f, const struct hook_paths *paths, struct err *e)
{
	(void)fputs("# made by: oci-sandbox-hook --register podman\n[engine]\n"
		    "hooks_dir = [\"" PODMAN_HOOKS_DIR "\", ",
		    f);
	if (hooks_d_print_string(f, paths->hooks_dir, e) < 0)
		return -1;
	(void)fputs("]\n", f);
	return 0;
}

/* Takes @path over. */
static int place_fill(struct place *ret, char *path, const struct hook_paths *paths,
		      int (*print)(FILE *, const struct hook_paths *, struct err *), struct err *e)
{
	FILE *f;
	int failed;

	if (path == NULL)
		return -1;
	ret->path = path;
	ret->name = strrchr(path, '/') + 1;
	f = open_memstream(&ret->text, &ret->size);
	if (f == NULL)
		return err_set(e, errno, "allocate a file");
	failed = print(f, paths, e);
	if (fclose(f) != 0)
		return err_set(e, errno, "allocate a file");
	return failed;
}

/* ---- files ---- */

/* The folder of a file, which is made if it isn't there. */
static int open_dir(const struct place *p, struct err *e)
{
	cleanup_free char *dir = strndup(p->path, (size_t)(p->name - p->path - 1));
	cleanup_fd int slash = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int made = -1;

	if (dir == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	if (slash < 0)
		return err_set(e, errno, "open /");
	made = root_mkdirs(slash, dir, 0755, NULL, e);
	if (made < 0)
		return -1;
	return trusted_open(dir, O_RDONLY | O_DIRECTORY, S_IFDIR, e);
}

static int write_new(int dir, const char *name, const struct place *p, struct err *e)
{
	cleanup_fd int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd < 0)
		return err_set(e, errno, "make %s", name);
	if (write_all(fd, p->text, p->size, e) < 0)
		return -1;
	if (fsync(fd) < 0)
		return err_set(e, errno, "write %s", name);
	return 0;
}

static int replace(const struct place *p, struct err *e)
{
	cleanup_fd int dir = open_dir(p, e);
	cleanup_free char *name = NULL;
	int failed;

	if (dir < 0)
		return -1;
	/* With a dot, and no .json at its end: nobody reads it as what it isn't yet */
	if (asprintf(&name, ".%s.new", p->name) < 0) {
		name = NULL;
		return err_set(e, ENOMEM, "allocate a name");
	}
	if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		return err_set(e, errno, "remove %s", name);
	failed = write_new(dir, name, p, e);
	if (failed == 0 && renameat(dir, name, dir, p->name) < 0)
		failed = err_set(e, errno, "rename %s", name);
	if (failed < 0) {
		(void)unlinkat(dir, name, 0);
		return err_wrap(e, "%s", p->path);
	}
	return 0;
}

/* @ret_text is NULL if there is no file. */
static int read_old(const struct place *p, char **ret_text, struct err *e)
{
	char *text = read_path(p->path, HOOKS_D_MAX_BYTES, e);

	if (text == NULL && e->code != ENOENT)
		return -1;
	if (text == NULL)
		*e = (struct err){ 0 };
	*ret_text = text;
	return 0;
}

static int put(const struct place *p, const char *does, FILE *out, struct err *e)
{
	cleanup_free char *old = NULL;
	const char *what = "wrote";

	if (read_old(p, &old, e) < 0)
		return -1;
	if (old != NULL && strcmp(old, p->text) == 0)
		what = "already there:";
	else if (replace(p, e) < 0)
		return -1;
	else if (old != NULL)
		what = "replaced";
	(void)fprintf(out, "%s %s, which %s\n", what, p->path, does);
	return 0;
}

static int take_back(const struct place *p, bool only_ours, FILE *out, struct err *e)
{
	cleanup_free char *old = NULL;

	if (read_old(p, &old, e) < 0)
		return -1;
	if (old == NULL) {
		(void)fprintf(out, "not there: %s\n", p->path);
		return 0;
	}
	if (only_ours && strcmp(old, p->text) != 0)
		return err_set(e, 0,
			       "%s is not as it was written: take out of it by hand what is not "
			       "wanted",
			       p->path);
	if (unlink(p->path) < 0)
		return err_set(e, errno, "remove %s", p->path);
	(void)fprintf(out, "removed %s\n", p->path);
	return 0;
}

/* ---- podman's configuration ---- */

/* A drop-in is needed by a user's podman, unless files of his own name the folder already. */
static int tell_podman(const struct hook_paths *paths, FILE *out, struct err *e)
{
	cleanup_place struct place drop_in = { 0 };
	cleanup_free char *lacking = NULL;
	const char *only = podman_only_conf();
	enum podman_dirs dirs;

	if (podman_find_dir(paths->hooks_dir, &dirs, &lacking, e) < 0)
		return -1;
	if (dirs == PODMAN_DIRS_LACKING)
		return err_set(e, 0,
			       "podman does not read the folder yet: %s has a hooks_dir that lacks "
			       "it; add \"%s\" to that list",
			       lacking, paths->hooks_dir);
	if (dirs == PODMAN_DIRS_DEFAULT && geteuid() != 0 && only != NULL)
		return err_set(e, 0,
			       "podman does not read the folder yet: CONTAINERS_CONF has it read "
			       "%s alone; add below [engine] there: hooks_dir = [\"%s\"]",
			       only, paths->hooks_dir);
	if (geteuid() == 0)
		return 0;
	if (place_fill(&drop_in, podman_drop_in(e), paths, print_drop_in, e) < 0)
		return -1;
	/* NAMED may be by the drop-in itself, of now or of an older version */
	if (dirs == PODMAN_DIRS_NAMED && access(drop_in.path, F_OK) < 0)
		return 0;
	return put(&drop_in, "has podman read that folder", out, e);
}

/* Whoever can write the program decides what runs as the engine's user. */
static int check_self(const struct hook_paths *paths, struct err *e)
{
	cleanup_fd int fd = trusted_open(paths->self, O_PATH, S_IFREG, e);

	return fd < 0 ? err_wrap(e, "the hook itself") : 0;
}

/* @ret is @paths with a clean folder, which @ret_dir owns. */
static int settle_dir(const struct hook_paths *paths, struct hook_paths *ret, char **ret_dir,
		      struct err *e)
{
	*ret_dir = paths->hooks_dir != NULL ? path_clean(paths->hooks_dir, e) : podman_hooks_dir(e);
	if (*ret_dir == NULL)
		return -1;
	*ret = *paths;
	ret->hooks_dir = *ret_dir;
	return 0;
}

/* The hook stops containers for want of a policy: better said here than there. */
static void say_policy(const struct hook_paths *paths, FILE *out)
{
	struct err why = { 0 };

	if (installed_policy(paths, &why) == 0)
		return;
	err_make_printable(&why);
	(void)fprintf(out, "warning: %s\n", why.msg);
}

/**
 * struct descriptions - the files of the two stages
 * @create:	createRuntime
 * @poststart:	poststart
 */
struct descriptions {
	struct place create;
	struct place poststart;
};

static void descriptions_done(struct descriptions *d)
{
	place_done(&d->create);
	place_done(&d->poststart);
}

#define cleanup_descriptions CLEANUP(descriptions_done)

static int fill_descriptions(struct descriptions *ret, const struct hook_paths *paths,
			     struct err *e)
{
	if (place_fill(&ret->create, path_join(paths->hooks_dir, REGISTER_FILE, e), paths,
		       print_create, e) < 0)
		return -1;
	return place_fill(&ret->poststart, path_join(paths->hooks_dir, REGISTER_FILE_POSTSTART, e),
			  paths, print_poststart, e);
}

/*
 * poststart refuses containers that createRuntime was not called for: it comes last, and goes
 * first.
 */
static int put_descriptions(const struct descriptions *d, FILE *out, struct err *e)
{
	if (put(&d->create, "has podman call the hook", out, e) < 0)
		return -1;
	return put(&d->poststart, "has podman call it again once a container was started", out, e);
}

static int take_descriptions_back(const struct descriptions *d, FILE *out, struct err *e)
{
	if (take_back(&d->poststart, false, out, e) < 0)
		return -1;
	return take_back(&d->create, false, out, e);
}

/**
 * register_podman() - Have podman call the hook for every container
 * @paths:	Where things are on the host; without hooks_dir, where podman looks by default
 * @out:	Where to say what was done
 * @e:		Set on failure
 *
 * What was written stays when podman's configuration is somebody else's and lacks the folder:
 * once that is put right, the next call succeeds.
 *
 * Return: 0 on success, also if all of it was there; -1 on failure
 */
int register_podman(const struct hook_paths *paths, FILE *out, struct err *e)
{
	cleanup_descriptions struct descriptions descriptions = { 0 };
	cleanup_free char *dir = NULL;
	struct hook_paths own;

	if (check_self(paths, e) < 0 || settle_dir(paths, &own, &dir, e) < 0 ||
	    fill_descriptions(&descriptions, &own, e) < 0 ||
	    put_descriptions(&descriptions, out, e) < 0)
		return -1;
	say_policy(paths, out);
	if (paths->hooks_dir == NULL)
		return tell_podman(&own, out, e);
	if (strcmp(dir, PODMAN_HOOKS_DIR) != 0)
		(void)fprintf(out,
			      "podman reads %s if it is told: podman --hooks-dir %s, or hooks_dir "
			      "in containers.conf\n",
			      dir, dir);
	return 0;
}

/**
 * unregister_podman() - Take back what register_podman() wrote
 * @paths:	As for register_podman()
 * @out:	Where to say what was done
 * @e:		Set on failure
 *
 * Return: 0 on success, also if there was nothing; -1 on failure
 */
int unregister_podman(const struct hook_paths *paths, FILE *out, struct err *e)
{
	cleanup_descriptions struct descriptions descriptions = { 0 };
	cleanup_place struct place drop_in = { 0 };
	cleanup_free char *dir = NULL;
	struct hook_paths own;

	if (settle_dir(paths, &own, &dir, e) < 0 || fill_descriptions(&descriptions, &own, e) < 0 ||
	    take_descriptions_back(&descriptions, out, e) < 0)
		return -1;
	if (paths->hooks_dir != NULL || geteuid() == 0)
		return 0;
	if (place_fill(&drop_in, podman_drop_in(e), &own, print_drop_in, e) < 0)
		return -1;
	return take_back(&drop_in, true, out, e);
}
