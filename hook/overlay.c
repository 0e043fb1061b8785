/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Mount points in a read-only root: the overlays that have them
 *
 * An overlay without an upper layer is read-only by itself: its upper of two lower layers is a
 * tmpfs with the mount points, the other one the folder.  Mounts below the folder come back on
 * it.  Where the kernel refuses an overlay (too many on top of each other, or none at all), the
 * mount points are made in the root, as in one that is not read-only.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "bind.h"
#include "err.h"
#include "mount.h"
#include "root.h"
#include "scratch.h"
#include "survey.h"

#define LAYER_SIZE "1m"

/* ---- the layer ---- */

static int copy_owner(int from, int to, struct err *e)
{
	struct stat st;

	if (fstat(from, &st) < 0 || fchownat(to, "", st.st_uid, st.st_gid, AT_EMPTY_PATH) < 0)
		return err_set(e, errno, "copy the owner of a folder");
	return 0;
}

/* Each folder down to the last one: like that of the root, or new. */
static int make_dirs(int layer, const struct scratch_overlay *o, const char *rel,
		     const struct scratch_input *in, struct err *e)
{
	cleanup_free char *path = strdup(rel);

	if (path == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	for (char *end = path; end != NULL;) {
		cleanup_fd int like = -1, made = -1;
		struct stat st = { .st_mode = 0755 };

		end = strchr(end, '/');
		if (end != NULL)
			*end = '\0';
		like = root_open(o->fd, path, O_PATH | O_DIRECTORY, e);
		if (like >= 0 && fstat(like, &st) < 0)
			return err_set(e, errno, "look at %s", path);
		if (mkdirat(layer, path, st.st_mode & 07777) < 0 && errno != EEXIST)
			return err_set(e, errno, "make %s", path);
		made = openat(layer, path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (made < 0)
			return err_set(e, errno, "open %s", path);
		if (like >= 0 && copy_owner(like, made, e) < 0)
			return -1;
		if (like < 0 && fchownat(made, "", in->root_uid, in->root_gid, AT_EMPTY_PATH) < 0)
			return err_set(e, errno, "set the owner of %s", path);
		if (end != NULL)
			*end++ = '/';
	}
	return 0;
}

static int make_file(int layer, const struct scratch_overlay *o, const char *rel,
		     const struct scratch_input *in, struct err *e)
{
	cleanup_free char *dir = strdup(rel);
	cleanup_fd int fd = -1;
	char *slash;

	if (dir == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	slash = strrchr(dir, '/');
	if (slash != NULL) {
		*slash = '\0';
		if (make_dirs(layer, o, dir, in, e) < 0)
			return -1;
	}
	fd = openat(layer, rel, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0 || fchown(fd, in->root_uid, in->root_gid) < 0)
		return err_set(e, errno, "make %s", rel);
	return 0;
}

static int fill_layer(int layer, const struct scratch_overlay *o, const struct scratch_input *in,
		      struct err *e)
{
	if (copy_owner(o->fd, layer, e) < 0)
		return -1;
	for (size_t i = 0; i < o->dirs.n; i++)
		if (make_dirs(layer, o, o->dirs.v[i], in, e) < 0)
			return -1;
	for (size_t i = 0; i < o->files.n; i++)
		if (make_file(layer, o, o->files.v[i], in, e) < 0)
			return -1;
	return 0;
}

/* ---- the overlay ---- */

/* Attributes that programs in the folder rely on, or must not get around */
static uint64_t attributes(int fd)
{
	struct statvfs st;

	if (fstatvfs(fd, &st) < 0)
		return BIND_ATTR;
	return MOUNT_ATTR_RDONLY | ((st.f_flag & ST_NOSUID) != 0 ? MOUNT_ATTR_NOSUID : 0) |
	       ((st.f_flag & ST_NODEV) != 0 ? MOUNT_ATTR_NODEV : 0) |
	       ((st.f_flag & ST_NOEXEC) != 0 ? MOUNT_ATTR_NOEXEC : 0);
}

static int make_overlay(int layer, const struct scratch_overlay *o, struct err *e)
{
	char lower[128];
	const char *const options[] = { "source", "oci-sandbox", "lowerdir", lower, NULL };
	cleanup_fd int mnt = -1;

	(void)snprintf(lower, sizeof(lower), "/proc/self/fd/%d:/proc/self/fd/%d", layer, o->fd);
	mnt = mount_fs("overlay", options, e);
	if (mnt < 0 || mount_set(mnt, attributes(o->fd), false, e) < 0)
		return -1;
	return steal_fd(&mnt);
}

/* Kernels before 6.15 take no detached mount for a layer: it is attached while it is asked for. */
static int overlay_from(int layer, const struct scratch_overlay *o, struct err *e)
{
	char path[64];
	int mnt;

	if (mount_attach(layer, o->fd, e) < 0)
		return -1;
	mnt = make_overlay(layer, o, e);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", layer);
	if (umount2(path, MNT_DETACH) < 0) {
		close_p(&mnt);
		return err_set(e, errno, "take the layer of %s away", o->path);
	}
	return mnt;
}

/* ---- mounts below the folder ---- */

/**
 * struct below - a mount below a folder
 * @rel:	Where, relative to the folder; owned
 * @mnt:	A clone with all that is below it, owned
 */
struct below {
	char *rel;
	int mnt;
};

struct belows {
	struct below *v;
	size_t n;
};

static void belows_done(struct belows *b)
{
	for (size_t i = 0; i < b->n; i++) {
		free(b->v[i].rel);
		close_p(&b->v[i].mnt);
	}
	free(b->v);
}

/* A word of mountinfo, in which proc(5) has blanks and the like as \ooo. */
static char *unescape(const char *text, size_t n)
{
	char *ret = malloc(n + 1);
	size_t len = 0;

	if (ret == NULL)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\\' && n - i >= 4) {
			ret[len++] = (char)((text[i + 1] - '0') << 6 | (text[i + 2] - '0') << 3 |
					    (text[i + 3] - '0'));
			i += 3;
		} else {
			ret[len++] = text[i];
		}
	}
	ret[len] = '\0';
	return ret;
}

/* The fifth word of a line is the mount point. */
static char *mount_point(const char *line)
{
	for (int i = 0; i < 4 && line != NULL; i++) {
		line = strchr(line, ' ');
		if (line != NULL)
			line++;
	}
	return line == NULL ? NULL : unescape(line, strcspn(line, " \n"));
}

static int add_below(struct belows *b, int dir, const char *rel, uint64_t id, struct err *e)
{
	struct below *v = reallocarray(b->v, b->n + 1, sizeof(*v));
	cleanup_fd int fd = -1;
	struct survey_id is;

	if (v == NULL)
		return err_set(e, ENOMEM, "allocate mounts");
	b->v = v;
	fd = root_open_nofollow(dir, rel, O_PATH, e);
	if (fd < 0 || survey_identify(fd, &is, e) < 0)
		return -1;
	if (is.mnt != id) /* it is below another one, or hidden by one */
		return 0;
	v[b->n] = (struct below){ .rel = strdup(rel), .mnt = mount_clone(fd, "", true, e) };
	if (v[b->n].rel == NULL || v[b->n].mnt < 0) {
		free(v[b->n].rel);
		close_p(&v[b->n].mnt);
		return err_wrap(e, "mount on %s", rel);
	}
	b->n++;
	return 0;
}

static bool is_inside_other(const struct belows *b, const char *rel)
{
	for (size_t i = 0; i < b->n; i++) {
		size_t n = strlen(b->v[i].rel);

		if (strncmp(rel, b->v[i].rel, n) == 0 && rel[n] == '/')
			return true;
	}
	return false;
}

/* In the order of mountinfo a mount comes before what is mounted on it. */
static int find_belows(const struct scratch_overlay *o, const char *mountinfo, struct belows *b,
		       struct err *e)
{
	char link[64], top[PATH_MAX];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", o->fd);
	n = readlink(link, top, sizeof(top));
	if (n <= 0 || (size_t)n == sizeof(top))
		return err_set(e, n < 0 ? errno : ENAMETOOLONG, "read %s", link);
	for (const char *line = mountinfo; line != NULL && *line != '\0';) {
		cleanup_free char *path = mount_point(line);
		uint64_t id = strtoull(line, NULL, 10);

		if (path == NULL)
			return err_set(e, ENOMEM, "allocate a path");
		if (strncmp(path, top, (size_t)n) == 0 && path[n] == '/' &&
		    !is_inside_other(b, path + n + 1) &&
		    add_below(b, o->fd, path + n + 1, id, e) < 0)
			return -1;
		line = strchr(line, '\n');
		if (line != NULL)
			line++;
	}
	return 0;
}

static int attach_belows(int overlay, const struct belows *b, struct err *e)
{
	for (size_t i = 0; i < b->n; i++) {
		cleanup_fd int target = root_open_nofollow(overlay, b->v[i].rel, O_PATH, e);

		if (target < 0 || mount_attach(b->v[i].mnt, target, e) < 0)
			return err_wrap(e, "mount on %s again", b->v[i].rel);
	}
	return 0;
}

/* ---- the whole ---- */

static int apply_one(const struct scratch_overlay *o, const struct scratch_input *in, struct err *e)
{
	CLEANUP(belows_done) struct belows below = { 0 };
	cleanup_fd int layer = -1, overlay = -1;
	struct stat st;

	if (fstat(o->fd, &st) < 0)
		return err_set(e, errno, "look at it");
	if (find_belows(o, in->mountinfo, &below, e) < 0)
		return -1;
	layer = mount_tmpfs(st.st_mode & 07777, LAYER_SIZE, e);
	if (layer < 0 || fill_layer(layer, o, in, e) < 0)
		return -1;
	if (bind_check_target(o->fd, in->mountinfo, e) < 0)
		return -1;
	overlay = overlay_from(layer, o, e);
	if (overlay < 0)
		return e->code == EINVAL || e->code == ENODEV || e->code == EPERM ? 0 : -1;
	if (mount_attach(overlay, o->fd, e) < 0)
		return -1;
	return attach_belows(overlay, &below, e);
}

/**
 * scratch_apply() - Put overlays over folders that lack mount points
 * @s:		What scratch_find() found
 * @in:		What is needed besides
 * @e:		Set on failure
 *
 * What was opened below these folders before shows what the overlays hide now: it has to be
 * opened again.  A folder whose overlay the kernel refuses stays as it is.
 *
 * Return: 0 on success, -1 on failure
 */
int scratch_apply(const struct scratch *s, const struct scratch_input *in, struct err *e)
{
	for (size_t i = 0; i < s->n; i++)
		if (apply_one(&s->v[i], in, e) < 0)
			return err_wrap(e, "overlay over %s in the container", s->v[i].path);
	return 0;
}
