/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: A look into the container, which changes nothing
 *
 * Everything is below a root that may be hostile.  What is found is kept as an fd, and what is
 * done about it later is done to that fd.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "io.h"
#include "load.h"
#include "manifest.h"
#include "oci_config.h"
#include "path.h"
#include "root.h"
#include "survey.h"

#define PATH_DEFAULT "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define RESOLV_CONF "/etc/resolv.conf"
#define PASSWD_MAX_BYTES (1024 * 1024)
#define RESOLV_CONF_MAX_BYTES (64 * 1024)

/**
 * survey_identify() - Say which file an fd is
 * @fd:		fd, O_PATH will do
 * @ret:	Filled on success
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int survey_identify(int fd, struct survey_id *ret, struct err *e)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_MNT_ID, &st) < 0)
		return err_set(e, errno, "look at an open file");
	if ((st.stx_mask & STATX_MNT_ID) == 0)
		return err_set(e, ENOTSUP, "the kernel does not number mounts (needs Linux 5.8)");
	*ret = (struct survey_id){
		.mnt = st.stx_mnt_id,
		.dev = ((dev_t)st.stx_dev_major << 32) | st.stx_dev_minor,
		.ino = st.stx_ino,
	};
	return 0;
}

/**
 * survey_same() - Say whether two are the same file, reached through the same mount
 * @a:	One
 * @b:	The other
 *
 * Return: true if they are
 */
bool survey_same(const struct survey_id *a, const struct survey_id *b)
{
	return a->mnt == b->mnt && a->dev == b->dev && a->ino == b->ino;
}

/* ---- PATH ---- */

/* What a program in the container would take: but two of them are two opinions. */
static int find_path(const struct oci_config *c, const char **ret, struct err *e)
{
	const char *found = NULL;

	for (size_t i = 0; i < c->env.n; i++) {
		if (strncmp(c->env.v[i], "PATH=", strlen("PATH=")) != 0)
			continue;
		if (found != NULL)
			return err_set(e, 0, "process.env has PATH twice");
		found = c->env.v[i] + strlen("PATH=");
	}
	*ret = found != NULL ? found : PATH_DEFAULT;
	return 0;
}

static bool has_dir(const struct survey *s, const struct survey_id *id)
{
	for (size_t i = 0; i < s->n_dirs; i++)
		if (survey_same(&s->dirs[i].id, id))
			return true;
	return false;
}

/* @path is taken over, also on failure. */
static int add_dir(struct survey *s, const struct survey_input *in, char *path, struct err *e)
{
	cleanup_free char *taken = path;
	cleanup_fd int fd = root_open(in->root, path, O_PATH | O_DIRECTORY, e);
	struct survey_dir *v;
	struct survey_id id;
	struct stat st;

	if (fd < 0)
		return e->code == ENOENT ? 0 : -1;
	if (survey_identify(fd, &id, e) < 0)
		return -1;
	if (has_dir(s, &id))
		return 0;
	if (fstat(fd, &st) < 0)
		return err_set(e, errno, "look at %s", path);

	v = reallocarray(s->dirs, s->n_dirs + 1, sizeof(*v));
	if (v == NULL)
		return err_set(e, ENOMEM, "allocate the folders of PATH");
	s->dirs = v;
	v[s->n_dirs++] = (struct survey_dir){
		.path = steal_ptr(&taken),
		.fd = steal_fd(&fd),
		.id = id,
		.owned = st.st_uid == in->root_uid && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0,
	};
	return 0;
}

/* One entry of PATH.  A relative one means something else in each folder; ours get mounts. */
static int add_entry(struct survey *s, const struct survey_input *in, const char *entry,
		     struct err *e)
{
	char *path;

	if (entry[0] != '/')
		return 0;
	path = path_clean(entry, e);
	if (path == NULL)
		return -1;
	if (path_is_at_or_below(path, LIBEXEC_DIR) || path_is_at_or_below(path, RUN_DIR)) {
		free(path);
		return 0;
	}
	return add_dir(s, in, path, e);
}

static int survey_path(struct survey *s, const struct survey_input *in, struct err *e)
{
	cleanup_free char *copy = NULL;
	const char *path;
	char *entry, *rest;

	if (find_path(in->config, &path, e) < 0)
		return -1;
	copy = strdup(path);
	if (copy == NULL)
		return err_set(e, ENOMEM, "allocate PATH");
	rest = copy;
	while ((entry = strsep(&rest, ":")) != NULL)
		if (add_entry(s, in, entry, e) < 0)
			return err_wrap(e, "the container's PATH");
	return 0;
}

