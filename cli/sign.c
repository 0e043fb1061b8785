/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: oci-sandbox signing: a key for what agents commit
 *
 * There is one or there is none, and sessions sign or they don't: nothing else is remembered.  The
 * key comes into its place as a whole, and goes from it as a whole.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "cleanup.h"
#include "cli.h"
#include "err.h"
#include "home.h"
#include "io.h"
#include "path.h"
#include "program.h"
#include "run_dir.h"
#include "sign.h"
#include "signing.h"
#include "store.h"
#include "tree.h"

#define COMMENT "oci-sandbox-agents"
#define PUBLIC_MAX_BYTES 4096

/**
 * struct signer - whose key
 * @home:	The developer's
 * @root:	STATE
 * @dir:	The key's folder in it
 * @uid:	The developer
 */
struct signer {
	char *home;
	char *root;
	char *dir;
	uid_t uid;
};

static void signer_done(struct signer *s)
{
	free(s->home);
	free(s->root);
	free(s->dir);
}

/* ---- status ---- */

static int print_key(const struct signer *s, struct err *e)
{
	cleanup_free char *path = path_join(s->dir, SIGNING_PUBLIC, e);
	cleanup_free char *key = path == NULL ? NULL : read_path(path, PUBLIC_MAX_BYTES, e);

	if (key == NULL)
		return -1;
	key[strcspn(key, "\n")] = '\0';
	(void)printf("on: agents' commits have the signature of this key, which every agent can "
		     "read:\n"
		     "it stands for their work, and not for you\n"
		     "\n"
		     "%s\n"
		     "\n"
		     "A forge shows such commits as verified by the account that has the key:\n"
		     "GitHub  Settings, SSH and GPG keys, New SSH key, as a Signing Key\n"
		     "GitLab  Preferences, SSH Keys, with the usage type Signing\n"
		     "Never as a key to log in with.  For git itself, a file that\n"
		     "gpg.ssh.allowedSignersFile names needs this line:\n"
		     "\n"
		     "agents namespaces=\"git\" %s\n",
		     key, key);
	return 0;
}

static int run_status(const struct signer *s, struct err *e)
{
	if (signing_check(s->dir, s->uid, e) == 0)
		return print_key(s, e);
	if (e->code != ENOENT)
		return err_wrap(e, "commits are not signed");
	(void)puts("off: agents' commits are not signed");
	return 0;
}

/* ---- auto ---- */

static int make_key(const struct signer *s, const char *dir, struct err *e)
{
	cleanup_free char *key = path_join(dir, SIGNING_KEY, e);
	const char *const argv[] = { "ssh-keygen", "-q",    "-t", "ed25519", "-N", "",
				     "-C",         COMMENT, "-f", key,       NULL };

	return key == NULL ? -1 : program_run(signing_program(), argv, s->home, -1, e);
}

static int put_in_place(const struct signer *s, const char *made, struct err *e)
{
	if (renameat2(AT_FDCWD, made, AT_FDCWD, s->dir, RENAME_NOREPLACE) == 0)
		return 0;
	return err_set(e, errno, "rename %s to %s", made, s->dir);
}

static int run_auto(const struct signer *s, struct err *e)
{
	cleanup_fd int root = -1;
	cleanup_free char *made = NULL;
	struct err ignored;

	if (signing_check(s->dir, s->uid, e) == 0)
		return print_key(s, e);
	if (e->code != ENOENT)
		return err_wrap(e, "there is a key that can't be used (`oci-sandbox signing off` "
				   "removes it)");
	if (signing_program() == NULL) {
		(void)err_set(e, 0,
			      "ssh-keygen is missing: install openssh-client (Debian, Ubuntu), "
			      "openssh-clients (Fedora) or openssh-keygen (Alpine)");
		e->code = ENOEXEC;
		return -1;
	}
	root = store_root_open(s->root, e);
	if (root < 0)
		return -1;
	if (asprintf(&made, "%s/." SIGNING_DIR "-XXXXXX", s->root) < 0) {
		made = NULL;
		return err_set(e, ENOMEM, "allocate a path");
	}
	if (mkdtemp(made) == NULL)
		return err_set(e, errno, "make folder %s", made);
	if (make_key(s, made, e) < 0 || put_in_place(s, made, e) < 0) {
		(void)tree_remove(root, strrchr(made, '/') + 1, &ignored);
		return -1;
	}
	return print_key(s, e);
}

/* ---- off ---- */

/* Sessions that run have the files themselves: they sign until they end. */
static int run_off(const struct signer *s, struct err *e)
{
	cleanup_fd int root = open(s->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (root < 0 && errno != ENOENT)
		return err_set(e, errno, "open %s", s->root);
	if (root >= 0 && fstatat(root, SIGNING_DIR, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		/* without it the rest is no key any more, whatever comes between */
		if (S_ISDIR(st.st_mode) && unlinkat(root, SIGNING_DIR "/" SIGNING_KEY, 0) < 0 &&
		    errno != ENOENT)
			return err_set(e, errno, "remove %s/" SIGNING_KEY, s->dir);
		if (tree_remove(root, SIGNING_DIR, e) < 0)
			return err_wrap(e, "%s", s->root);
	}
	(void)puts("off: agents' commits are not signed, and the key is gone");
	return 0;
}

/* ---- all ---- */

static const struct verb {
	const char *name;
	int (*run)(const struct signer *s, struct err *e);
} verbs[] = {
	{ "auto", run_auto },
	{ "off", run_off },
	{ "status", run_status },
};

static int find_signer(const struct run_dir *r, struct signer *ret, struct err *e)
{
	ret->uid = geteuid();
	ret->home = home_find(e);
	if (ret->home == NULL)
		return EX_CONFIG;
	ret->root = store_root_path(r->policy.state_root, ret->home, e);
	if (ret->root == NULL)
		return EX_OSERR;
	ret->dir = path_join(ret->root, SIGNING_DIR, e);
	return ret->dir == NULL ? EX_OSERR : EXIT_SUCCESS;
}

/**
 * sign_run() - Do what `oci-sandbox signing VERB` asks for
 * @r:		What is known of the container; the caller has seen that this is no sandbox
 * @a:		Command line
 * @e:		Set on failure
 *
 * Return: an exit status
 */
int sign_run(const struct run_dir *r, const struct cli_arguments *a, struct err *e)
{
	CLEANUP(signer_done) struct signer s = { 0 };
	int failed;

	for (size_t i = 0; i < N_ELEMENTS(verbs); i++) {
		if (strcmp(verbs[i].name, a->operands[0]) != 0)
			continue;
		failed = find_signer(r, &s, e);
		if (failed == 0 && verbs[i].run(&s, e) < 0)
			failed = e->code == ENOEXEC ? EX_UNAVAILABLE : EX_CANTCREAT;
		return failed;
	}
	(void)err_set(e, 0, "`signing %.60s` is not known: see help", a->operands[0]);
	return EX_USAGE;
}
