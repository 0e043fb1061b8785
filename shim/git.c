/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What a launch needs to know of git: who commits, and where a worktree's repository is
 *
 * The workspace is written by agents, so what its .git file says is a claim: only a repository
 * that names this worktree itself comes along, gitrepository-layout(5).
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "err.h"
#include "git.h"
#include "gitconfig.h"
#include "io.h"
#include "launch.h"
#include "path.h"
#include "plan_ops.h"
#include "program_find.h"
#include "signing.h"
#include "workspace.h"

#define SAFE_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define ANSWER_BYTES 4096
#define ANSWER_MS 3000

/* ---- who commits ---- */

static bool has_config(const struct launch *l)
{
	static const char *const files[] = { ".gitconfig", ".config/git/config" };
	struct err e;

	if (access("/etc/gitconfig", R_OK) == 0 || access("/usr/local/etc/gitconfig", R_OK) == 0)
		return true;

	for (size_t i = 0; i < N_ELEMENTS(files); i++) {
		cleanup_free char *path = path_join(l->home, files[i], &e);

		if (path != NULL && access(path, R_OK) == 0)
			return true;
	}
	return false;
}

/*
 * git itself knows its includes, and the system's configuration.  It is run as the developer, so
 * not one that a PATH from the environment names; and `git config` runs nothing.
 */
static pid_t ask_git(const struct launch *l, int out)
{
	static const char *const argv[] = { "git",
					    "config",
					    "--includes",
					    "-z",
					    "--get-regexp",
					    "^(user\\.(name|email)|(commit|tag)\\.gpgsign|"
					    "filter\\.lfs\\.(clean|process))$",
					    NULL };
	const char *env[] = { NULL, SAFE_PATH, "GIT_DIR=/dev/null", NULL }; /* no repository's */
	char path[PROGRAM_FIND_BYTES];
	const char *git = program_find("git", path);
	cleanup_free char *home = NULL;
	posix_spawn_file_actions_t fa;
	pid_t pid = -1;

	if (git == NULL || asprintf(&home, "HOME=%s", l->home) < 0) {
		home = NULL;
		return -1;
	}
	if (posix_spawn_file_actions_init(&fa) != 0)
		return -1;
	if (posix_spawn_file_actions_addopen(&fa, STDIN_FILENO, "/dev/null", O_RDONLY, 0) != 0 ||
	    posix_spawn_file_actions_addopen(&fa, STDERR_FILENO, "/dev/null", O_WRONLY, 0) != 0 ||
	    posix_spawn_file_actions_adddup2(&fa, out, STDOUT_FILENO) != 0 ||
	    posix_spawn_file_actions_addchdir_np(&fa, "/") != 0)
		goto out;
	env[0] = home;
	/* the casts undo nothing: posix_spawn(3) writes to neither */
	if (posix_spawn(&pid, git, &fa, NULL, (char *const *)argv, (char *const *)env) != 0)
		pid = -1;
out:
	(void)posix_spawn_file_actions_destroy(&fa);
	return pid;
}

/* True if it ended, and in time: a FIFO in the place of a configuration never does. */
static bool read_answer(int fd, char buf[ANSWER_BYTES], size_t *ret_len)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t len = 0;

	while (len < ANSWER_BYTES - 1 && poll(&p, 1, ANSWER_MS) > 0) {
		ssize_t n = read(fd, buf + len, ANSWER_BYTES - 1 - len);

		if (n < 0)
			return false;
		if (n == 0) {
			buf[len] = '\0';
			*ret_len = len;
			return true;
		}
		len += (size_t)n;
	}
	return false;
}

/* git's own end: it has closed its output by then, or is not waited for.  1: nothing is set. */
static bool ended_well(pid_t pid, bool answered)
{
	int status = 0;

	if (!answered)
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return answered && WIFEXITED(status) && WEXITSTATUS(status) <= 1;
}

/* "user.name\nVALUE\0", a bare key "user.name\0": the last one counts. */
static const char *find_value(const char *buf, size_t len, const char *key)
{
	const char *found = NULL;
	size_t n = strlen(key);

	for (const char *p = buf; p < buf + len; p += strlen(p) + 1)
		if (strncmp(p, key, n) == 0 && (p[n] == '\n' || p[n] == '\0'))
			found = p + n + (p[n] == '\n');
	return found;
}

