/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Which containers are under protection
 *
 * Each is found by its processes, so it does not matter which engine, runtime or user started it.
 * Its root may be hostile, and its processes may end meanwhile: what is known of one is read
 * through an fd of its folder in /proc, which leads to no other process, and below its root.
 *
 * What says that a container is ours is nothing that an image can bring: a read-only tmpfs that
 * container root owns, the very folder of programs that the host has, and a manifest that names
 * the mount namespace that it was found in.  A sandbox of an agent has the first two, and another
 * mount namespace.
 */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "containers.h"
#include "id_map.h"
#include "io.h"
#include "root.h"

#define ID_MAP_MAX_BYTES (64 * 1024)
#define MOUNTINFO_MAX_BYTES (16 * 1024 * 1024)
#define UNKNOWN_MAX 100 /* a hostile container can make as many as it likes */

/**
 * struct search - what is known while /proc is walked
 * @ret:	What was found
 * @libexec:	The host's folder of programs
 * @own_mnt:	Own mount namespace
 * @own_user:	Own user namespace
 */
struct search {
	struct containers *ret;
	struct stat libexec;
	ino_t own_mnt;
	ino_t own_user;
};

static void container_done(struct container *c)
{
	close_p(&c->proc);
	run_dir_done(&c->run);
	counters_done(&c->counters);
}

/* ---- what can't be told ---- */

static int add_unknown(struct search *s, pid_t pid, dev_t dev, const char *why, struct err *e)
{
	struct containers *c = s->ret;
	struct unknown *v;
	char *copy;

	for (size_t i = 0; i < c->n_unknown; i++)
		if (c->unknown[i].dev == dev)
			return 0;
	if (c->n_unknown == UNKNOWN_MAX)
		return 0;
	copy = strdup(why);
	v = reallocarray(c->unknown, c->n_unknown + 1, sizeof(*v));
	if (v != NULL)
		c->unknown = v;
	if (v == NULL || copy == NULL) {
		free(copy);
		return err_set(e, ENOMEM, "allocate processes");
	}
	v[c->n_unknown++] = (struct unknown){ .pid = pid, .dev = dev, .why = copy };
	return 0;
}

/* proc(5): does mountinfo have a tmpfs at RUN_DIR? */
static bool has_run_dir(const char *mountinfo, dev_t *ret)
{
	for (const char *line = mountinfo; *line != '\0';) {
		size_t n = strcspn(line, "\n");
		unsigned high, low;
		char path[64], type[16];
		const char *dash = memmem(line, n, " - ", 3);

		if (dash != NULL &&
		    sscanf(line, "%*d %*d %u:%u %*s %63s", &high, &low, path) == 3 &&
		    sscanf(dash, " - %15s", type) == 1 && strcmp(path, RUN_DIR) == 0 &&
		    strcmp(type, "tmpfs") == 0) {
			*ret = makedev(high, low);
			return true;
		}
		line += n + (line[n] == '\n');
	}
	return false;
}

/* Everybody may read which mounts a process has, and nothing else. */
static int look_from_outside(struct search *s, pid_t pid, int proc, struct err *e)
{
	cleanup_fd int fd = openat(proc, "mountinfo", O_RDONLY | O_CLOEXEC);
	struct err ignored;
	cleanup_free char *text = fd < 0 ? NULL : read_fd(fd, MOUNTINFO_MAX_BYTES, &ignored);
	dev_t dev;

	if (text == NULL || !has_run_dir(text, &dev))
		return 0;
	return add_unknown(s, pid, dev, "it is another user's: you may not look into it", e);
}

/* ---- a process ---- */

/* Of container root, as this process sees it */
static int find_owner(const struct search *s, int proc, uid_t *ret, struct err *e)
{
	cleanup_fd int fd = -1;
	cleanup_free char *map = NULL;
	struct stat st;

	*ret = 0;
	if (fstatat(proc, "ns/user", &st, 0) < 0)
		return err_set(e, errno, "look at its user namespace");
	if (st.st_ino == s->own_user)
		return 0;
	fd = openat(proc, "uid_map", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "open its uid_map");
	map = read_fd(fd, ID_MAP_MAX_BYTES, e);
	if (map == NULL)
		return -1;
	return id_map_outside(map, 0, ret) ? 0 : err_set(e, 0, "it has no root");
}

static bool has_our_programs(const struct search *s, int root)
{
	struct err ignored;
	cleanup_fd int fd = root_open(root, LIBEXEC_DIR, O_PATH | O_DIRECTORY, &ignored);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == s->libexec.st_dev &&
	       st.st_ino == s->libexec.st_ino;
}