/* ---- agents ---- */

/**
 * survey_path_in_root() - Path of an open file as a process of the container has it
 * @root:	The container's root
 * @fd:		File below it
 * @e:		Set on failure
 *
 * Return: path owned by the caller, NULL on failure
 */
char *survey_path_in_root(int root, int fd, struct err *e)
{
	char link[64], top[PATH_MAX], path[PATH_MAX];
	ssize_t n_top, n;
	size_t cut;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", root);
	n_top = readlink(link, top, sizeof(top) - 1);
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n_top <= 0 || n <= 0 || n == sizeof(path) - 1) {
		(void)err_set(e, n_top < 0 || n < 0 ? errno : ENAMETOOLONG, "read %s", link);
		return NULL;
	}
	top[n_top] = '\0';
	path[n] = '\0';
	if (!path_is_below(path, top)) {
		(void)err_set(e, 0, "%s is outside the container's root %s", path, top);
		return NULL;
	}
	cut = n_top == 1 ? 0 : (size_t)n_top;
	return strdup(path + cut);
}

static bool is_runnable(const struct stat *st)
{
	return S_ISREG(st->st_mode) && (st->st_mode & 0111) != 0;
}

/* Where the symlink at @path ends, if that can be run. */
static int follow(const struct survey_input *in, const char *path, struct survey_found *f,
		  struct err *e)
{
	cleanup_fd int fd = root_open(in->root, path, O_PATH, e);
	struct stat st;

	if (fd < 0)
		return e->code == ENOENT || e->code == ENOTDIR || e->code == ELOOP ? 0 : -1;
	if (fstat(fd, &st) < 0)
		return err_set(e, errno, "look at %s", path);
	f->runnable = is_runnable(&st);
	if (!f->runnable)
		return 0;
	if (survey_identify(fd, &f->target_id, e) < 0)
		return -1;
	f->real = survey_path_in_root(in->root, fd, e);
	if (f->real == NULL)
		return -1;
	f->target = steal_fd(&fd);
	return 0;
}

static int add_found(struct survey *s, const struct survey_found *f, struct err *e)
{
	struct survey_found *v = reallocarray(s->found, s->n_found + 1, sizeof(*v));

	if (v == NULL)
		return err_set(e, ENOMEM, "allocate the agents");
	s->found = v;
	v[s->n_found++] = *f;
	return 0;
}

static void found_done(struct survey_found *f)
{
	close_p(&f->fd);
	close_p(&f->target);
	free(f->real);
}

/* What folder @dir has under the name @command, if anything. */
static int look_for(struct survey *s, const struct survey_input *in, size_t dir,
		    const char *command, struct err *e)
{
	cleanup_free char *path = path_join(s->dirs[dir].path, command, e);
	CLEANUP(found_done)
	struct survey_found f = { .dir = dir, .command = command, .fd = -1, .target = -1 };
	struct stat st;

	if (path == NULL)
		return -1;
	f.fd = openat(s->dirs[dir].fd, command, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (f.fd < 0)
		return errno == ENOENT ? 0 : err_set(e, errno, "open %s", path);
	if (fstat(f.fd, &st) < 0)
		return err_set(e, errno, "look at %s", path);
	f.type = st.st_mode & S_IFMT;
	f.runnable = is_runnable(&st);
	if (survey_identify(f.fd, &f.id, e) < 0)
		return err_wrap(e, "%s", path);
	if (f.type == S_IFLNK && follow(in, path, &f, e) < 0)
		return -1;
	if (add_found(s, &f, e) < 0)
		return -1;
	f = (struct survey_found){ .fd = -1, .target = -1 };
	return 0;
}

static int look_everywhere(struct survey *s, const struct survey_input *in, const char *command,
			   struct err *e)
{
	for (size_t d = 0; d < s->n_dirs; d++)
		if (look_for(s, in, d, command, e) < 0)
			return -1;
	return 0;
}

static int survey_agents(struct survey *s, const struct survey_input *in, struct err *e)
{
	for (size_t i = 0; i < in->profiles->n; i++) {
		const struct strlist *commands = &in->profiles->v[i].profile.commands;

		for (size_t c = 0; c < commands->n; c++)
			if (look_everywhere(s, in, commands->v[c], e) < 0)
				return -1;
	}
	return look_everywhere(s, in, CLI_COMMAND, e);
}

/* ---- resolv.conf ---- */

static const struct oci_mount *find_resolv_conf(const struct oci_config *c)
{
	const struct oci_mount *found = NULL;

	for (size_t i = 0; i < c->n_mounts; i++)
		if (strcmp(c->mounts[i].destination, RESOLV_CONF) == 0)
			found = &c->mounts[i]; /* the last one is on top */
	return found;
}

/* Before the runtime has mounted it, it is where the engine keeps it. */
static int open_source(const struct oci_mount *m, const char *bundle, struct err *e)
{
	cleanup_free char *path = NULL;
	int fd;

	if (m->source == NULL)
		return err_set(e, 0, "mount %s has no source", RESOLV_CONF);
	path = m->source[0] == '/' ? strdup(m->source) : path_join(bundle, m->source, e);
	if (path == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_set(e, errno, "open %s", path);
	return fd;
}

/*
 * Is this the file that was mounted?  Another mount may be on top of the folder, or of the
 * symlink that led to it; then it is not the engine's any more.
 */
static int is_mount(int fd, bool *ret, struct err *e)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st) < 0)
		return err_set(e, errno, "look at %s", RESOLV_CONF);
	*ret = (st.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
	return 0;
}

