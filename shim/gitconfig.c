/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The git configuration of a session, as text
 *
 * In the place of the developer's own, which holds tokens, helpers and aliases that are
 * commands.  Only who commits is taken over, and that there is git-lfs(1).
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>

#include "cleanup.h"
#include "err.h"
#include "gitconfig.h"
#include "policy.h"

/* A value in quotes, git-config(1) "SYNTAX"; other control characters have no escape there. */
static void put_value(FILE *f, const char *key, const char *value)
{
	(void)fprintf(f, "\t%s = \"", key);
	for (; *value != '\0'; value++) {
		unsigned char c = (unsigned char)*value;

		if (c == '\n')
			(void)fputs("\\n", f);
		else if (c == '"' || c == '\\')
			(void)fprintf(f, "\\%c", c);
		else if (c >= 0x20 && c != 0x7f)
			(void)fputc(c, f);
	}
	(void)fputs("\"\n", f);
}

/*
 * No key of the developer's reaches the sandbox, so what goes by ssh goes by https, and the forge's
 * own command is asked for the login.  The empty helper drops those that were named before.
 */
static void put_forge(FILE *f, const char *host, enum policy_forge_tool tool)
{
	(void)fprintf(f,
		      "[url \"https://%s/\"]\n"
		      "\tinsteadOf = git@%s:\n"
		      "\tinsteadOf = ssh://git@%s/\n"
		      "[credential \"https://%s\"]\n"
		      "\thelper =\n"
		      "\thelper = !%s auth git-credential\n",
		      host, host, host, host, policy_forge_tool_name(tool));
}

/* As `git lfs install` writes it.  Without it, what belongs into LFS would go into commits. */
static const char lfs[] = "[filter \"lfs\"]\n"
			  "\tclean = git-lfs clean -- %f\n"
			  "\tsmudge = git-lfs smudge -- %f\n"
			  "\tprocess = git-lfs filter-process\n"
			  "\trequired = true\n";

static void put_forges(FILE *f, const struct policy *p)
{
	if (p->no_forge)
		return;
	put_forge(f, "github.com", POLICY_FORGE_GH);
	put_forge(f, "gitlab.com", POLICY_FORGE_GLAB);
	for (size_t i = 0; i < p->n_forge; i++)
		put_forge(f, p->forge[i].host, p->forge[i].tool);
}

/*
 * A tag is signed where it is made to have a message: with tag.gpgSign, `git tag NAME` would ask
 * for one.
 */
static void put_signing(FILE *f, const struct gitconfig_input *in)
{
	if (in->signs_with == NULL) {
		(void)fputs("[commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n", f);
		return;
	}
	(void)fputs("[gpg]\n\tformat = ssh\n[gpg \"ssh\"]\n", f);
	put_value(f, "program", in->signs_with);
	(void)fputs("[user]\n", f);
	put_value(f, "signingKey", in->signing_key);
	(void)fputs("[commit]\n\tgpgSign = true\n[tag]\n\tforceSignAnnotated = true\n", f);
}

/**
 * gitconfig_make() - Write the configuration of a session
 * @in:		What it is made from
 * @e:		Set on failure
 *
 * The developer's keys stay outside, so commits are signed with the agents' own, or not at all. The
 * repository's own configuration is read-only, so git does not try to note there which branch
 * follows which, and pushes a branch to the one of the same name without having noted it.
 *
 * Return: text owned by the caller, NULL on failure
 */
char *gitconfig_make(const struct gitconfig_input *in, struct err *e)
{
	cleanup_free char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (f == NULL) {
		(void)err_set(e, ENOMEM, "allocate the session's gitconfig");
		return NULL;
	}
	if (in->name != NULL || in->email != NULL)
		(void)fputs("[user]\n", f);
	if (in->name != NULL)
		put_value(f, "name", in->name);
	if (in->email != NULL)
		put_value(f, "email", in->email);
	(void)fputs("[safe]\n", f);
	put_value(f, "directory", in->workspace);
	put_signing(f, in);
	(void)fputs("[branch]\n\tautoSetupMerge = false\n[push]\n\tdefault = current\n", f);
	if (in->lfs)
		(void)fputs(lfs, f);
	put_forges(f, in->policy);
	if (fclose(f) != 0) {
		(void)err_set(e, ENOMEM, "allocate the session's gitconfig");
		return NULL;
	}
	return steal_ptr(&text);
}
