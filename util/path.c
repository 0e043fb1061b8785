/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Paths as text
 *
 * No function here asks the kernel anything: "below" means what the spelling says.
 * Where a symlink could make a difference, the caller resolves first.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cleanup.h"
#include "err.h"
#include "path.h"

/**
 * path_is_clean() - Say whether a path is absolute and has no ".", ".." or empty component
 * @path:	Path; "/" is clean, "/a/" is not
 *
 * Return: true if it is
 */
bool path_is_clean(const char *path)
{
	if (path[0] != '/')
		return false;
	if (path[1] == '\0')
		return true;

	for (const char *p = path; *p == '/';) {
		size_t n = strcspn(++p, "/");

		if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += n;
	}
	return true;
}

/**
 * path_is_at_or_below() - Say whether one clean path is another, or inside it
 * @path:	Clean path
 * @dir:	Clean path
 *
 * Return: true if it is
 */
bool path_is_at_or_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1)
		return true;
	return strncmp(path, dir, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/**
 * path_is_below() - Say whether one clean path is inside another, and not the same
 * @path:	Clean path
 * @dir:	Clean path
 *
 * Return: true if it is
 */
bool path_is_below(const char *path, const char *dir)
{
	return path_is_at_or_below(path, dir) && strcmp(path, dir) != 0;
}

/**
 * path_clean() - Make an absolute path clean, by its spelling
 * @path:	Absolute path
 * @e:		Set on failure
 *
 * Double and trailing slashes and "." go.  ".." is refused: with symlinks about, what it
 * means can't be told from the spelling.
 *
 * Return: path owned by the caller, NULL on failure
 */
char *path_clean(const char *path, struct err *e)
{
	cleanup_free char *ret = malloc(strlen(path) + 2);
	size_t len = 0;

	if (ret == NULL) {
		(void)err_set(e, ENOMEM, "allocate a path");
		return NULL;
	}
	if (path[0] != '/') {
		(void)err_set(e, 0, "`%s` is not an absolute path", path);
		return NULL;
	}

	for (const char *p = path; *p != '\0';) {
		size_t n;

		p += strspn(p, "/");
		n = strcspn(p, "/");
		if (n == 2 && p[0] == '.' && p[1] == '.') {
			(void)err_set(e, 0, "`%s` has a .. component", path);
			return NULL;
		}
		if (n > 0 && !(n == 1 && p[0] == '.')) {
			ret[len++] = '/';
			memcpy(ret + len, p, n);
			len += n;
		}
		p += n;
	}
	if (len == 0)
		ret[len++] = '/';
	ret[len] = '\0';

	return steal_ptr(&ret);
}

/**
 * path_join() - Put a relative path below a folder
 * @dir:	Folder
 * @rel:	Relative path
 * @e:		Set on failure
 *
 * Return: path owned by the caller, NULL on failure
 */
char *path_join(const char *dir, const char *rel, struct err *e)
{
	char *ret = NULL;

	if (asprintf(&ret, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, rel) < 0) {
		(void)err_set(e, ENOMEM, "allocate a path");
		return NULL;
	}
	return ret;
}

/**
 * path_unescape() - Undo \ooo, as mountinfo in proc(5) has what would end a path
 * @text:	Path
 * @len:	Its length
 * @e:		Set on failure: memory, or a bad escape
 *
 * Return: path owned by the caller, NULL on failure
 */
char *path_unescape(const char *text, size_t len, struct err *e)
{
	cleanup_free char *ret = malloc(len + 1);
	const int shown = len > 60 ? 60 : (int)len;
	size_t n = 0;

	if (ret == NULL) {
		(void)err_set(e, ENOMEM, "allocate a path");
		return NULL;
	}
	for (size_t i = 0; i < len; i++) {
		unsigned c = (unsigned char)text[i];

		if (c == '\\') {
			if (len - i < 4 || strspn(text + i + 1, "01234567") < 3) {
				(void)err_set(e, 0, "`%.*s`: bad escape", shown, text);
				return NULL;
			}
			c = (unsigned)(text[i + 1] - '0') << 6 |
			    (unsigned)(text[i + 2] - '0') << 3 | (unsigned)(text[i + 3] - '0');
			i += 3;
		}
		if (c == 0 || c > 255) {
			(void)err_set(e, 0, "`%.*s`: bad escape", shown, text);
			return NULL;
		}
		ret[n++] = (char)c;
	}
	ret[n] = '\0';
	return steal_ptr(&ret);
}
