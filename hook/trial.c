/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: A trial container: does the engine really call the hook?
 *
 * podman leaves a hook out without a word, and a registration can look right and not be read.  So
 * a container is started whose program is the shim at the place where only the hook mounts it.
 * Its root file system is made here: nothing is pulled, and nothing of it is anybody's.
 *
 * What failed is told apart by further containers, not by an engine's words: they start a copy of
 * the shim that is in the root file system, without any hook, and with.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "command.h"
#include "err.h"
#include "hook.h"
#include "libexec.h"
#include "manifest.h"
#include "results.h"
#include "strlist.h"
#include "trial.h"

#define NAME_TEMPLATE "oci-sandbox-check-XXXXXX"
#define OWN_PROGRAM "/" LIBEXEC_SHIM /* the copy of the shim, in the container */
#define SAYS "oci-sandbox-shim "     /* what both answer to --version */
#define CLEANUP_MS 10000

#define ENABLE "io.oci-sandbox.enable="

#define ADVICE_PODMAN \
	"see podman(1) for what it says; no container starts, with the hook or without"

/**
 * struct trial - containers that are tried
 * @paths:	Where things are on the host
 * @dir:	Folder of ours; its last component names the containers
 * @name:	That
 * @rootfs:	Their root file system
 * @no_hooks:	A hooks folder that is empty
 * @signals:	signalfd(2) of what ends us
 * @until:	When all has to be over
 */
struct trial {
	const struct hook_paths *paths;
	char dir[PATH_MAX];
	const char *name;
	char rootfs[PATH_MAX + 8];
	char no_hooks[PATH_MAX + 8];
	int signals;
	int64_t until;
};

/* ---- the folder ---- */

static int make_dir(struct trial *t, struct err *e)
{
	const char *tmp = getenv("TMPDIR");
	int n;

	if (tmp == NULL || tmp[0] != '/')
		tmp = "/tmp";
	n = snprintf(t->dir, sizeof(t->dir), "%s/" NAME_TEMPLATE, tmp);
	if (n < 0 || (size_t)n >= sizeof(t->dir))
		return err_set(e, ENAMETOOLONG, "TMPDIR");
	if (mkdtemp(t->dir) == NULL) {
		t->dir[0] = '\0';
		return err_set(e, errno, "make a folder in %s", tmp);
	}
	t->name = strrchr(t->dir, '/') + 1;
	(void)snprintf(t->rootfs, sizeof(t->rootfs), "%s/rootfs", t->dir);
	(void)snprintf(t->no_hooks, sizeof(t->no_hooks), "%s/hooks.d", t->dir);
	return 0;
}

/* The folders of PATH are where the hook puts agents' names, and need to be there. */
static int fill_dir(const struct trial *t, struct err *e)
{
	static const char *const dirs[] = { "", "/usr", "/usr/bin", "/usr/local",
					    "/usr/local/bin" };
	cleanup_fd int root = -1;

	if (mkdir(t->no_hooks, 0755) < 0)
		return err_set(e, errno, "make %s", t->no_hooks);
	for (size_t i = 0; i < N_ELEMENTS(dirs); i++) {
		char path[sizeof(t->rootfs) + 32];

		(void)snprintf(path, sizeof(path), "%s%s", t->rootfs, dirs[i]);
		if (mkdir(path, 0755) < 0)
			return err_set(e, errno, "make %s", path);
	}
	return 0;
}

static int copy_shim(const struct trial *t, struct err *e)
{
	char path[sizeof(t->rootfs) + 32];
	cleanup_fd int from = -1, to = -1;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "%s" OWN_PROGRAM, t->rootfs);
	to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (to < 0)
		return err_set(e, errno, "make %s", path);
	(void)snprintf(path, sizeof(path), "%s/" LIBEXEC_SHIM, t->paths->libexec);
	from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (from < 0)
		return err_set(e, errno, "open %s", path);
	do
		n = sendfile(to, from, NULL, 1024 * 1024);
	while (n > 0);
	return n < 0 ? err_set(e, errno, "copy %s", path) : 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	(void)remove(path);
	return 0;
}

/* ---- containers ---- */

