/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The list that a plan is: add to it, ask it, print it
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "err.h"
#include "launch.h"
#include "plan_ops.h"
#include "printable.h"

static const char *const names[] = {
	[OP_ROOT] = "root",       [OP_TMPFS] = "tmpfs",     [OP_BIND] = "bind",
	[OP_BIND_RW] = "bind-rw", [OP_OVERLAY] = "overlay", [OP_DEVICE] = "device",
	[OP_DEVPTS] = "devpts",   [OP_PROC] = "proc",       [OP_READONLY] = "ro",
	[OP_PIN] = "pin",         [OP_MASK] = "mask",       [OP_DIR] = "dir",
	[OP_FILE] = "file",       [OP_SYMLINK] = "symlink", [OP_SEAL] = "seal",
};

const char *op_name(enum op_kind kind)
{
	return names[kind];
}

static int add(struct plan *p, struct op op, struct err *e)
{
	cleanup_free char *source = op.source != NULL ? strdup(op.source) : NULL;
	cleanup_free char *store = op.store != NULL ? strdup(op.store) : NULL;
	cleanup_free char *target = strdup(op.target);
	struct op *v = p->v;

	if (target == NULL || (op.source != NULL && source == NULL) ||
	    (op.store != NULL && store == NULL))
		return err_set(e, ENOMEM, "allocate a step of the plan");

	/* doubles at each power of two: a container may have thousands of mounts */
	if ((p->n & (p->n - 1)) == 0) {
		v = reallocarray(p->v, p->n == 0 ? 1 : p->n * 2, sizeof(*v));
		if (v == NULL)
			return err_set(e, ENOMEM, "allocate a step of the plan");
		p->v = v;
	}
	op.source = steal_ptr(&source);
	op.store = steal_ptr(&store);
	op.target = steal_ptr(&target);
	v[p->n++] = op;
	return 0;
}

/**
 * plan_add() - Append a step
 * @p:		Plan
 * @kind:	What it does
 * @flags:	enum op_flags
 * @source:	Copied; NULL where the kind has none
 * @target:	Copied
 * @e:		Set on failure
 *
 * Return: 0, or -1 with the plan as it was
 */
int plan_add(struct plan *p, enum op_kind kind, unsigned flags, const char *source,
	     const char *target, struct err *e)
{
	return add(p,
		   (struct op){ .kind = kind,
				.flags = flags,
				.source = (char *)source,
				.target = (char *)target },
		   e);
}

/**
 * plan_add_file() - Append an OP_FILE that everybody may read
 * @p:		Plan
 * @text:	Its content, copied
 * @target:	Copied
 * @e:		Set on failure
 *
 * Return: 0, or -1 with the plan as it was
 */
int plan_add_file(struct plan *p, const char *text, const char *target, struct err *e)
{
	return add(p,
		   (struct op){ .kind = OP_FILE,
				.mode = 0644,
				.source = (char *)text,
				.target = (char *)target },
		   e);
}

/**
 * plan_add_overlay() - Append an OP_OVERLAY
 * @p:		Plan
 * @lower:	What is seen, copied
 * @store:	Where its changes go, copied
 * @target:	Copied
 * @e:		Set on failure
 *
 * Return: 0, or -1 with the plan as it was
 */
int plan_add_overlay(struct plan *p, const char *lower, const char *store, const char *target,
		     struct err *e)
{
	return add(p,
		   (struct op){ .kind = OP_OVERLAY,
				.source = (char *)lower,
				.store = (char *)store,
				.target = (char *)target },
		   e);
}

/**
 * plan_add_mode() - Append a step that makes something with permissions, and has no source
 * @p:		Plan
 * @kind:	OP_TMPFS or OP_DIR
 * @mode:	Permissions
 * @target:	Copied
 * @e:		Set on failure
 *
 * A tmpfs for a place that the container doesn't have is left out; one at a home is made.
 *
 * Return: 0, or -1 with the plan as it was
 */
int plan_add_mode(struct plan *p, enum op_kind kind, mode_t mode, const char *target, struct err *e)
{
	return add(p, (struct op){ .kind = kind, .mode = mode, .target = (char *)target }, e);
}

/**
 * plan_has() - Say whether a step is there already
 * @p:		Plan
 * @kind:	What it does
 * @target:	Where
 *
 * Return: true if it is
 */
bool plan_has(const struct plan *p, enum op_kind kind, const char *target)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].kind == kind && strcmp(p->v[i].target, target) == 0)
			return true;
	return false;
}

static void put(FILE *f, const char *before, const char *text)
{
	(void)fputs(before, f);
	printable_put(f, text);
}

/**
 * plan_print() - Write a plan for people, a line a step
 * @f:		Where to; the caller looks for its errors
 * @indent:	What each line begins with
 * @p:		Plan
 *
 * The text of a file is left out: what matters of it is where it goes.
 */
void plan_print(FILE *f, const char *indent, const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct op *op = &p->v[i];

		(void)fprintf(f, "%s%-8s", indent, op_name(op->kind));
		put(f, " ", op->target);
		if (op->kind == OP_SYMLINK)
			put(f, " -> ", op->source);
		else if (op->source != NULL && op->kind != OP_FILE &&
			 strcmp(op->source, op->target) != 0)
			put(f, " from ", op->source);
		if (op->store != NULL)
			put(f, " changes in ", op->store);
		if (op->mode != 0)
			(void)fprintf(f, " mode %04o", (unsigned)op->mode);
		if ((op->flags & OP_OPTIONAL) != 0)
			(void)fputs(" if there", f);
		(void)fputc('\n', f);
	}
}

/**
 * plan_done() - Release what a plan owns; it is empty afterwards
 * @p:		Plan
 */
void plan_done(struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].source);
		free(p->v[i].store);
		free(p->v[i].target);
	}
	free(p->v);
	*p = (struct plan){ 0 };
}
