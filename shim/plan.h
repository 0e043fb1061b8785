/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHIM_PLAN_H
#define SHIM_PLAN_H

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "cleanup.h"

struct err;
struct launch;

enum op_kind {
	OP_ROOT,    /* the container's root with all its mounts, read-only */
	OP_TMPFS,   /* a new tmpfs */
	OP_BIND,    /* what is at the source, read-only */
	OP_BIND_RW, /* what is at the source, writable where it was */
	OP_OVERLAY, /* what is at the source, with changes in a store; read-only where that fails */
	OP_DEVICE,  /* a device node of the container */
	OP_DEVPTS,  /* a new devpts */
	OP_PROC,    /* a new proc; where the kernel refuses it, the container's */
	OP_READONLY, /* what is at the target already, read-only */
	OP_PIN,      /* what is at the target already, as a mount: it can't be renamed away */
	OP_MASK,     /* an empty folder, or an empty file */
	OP_DIR,      /* a folder, in a tmpfs of the sandbox */
	OP_FILE,     /* a file with a text, in a tmpfs of the sandbox */
	OP_SYMLINK,  /* a symlink, in a tmpfs of the sandbox */
	OP_SEAL,     /* the sandbox's own mount at the target becomes read-only */
};

enum op_flags {
	OP_OPTIONAL = 1 << 0, /* nothing there: nothing to do */
	OP_FROM_NEW = 1 << 1, /* the source is a path in the sandbox, not in the container */
	OP_NO_LINKS = 1 << 2, /* OP_BIND: the target is there, and no symlink on the way to it */
};

/**
 * struct op - one step of building the sandbox's file systems
 * @kind:	What it does
 * @flags:	enum op_flags
 * @mode:	Permissions, for OP_TMPFS, OP_DIR, OP_FILE
 * @source:	Path in the container; text of OP_FILE, link of OP_SYMLINK; else NULL
 * @store:	OP_OVERLAY: path in the container of the folder that holds its upper and work; else
 *		NULL
 * @target:	Path in the sandbox
 */
struct op {
	enum op_kind kind;
	unsigned flags;
	mode_t mode;
	char *source;
	char *store;
	char *target;
};

/**
 * struct plan - the steps, in order
 *
 * Owned by the caller; plan_done() releases it.
 */
struct plan {
	struct op *v;
	size_t n;
};

int plan_build(const struct launch *l, struct plan *ret, struct err *e);
void plan_print(FILE *f, const char *indent, const struct plan *p);
const char *op_name(enum op_kind kind);
void plan_done(struct plan *p);

#define cleanup_plan CLEANUP(plan_done)

#endif