/* The image's own says nothing: it would open what its author likes. */
static int survey_resolv_conf(struct survey *s, const struct survey_input *in, struct err *e)
{
	const struct oci_mount *m = find_resolv_conf(in->config);
	cleanup_fd int fd = -1;
	bool mounted = true;
	struct stat st;

	if (m == NULL)
		return 0;
	if (in->bundle != NULL)
		fd = open_source(m, in->bundle, e);
	else
		fd = root_open(in->root, RESOLV_CONF, O_RDONLY | O_NONBLOCK | O_NOCTTY, e);
	if (fd < 0 || (in->bundle == NULL && is_mount(fd, &mounted, e) < 0))
		return -1;
	if (!mounted)
		return err_set(e, 0,
			       "the container's %s is not the engine's, which is hidden by "
			       "another mount or a symlink",
			       RESOLV_CONF);
	if (fstat(fd, &st) < 0)
		return err_set(e, errno, "look at %s", RESOLV_CONF);
	if (!S_ISREG(st.st_mode))
		return err_set(e, 0, "the container's %s is not a regular file", RESOLV_CONF);
	s->resolv_conf = read_fd(fd, RESOLV_CONF_MAX_BYTES, e);
	if (s->resolv_conf == NULL)
		return err_wrap(e, "the container's %s", RESOLV_CONF);
	return 0;
}

/* For numbers of groups alone: what can't be read is as good as what isn't there. */
static void survey_passwd(struct survey *s, const struct survey_input *in)
{
	struct err ignored;
	cleanup_fd int fd =
		root_open(in->root, "/etc/passwd", O_RDONLY | O_NONBLOCK | O_NOCTTY, &ignored);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		s->passwd = read_fd(fd, PASSWD_MAX_BYTES, &ignored);
}

/**
 * survey_make() - Look into a container
 * @in:		Where, and for what
 * @ret:	Filled on success, untouched on failure; borrows the commands of the profiles
 * @e:		Set on failure
 *
 * Folders of PATH that are missing are left out, like relative and empty entries.
 *
 * Return: 0 on success, -1 on failure
 */
int survey_make(const struct survey_input *in, struct survey *ret, struct err *e)
{
	cleanup_survey struct survey s = { 0 };

	if (survey_path(&s, in, e) < 0 || survey_agents(&s, in, e) < 0 ||
	    survey_resolv_conf(&s, in, e) < 0)
		return -1;
	survey_passwd(&s, in);

	*ret = s;
	s = (struct survey){ 0 };
	return 0;
}

/**
 * survey_done() - Release a survey; it is empty afterwards
 * @s:		Survey
 */
void survey_done(struct survey *s)
{
	for (size_t i = 0; i < s->n_dirs; i++) {
		close_p(&s->dirs[i].fd);
		free(s->dirs[i].path);
	}
	free(s->dirs);
	for (size_t i = 0; i < s->n_found; i++)
		found_done(&s->found[i]);
	free(s->found);
	free(s->resolv_conf);
	free(s->passwd);
	*s = (struct survey){ 0 };
}