static int add_all(struct strlist *l, const char *const *words, struct err *e)
{
	for (; *words != NULL; words++)
		if (strlist_add(l, *words, e) < 0)
			return -1;
	return 0;
}

/**
 * struct attempt - one container
 * @hooks_dir:	Folder of hooks; NULL: podman's own
 * @annotation:	What it says, NULL: nothing
 * @program:	What it runs
 */
struct attempt {
	const char *hooks_dir;
	const char *annotation;
	const char *program;
};

static int list_arguments(const struct trial *t, const struct attempt *a, struct strlist *ret,
			  struct err *e)
{
	const char *const global[] = { "podman", a->hooks_dir != NULL ? "--hooks-dir" : NULL,
				       a->hooks_dir, NULL };
	/* Files in TMPDIR have no label that a confined process may read */
	const char *const run[] = { "run",   "--rm",           "--name",
				    t->name, "--network=none", "--security-opt=label=disable",
				    NULL };
	const char *const ask[] = { a->annotation != NULL ? "--annotation" : NULL, a->annotation,
				    NULL };
	const char *const what[] = { "--rootfs", t->rootfs, a->program, "--version", NULL };

	if (add_all(ret, global, e) < 0 || add_all(ret, run, e) < 0 || add_all(ret, ask, e) < 0)
		return -1;
	return add_all(ret, what, e);
}

/*
 * Whatever a podman that was killed has left: its monitor, a hook that hangs, the container.  It
 * forgets the container when nothing of it is there any more.
 */
static void remove_container(const struct trial *t)
{
	static const char *const words[] = { "podman", "rm", "--force", "--ignore",
					     "--time", "0",  NULL };
	cleanup_strlist struct strlist argv = { 0 };
	struct command c = { .signals = t->signals, .until = command_now() + CLEANUP_MS };
	struct command_result ignored;
	struct err e = { 0 };

	command_end_orphans();
	if (add_all(&argv, words, &e) < 0 || strlist_add(&argv, t->name, &e) < 0)
		return;
	c.argv = argv.v;
	if (command_run(&c, &ignored, &e) < 0)
		command_end_orphans();
}

/* Returns 0 if podman ended by itself, -1 if it had to be ended or isn't there. */
static int attempt(const struct trial *t, const struct attempt *a, struct command_result *ret,
		   struct err *e)
{
	cleanup_strlist struct strlist argv = { 0 };
	struct command c = { .signals = t->signals, .until = t->until };

	if (list_arguments(t, a, &argv, e) < 0)
		return -1;
	c.argv = argv.v;
	if (command_run(&c, ret, e) == 0)
		return 0;
	if (e->code != ENOENT)
		remove_container(t);
	return -1;
}

/* It ran, and was what it should have been */
static bool has_run(const struct command_result *r)
{
	return command_succeeded(r) && strstr(r->output, SAYS) != NULL;
}

/* ---- what came of it ---- */