/* git-config(1), "boolean"; a key alone is true */
static bool is_true(const char *value)
{
	static const char *const words[] = { "", "true", "yes", "on", "1" };

	for (size_t i = 0; value != NULL && i < N_ELEMENTS(words); i++)
		if (strcasecmp(value, words[i]) == 0)
			return true;
	return false;
}

/* What git says of the developer's configuration, "" if there is no git. */
static int ask(struct launch *l, char answer[ANSWER_BYTES], size_t *ret_len, struct err *e)
{
	cleanup_fd int r = -1, w = -1;
	bool answered;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(e, errno, "make a pipe");
	r = fds[0];
	w = fds[1];
	pid = ask_git(l, w);
	close_p(&w);
	w = -1;
	if (pid < 0)
		return 0;
	answered = read_answer(r, answer, ret_len);
	if (ended_well(pid, answered))
		return 0;
	answer[0] = '\0';
	*ret_len = 0;
	return strlist_add(&l->left_out,
			   "git can't read your configuration, or not in time, so agents commit "
			   "without your name (`git config --global --list` may say why)",
			   e);
}

/* Without git, or without a name, the agent's commits need one from the repository. */
static int read_config(struct launch *l, bool asked, struct err *e)
{
	char answer[ANSWER_BYTES] = "";
	size_t len = 0;

	l->asks_git = has_config(l);
	if (l->asks_git && asked && ask(l, answer, &len, e) < 0)
		return -1;
	l->signs = is_true(find_value(answer, len, "commit.gpgsign")) ||
		   is_true(find_value(answer, len, "tag.gpgsign"));
	l->gitconfig = gitconfig_make(
		&(struct gitconfig_input){
			.name = find_value(answer, len, "user.name"),
			.email = find_value(answer, len, "user.email"),
			.workspace = l->workspace,
			.policy = &l->policy,
			.signs_with = l->signs_with,
			.signing_key = SESSION_SIGNING "/" SIGNING_KEY,
			.lfs = find_value(answer, len, "filter.lfs.clean") != NULL ||
			       find_value(answer, len, "filter.lfs.process") != NULL,
		},
		e);
	return l->gitconfig == NULL ? -1 : 0;
}

/* No key: nothing is said.  One that can't be used is told of, and nothing is signed. */
static int find_signing(struct launch *l, struct err *e)
{
	cleanup_free char *dir = path_join(l->state, SIGNING_DIR, e);
	const char *program = signing_program();
	struct err why = { 0 };

	if (dir == NULL)
		return -1;
	if (signing_check(dir, l->uid, &why) < 0 && why.code == ENOENT)
		return 0;
	if (why.msg[0] == '\0' && program == NULL)
		(void)err_set(&why, 0, "ssh-keygen is missing (install openssh-client)");
	if (why.msg[0] == '\0' && l->user[0] == '\0')
		(void)err_set(&why, 0, "uid %u has no name in /etc/passwd, as ssh-keygen wants it",
			      l->uid);
	if (why.msg[0] != '\0')
		return strlist_add_fmt(&l->left_out, e, "commits are not signed: %s", why.msg);
	l->signing = steal_ptr(&dir);
	l->signs_with = program;
	return 0;
}

/* ---- a worktree's repository ---- */

/* The path in a one-line file, after @prefix; relative ones start at @dir. */
static char *read_pointer(const char *path, const char *prefix, const char *dir)
{
	struct err e;
	cleanup_free char *text = read_path(path, PATH_MAX, &e);
	cleanup_free char *joined = NULL;
	char *value;

	if (text == NULL || strncmp(text, prefix, strlen(prefix)) != 0)
		return NULL;
	value = text + strlen(prefix);
	value[strcspn(value, "\n")] = '\0';
	joined = value[0] == '/' ? strdup(value) : path_join(dir, value, &e);
	return joined == NULL ? NULL : realpath(joined, NULL);
}

/* COMMON of COMMON/worktrees/NAME: from where the folder is, not from what a file says. */
static char *common_of(const char *git_dir)
{
	cleanup_free char *dir = strdup(git_dir);
	char *slash = dir == NULL ? NULL : strrchr(dir, '/');

	if (slash == NULL)
		return NULL;
	*slash = '\0';
	slash = strrchr(dir, '/');
	if (slash == NULL || slash == dir || strcmp(slash, "/worktrees") != 0)
		return NULL;
	*slash = '\0';
	return steal_ptr(&dir);
}

