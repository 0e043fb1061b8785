/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: The git configuration of a session, as text
 *
 * In the place of the developer's own, which holds tokens, helpers and aliases that are
 * commands.  Only who commits is taken over.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>

#include "cleanup.h"
#include "err.h"
#include "gitconfig.h"

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

/**
 * gitconfig_make() - Write the configuration of a session
 * @name:	user.name; NULL: none
 * @email:	user.email; NULL: none
 * @workspace:	Its repository is trusted, whoever owns it (safe.directory)
 * @e:		Set on failure
 *
 * Commits are not signed: the developer's keys stay outside.
 *
 * Return: text owned by the caller, NULL on failure
 */
char *gitconfig_make(const char *name, const char *email, const char *workspace, struct err *e)
{
	cleanup_free char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (f == NULL) {
		(void)err_set(e, ENOMEM, "allocate the session's gitconfig");
		return NULL;
	}
	if (name != NULL || email != NULL)
		(void)fputs("[user]\n", f);
	if (name != NULL)
		put_value(f, "name", name);
	if (email != NULL)
		put_value(f, "email", email);
	(void)fputs("[safe]\n", f);
	put_value(f, "directory", workspace);
	(void)fputs("[commit]\n\tgpgSign = false\n[tag]\n\tgpgSign = false\n", f);
	if (fclose(f) != 0) {
		(void)err_set(e, ENOMEM, "allocate the session's gitconfig");
		return NULL;
	}
	return steal_ptr(&text);
}