static int say(struct result *ret, enum host_level level, const char *advice, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int say(struct result *ret, enum host_level level, const char *advice, const char *fmt, ...)
{
	struct err line = { 0 };
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(line.msg, sizeof(line.msg), fmt, ap);
	va_end(ap);
	err_make_printable(&line);
	ret->level = level;
	ret->found = strdup(line.msg);
	ret->advice = advice == NULL ? NULL : strdup(advice);
	return 0;
}

/* A container that asks did not start: whose doing is that? */
static int explain(const struct trial *t, struct command_result *first, struct result *ret,
		   struct err *e)
{
	struct attempt a = { .hooks_dir = t->no_hooks, .program = OWN_PROGRAM };
	struct command_result r;

	if (attempt(t, &a, &r, e) < 0)
		return -1;
	if (!has_run(&r))
		return say(ret, HOST_PROBLEM, ADVICE_PODMAN, "podman can't start any container: %s",
			   command_last_line(&r));
	a.hooks_dir = t->paths->hooks_dir;
	a.annotation = ENABLE "true";
	if (attempt(t, &a, &r, e) < 0)
		return -1;
	if (has_run(&r))
		return say(ret, HOST_PROBLEM,
			   "oci-sandbox-hook --register podman; if it is registered, the line "
			   "`podman` says what is wrong",
			   "a container that asks to be confined started, and podman had not "
			   "called the hook");
	return say(ret, HOST_PROBLEM,
		   "the lines above and the system log say why; crun tells the hook's exit status "
		   "alone, see oci-sandbox-hook(8)",
		   "the hook refused the container: %s", command_last_line(first));
}

/* podman goes on without a hook that is missing: it must not without one that fails. */
static int try_failure(const struct trial *t, struct result *ret, struct err *e)
{
	const struct attempt a = { .hooks_dir = t->paths->hooks_dir,
				   .annotation = ENABLE "nonsense",
				   .program = OWN_PROGRAM };
	struct command_result r;

	if (attempt(t, &a, &r, e) < 0)
		return -1;
	if (command_succeeded(&r) || strstr(r.output, SAYS) != NULL)
		return say(ret, HOST_PROBLEM,
			   "use a runtime that stops a container whose hook fails, such as crun or "
			   "runc",
			   "a container ran although its hook had failed");
	return say(ret, HOST_OK, NULL,
		   "podman called the hook, which mounted the shim; a container whose hook fails "
		   "did not start");
}

static int try_containers(struct trial *t, struct result *ret, struct err *e)
{
	const struct attempt a = { .hooks_dir = t->paths->hooks_dir,
				   .annotation = ENABLE "true",
				   .program = LIBEXEC_DIR "/" LIBEXEC_SHIM };
	struct command_result r;

	if (make_dir(t, e) < 0 || fill_dir(t, e) < 0 || copy_shim(t, e) < 0 ||
	    attempt(t, &a, &r, e) < 0)
		return -1;
	return has_run(&r) ? try_failure(t, ret, e) : explain(t, &r, ret, e);
}

static void say_unknown(struct result *ret, const struct err *why, int seconds)
{
	if (why->code == ETIMEDOUT)
		(void)say(ret, HOST_PROBLEM,
			  "see what `podman run` waits for, or give it longer with --time-limit",
			  "podman was not done after %d s, and was ended", seconds);
	else if (why->code == EINTR)
		(void)say(ret, HOST_PROBLEM, "try again", "it was ended by %s", why->msg);
	else if (why->code == ENOENT && strncmp(why->msg, "podman:", strlen("podman:")) == 0)
		(void)say(ret, HOST_PROBLEM, "install podman, or put its folder into PATH",
			  "there is no podman in PATH");
	else
		(void)say(ret, HOST_PROBLEM, "put that right, and try again", "%s", why->msg);
}

/**
 * trial_podman() - Find out whether podman calls the hook, by containers
 * @paths:	Where things are on the host; with hooks_dir, podman is told of it
 * @seconds:	How long all of it may take
 * @ret:	Gets a result
 * @e:		Set on failure
 *
 * Signals that would end this process end the trial.  Nothing of it is left afterwards.
 *
 * Return: 0 on success, also if the hook was not called; -1 on failure
 */
int trial_podman(const struct hook_paths *paths, int seconds, struct results *ret, struct err *e)
{
	struct trial t = { .paths = paths, .until = command_now() + seconds * INT64_C(1000) };
	struct result r = { .name = "trial container" };
	cleanup_fd int signals = -1;
	sigset_t ending, old;
	struct err why = { 0 };

	(void)sigemptyset(&ending);
	for (size_t i = 0; i < 4; i++)
		(void)sigaddset(&ending, (const int[]){ SIGINT, SIGTERM, SIGHUP, SIGQUIT }[i]);
	if (sigprocmask(SIG_BLOCK, &ending, &old) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return err_set(e, errno, "hold signals and orphans");
	signals = signalfd(-1, &ending, SFD_CLOEXEC);
	t.signals = signals;
	if (signals < 0)
		(void)err_set(&why, errno, "wait for signals");
	if (signals < 0 || try_containers(&t, &r, &why) < 0)
		say_unknown(&r, &why, seconds);
	if (t.dir[0] != '\0')
		(void)nftw(t.dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	(void)sigprocmask(SIG_SETMASK, &old, NULL);
	return results_add(ret, r, e);
}