/* Returns 1 if it is no container of ours, and nothing that looks like one. */
static int read_container(const struct search *s, ino_t mnt_ns, int dir, int root,
			  struct container *ret, struct err *e)
{
	if (!has_our_programs(s, root))
		return err_set(e, 0,
			       "it does not have this host's programs (an image that pretends, or "
			       "oci-sandbox was installed anew since it started)");
	if (run_dir_read_manifest(dir, &ret->run, e) < 0)
		return -1;
	if (ret->run.manifest.mnt_ns != mnt_ns)
		return 1; /* a sandbox of an agent */
	return run_dir_read_policy(dir, &ret->run, e);
}

static int add_container(struct search *s, struct container *take, struct err *e)
{
	struct containers *c = s->ret;
	struct container *v = reallocarray(c->v, c->n + 1, sizeof(*v));

	if (v == NULL)
		return err_set(e, ENOMEM, "allocate containers");
	c->v = v;
	v[c->n++] = *take;
	*take = (struct container){ .proc = -1 };
	return 0;
}

static bool is_known(const struct search *s, ino_t mnt_ns)
{
	for (size_t i = 0; i < s->ret->n; i++)
		if (s->ret->v[i].run.manifest.mnt_ns == mnt_ns)
			return true;
	return false;
}

/* @take_proc is taken over.  A process that has ended meanwhile is none. */
static int look_inside(struct search *s, pid_t pid, int take_proc, ino_t mnt_ns, struct err *e)
{
	CLEANUP(container_done) struct container c = { .pid = pid, .proc = take_proc };
	cleanup_fd int root = openat(c.proc, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	cleanup_fd int dir = -1;
	struct err why = { 0 };
	struct stat st;
	uid_t owner;
	int found;

	if (root < 0 || find_owner(s, c.proc, &owner, &why) < 0)
		return 0;
	dir = run_dir_open(root, owner, &why);
	if (dir < 0 || fstat(dir, &st) < 0)
		return 0;
	found = read_container(s, mnt_ns, dir, root, &c, &why);
	if (found == 0)
		return add_container(s, &c, e);
	return found < 0 ? add_unknown(s, pid, st.st_dev, why.msg, e) : 0;
}

static int look_at(struct search *s, DIR *processes, const char *name, struct err *e)
{
	cleanup_fd int proc =
		openat(dirfd(processes), name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const pid_t pid = (pid_t)strtol(name, NULL, 10);
	struct stat st;

	if (proc < 0)
		return 0;
	if (fstatat(proc, "ns/mnt", &st, 0) < 0)
		return errno == EACCES || errno == EPERM ? look_from_outside(s, pid, proc, e) : 0;
	if (st.st_ino == s->own_mnt || is_known(s, st.st_ino))
		return 0;
	return look_inside(s, pid, steal_fd(&proc), st.st_ino, e);
}

static int compare(const void *a, const void *b)
{
	const struct container *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static int begin(struct search *s, const char *libexec, struct err *e)
{
	struct stat st;

	if (stat(libexec, &s->libexec) < 0)
		return err_set(e, errno, "look at %s, which every container of ours has", libexec);
	if (stat("/proc/self/ns/mnt", &st) < 0)
		return err_set(e, errno, "look at /proc/self/ns/mnt");
	s->own_mnt = st.st_ino;
	if (stat("/proc/self/ns/user", &st) < 0)
		return err_set(e, errno, "look at /proc/self/ns/user");
	s->own_user = st.st_ino;
	return 0;
}

/**
 * containers_find() - Find the containers under protection
 * @libexec:	The host's folder of programs
 * @ret:	Filled on success, untouched on failure; what was counted is not known yet
 * @e:		Set on failure
 *
 * Return: 0 on success, also if there is none; -1 on failure
 */
int containers_find(const char *libexec, struct containers *ret, struct err *e)
{
	cleanup_containers struct containers found = { 0 };
	struct search s = { .ret = &found };
	cleanup_dir DIR *processes = opendir("/proc");
	const struct dirent *d;

	if (processes == NULL)
		return err_set(e, errno, "open /proc");
	if (begin(&s, libexec, e) < 0)
		return -1;
	while ((d = readdir(processes)) != NULL)
		if (isdigit((unsigned char)d->d_name[0]) &&
		    look_at(&s, processes, d->d_name, e) < 0)
			return -1;
	if (found.n > 0)
		qsort(found.v, found.n, sizeof(*found.v), compare);
	*ret = found;
	found = (struct containers){ 0 };
	return 0;
}

/**
 * containers_done() - Release containers; there are none afterwards
 * @c:		Containers
 */
void containers_done(struct containers *c)
{
	for (size_t i = 0; i < c->n; i++)
		container_done(&c->v[i]);
	free(c->v);
	for (size_t i = 0; i < c->n_unknown; i++)
		free(c->unknown[i].why);
	free(c->unknown);
	*c = (struct containers){ 0 };
}