static bool names_worktree(const char *git_dir, const char *dot_git)
{
	struct err e;
	cleanup_free char *path = path_join(git_dir, "gitdir", &e);
	cleanup_free char *back = path == NULL ? NULL : read_pointer(path, "", git_dir);

	return back != NULL && strcmp(back, dot_git) == 0;
}

/* No repository, or one that doesn't know this worktree, is no error: it stays outside. */
static int find_repository(struct launch *l, struct err *e)
{
	cleanup_free char *dot_git = path_join(l->workspace, ".git", e);
	cleanup_free char *git_dir = NULL, *common = NULL;
	struct err why;
	struct stat st;

	if (dot_git == NULL)
		return -1;
	if (lstat(dot_git, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	git_dir = read_pointer(dot_git, "gitdir: ", l->workspace);
	common = git_dir == NULL ? NULL : common_of(git_dir);
	if (common == NULL || path_is_at_or_below(git_dir, l->workspace) ||
	    path_is_at_or_below(git_dir, l->state) || !names_worktree(git_dir, dot_git) ||
	    workspace_check(common, l->home, 1, &why) < 0)
		return 0;
	l->git_dir = steal_ptr(&git_dir);
	l->git_common = steal_ptr(&common);
	return 0;
}

/* ---- what else in the repository has a configuration ---- */

#define DEPTH_MAX 8    /* modules/a/b/modules/c */
#define DIRS_MAX 10000 /* looked at in all */

/**
 * struct walk - a search for git directories
 * @found:	Where they go
 * @left:	How many folders it may still look at
 * @e:		Set on failure
 */
struct walk {
	struct strlist *found;
	size_t left;
	struct err *e;
};

static int walk_dir(struct walk *w, int parent, const char *name, const char *path, unsigned depth);

static int walk_below(struct walk *w, int parent, const char *path, const char *name,
		      unsigned depth)
{
	cleanup_free char *below = path_join(path, name, w->e);

	return below == NULL ? -1 : walk_dir(w, parent, name, below, depth + 1);
}

/* gitrepository-layout(5): a submodule's has a HEAD, and a folder with its own submodules */
static int walk_entries(struct walk *w, DIR *dir, const char *path, unsigned depth)
{
	const struct dirent *entry;

	while ((entry = readdir(dir)) != NULL) {
		cleanup_free char *below = NULL;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		below = path_join(path, entry->d_name, w->e);
		if (below == NULL || walk_dir(w, dirfd(dir), entry->d_name, below, depth + 1) < 0)
			return -1;
	}
	return 0;
}

/* A symlink is no folder of the repository's. */
static int walk_dir(struct walk *w, int parent, const char *name, const char *path, unsigned depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_dir DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct stat st;

	if (dir == NULL)
		return 0;
	if (depth > DEPTH_MAX || w->left-- == 0)
		return err_set(
			w->e, 0,
			"%s: more folders than a repository has, and in any of them could be "
			"a configuration that git outside obeys",
			path);
	if (fstatat(fd, "HEAD", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return walk_entries(w, dir, path, depth);
	if (strlist_add(w->found, path, w->e) < 0)
		return -1;
	return walk_below(w, fd, path, "modules", depth);
}

/* The rest of a launch protects what is in them. */
static int find_git_dirs(struct launch *l, struct err *e)
{
	cleanup_free char *own = path_join(l->workspace, ".git", e);
	const char *repository = l->git_common != NULL ? l->git_common : own;
	struct walk w = { .found = &l->git_dirs, .left = DIRS_MAX, .e = e };
	cleanup_fd int fd = -1;

	if (own == NULL)
		return -1;
	fd = open(repository, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (walk_below(&w, fd, repository, "modules", 0) < 0)
		return -1;
	return walk_below(&w, fd, repository, "worktrees", 0);
}

/**
 * git_read() - Find out what a launch needs to know of git
 * @l:		The launch, its home, workspace and state known; filled in
 * @asked:	Ask git(1) who commits; else that stays open
 * @e:		Set on failure
 *
 * Return: 0 on success, -1 on failure
 */
int git_read(struct launch *l, bool asked, struct err *e)
{
	if (find_signing(l, e) < 0 || read_config(l, asked, e) < 0 || find_repository(l, e) < 0)
		return -1;
	return find_git_dirs(l, e);
}
