/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Mount points in a read-only root: where they are missing
 *
 * What has to be mounted in a folder needs something to be mounted on.  In a root that is to be
 * read-only nothing is made for that: the folder gets an overlay which has it.  Nothing here
 * changes anything; overlay.c does.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "path.h"
#include "plan.h"
#include "root.h"
#include "scratch.h"
#include "steps.h"
#include "survey.h"

/**
 * struct missing - a mount point that is not there
 * @above:	The nearest folder above it that is, owned
 * @above_path:	Its path in the container, resolved, owned
 * @rest:	From there on, owned
 * @dir:	It is to be a folder
 */
struct missing {
	int above;
	char *above_path;
	char *rest;
	bool dir;
};

static void missing_done(struct missing *m)
{
	close_p(&m->above);
	free(m->above_path);
	free(m->rest);
}

static bool is_there(int root, const char *path, struct err *e)
{
	cleanup_fd int fd = root_open_nofollow(root, path, O_PATH, e);

	return fd >= 0 || e->code != ENOENT;
}

/* Splits @path at its deepest folder that is there. */
static int find_above(int root, const char *path, struct missing *ret, struct err *e)
{
	cleanup_free char *dir = strdup(path);
	char *slash;

	if (dir == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	while ((slash = strrchr(dir, '/')) != NULL) {
		*slash = '\0';
		ret->above = root_open(root, slash == dir ? "/" : dir, O_PATH | O_DIRECTORY, e);
		if (ret->above >= 0)
			break;
		if (e->code != ENOENT)
			return -1;
	}
	if (slash == NULL)
		return err_set(e, 0, "`%.200s` has no folder above it", path);
	ret->rest = strdup(path + (slash - dir) + 1);
	return ret->rest == NULL ? err_set(e, ENOMEM, "allocate a path") : 0;
}

/*
 * Only what is in the root file system stays as it is: a volume or a tmpfs that the engine mounted
 * is another's.  Its topmost folder is the runtime's, which goes on to make it the root.
 */
static int is_in_root(int root, int fd, bool *ret, struct err *e)
{
	struct survey_id a, b;

	if (survey_identify(root, &a, e) < 0 || survey_identify(fd, &b, e) < 0)
		return -1;
	*ret = a.mnt == b.mnt && !survey_same(&a, &b);
	return 0;
}

/* A symlink that dangles is not ours to replace; who makes the mounts will refuse it. */
static bool dangles(const struct missing *m)
{
	cleanup_free char *first = strndup(m->rest, strcspn(m->rest, "/"));
	struct stat st;

	return first == NULL || fstatat(m->above, first, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static struct scratch_overlay *add_overlay(struct scratch *s, struct missing *m, struct err *e)
{
	struct scratch_overlay *v = reallocarray(s->v, s->n + 1, sizeof(*v));

	if (v == NULL) {
		(void)err_set(e, ENOMEM, "allocate overlays");
		return NULL;
	}
	s->v = v;
	v[s->n] = (struct scratch_overlay){ .path = m->above_path, .fd = m->above };
	m->above_path = NULL;
	m->above = -1;
	return &v[s->n++];
}

/* What an overlay of @path has below @above, and @rest below that. */
static int add_entry(struct scratch_overlay *o, const char *above, const struct missing *m,
		     struct err *e)
{
	const char *rel = above + strlen(o->path);
	struct strlist *list = m->dir ? &o->dirs : &o->files;

	rel += strspn(rel, "/");
	return strlist_add_fmt(list, e, "%s%s%s", rel, *rel != '\0' ? "/" : "", m->rest);
}

static int add_missing(struct scratch *s, struct missing *m, struct err *e)
{
	cleanup_free char *above = strdup(m->above_path);
	struct scratch_overlay *o;

	if (above == NULL)
		return err_set(e, ENOMEM, "allocate a path");
	for (size_t i = 0; i < s->n; i++)
		if (path_is_at_or_below(above, s->v[i].path))
			return add_entry(&s->v[i], above, m, e);
	o = add_overlay(s, m, e);
	return o == NULL ? -1 : add_entry(o, above, m, e);
}

static int compare(const void *a, const void *b)
{
	const struct missing *x = a, *y = b;

	return strcmp(x->above_path, y->above_path);
}

/* Adds to @v if @op needs a mount point that the root lacks. */
static int look_at(int root, const struct hook_op *op, struct missing *v, size_t *n, struct err *e)
{
	CLEANUP(missing_done)
	struct missing m = { .above = -1, .dir = op->kind != HOOK_OP_NAME };
	bool in_root;

	if (op->kind != HOOK_OP_LIBEXEC && op->kind != HOOK_OP_RUN && op->kind != HOOK_OP_NAME)
		return 0;
	if (is_there(root, op->target, e))
		return 0;
	if (find_above(root, op->target, &m, e) < 0 || is_in_root(root, m.above, &in_root, e) < 0)
		return -1;
	if (!in_root || dangles(&m))
		return 0;
	m.above_path = survey_path_in_root(root, m.above, e);
	if (m.above_path == NULL)
		return -1;
	v[(*n)++] = m;
	m = (struct missing){ .above = -1 };
	return 0;
}

/**
 * scratch_find() - Find where the root lacks mount points
 * @root:	The container's root, O_PATH
 * @p:		What is going to be mounted
 * @ret:	Filled on success, untouched on failure
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int scratch_find(int root, const struct hook_plan *p, struct scratch *ret, struct err *e)
{
	cleanup_free struct missing *v = calloc(p->n_ops + 1, sizeof(*v));
	cleanup_scratch struct scratch s = { 0 };
	size_t n = 0;
	int failed = 0;

	if (v == NULL)
		return err_set(e, ENOMEM, "allocate mount points");
	for (size_t i = 0; i < p->n_ops && failed == 0; i++)
		failed = look_at(root, &p->ops[i], v, &n, e);
	/* A folder comes before what is below it, so that one overlay serves both */
	qsort(v, n, sizeof(*v), compare);
	for (size_t i = 0; i < n && failed == 0; i++)
		failed = add_missing(&s, &v[i], e);
	for (size_t i = 0; i < n; i++)
		missing_done(&v[i]);
	if (failed < 0)
		return err_wrap(e, "mount points in a read-only root");

	*ret = s;
	s = (struct scratch){ 0 };
	return 0;
}

/**
 * scratch_steps() - Say what scratch_apply() is going to do
 * @s:		Overlays
 * @ret:	Steps, appended to
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int scratch_steps(const struct scratch *s, struct steps *ret, struct err *e)
{
	for (size_t i = 0; i < s->n; i++)
		if (steps_add_path(ret, STEP_MOUNT,
				   "overlay, so that nothing is made in the read-only root, over",
				   s->v[i].path, NULL, e) < 0)
			return -1;
	return 0;
}

/**
 * scratch_done() - Release what scratch_find() found; it is empty afterwards
 * @s:		Overlays
 */
void scratch_done(struct scratch *s)
{
	for (size_t i = 0; i < s->n; i++) {
		close_p(&s->v[i].fd);
		free(s->v[i].path);
		strlist_clear(&s->v[i].dirs);
		strlist_clear(&s->v[i].files);
	}
	free(s->v);
	*s = (struct scratch){ 0 };
}
