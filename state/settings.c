/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: Settings that an agent may be given from outside
 *
 * Settings can name commands that the agent runs on its own, and variables and headers that hold
 * the developer's tokens.  What has such keys stays outside as a whole: a program that edits
 * foreign settings would have to follow each agent's every version.
 *
 * This is no JSON parser, and needs none: it tells strings from what is between them, refuses
 * whatever could make an agent's parser see other strings than it does, and looks at the keys.
 */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "cleanup.h"
#include "settings.h"

#define BLANKS " \t\r\n"

/* What lets an agent run something, or holds what is secret, in any of the shipped agents */
static const char *const keys[] = {
	"hooks",
	"env",
	"headers",
	"mcpServers",
	"apiKeyHelper",
	"awsAuthRefresh",
	"awsCredentialExport",
	"gcpAuthRefresh",
	"otelHeadersHelper",
	"proxyAuthHelper",
	"statusLine",
	"subagentStatusLine",
	"fileSuggestion",
	"enabledPlugins",
	"extraKnownMarketplaces",
	"extensions",
	"packages",
	"npmCommand",
	"shellPath",
	"shellCommandPrefix",
};

static bool is_named(const char *key, size_t len)
{
	for (size_t i = 0; i < N_ELEMENTS(keys); i++)
		if (strlen(keys[i]) == len && memcmp(keys[i], key, len) == 0)
			return true;
	return false;
}

/* {}, [], null, false or "": the key is there, and says nothing. */
static bool is_empty_value(const char *p)
{
	static const char *const nothing[] = { "null", "false", "\"\"" };
	const char open = *p;

	for (size_t i = 0; i < N_ELEMENTS(nothing); i++)
		if (strncmp(p, nothing[i], strlen(nothing[i])) == 0)
			return true;
	if (open != '{' && open != '[')
		return false;
	p++;
	p += strspn(p, BLANKS);
	return *p == (open == '{' ? '}' : ']');
}

/* Where a string ends that begins at @p, a quote; NULL: it doesn't. */
static const char *end_of_string(const char *p)
{
	for (p++; *p != '\0' && *p != '"'; p++)
		if (*p == '\\' && *++p == '\0')
			return NULL;
	return *p == '"' ? p : NULL;
}

/**
 * settings_refusal() - Say why settings must stay outside
 * @text:	JSON
 * @word:	Gets the key that it is about, if there is one
 * @size:	Room in @word
 *
 * Return: why, which is told with @word in its place if that isn't ""; NULL if they need not
 */
const char *settings_refusal(const char *text, char *word, size_t size)
{
	static const char plain[] = "{}[]:,+-.0123456789truefalsnE" BLANKS;

	word[0] = '\0';
	for (const char *p = text; *p != '\0'; p++) {
		const char *end, *next;

		if (*p != '"') {
			if (strchr(plain, *p) == NULL)
				return "it is not plain JSON";
			continue;
		}
		end = end_of_string(p);
		if (end == NULL)
			return "it is not plain JSON";
		next = end + 1 + strspn(end + 1, BLANKS);
		if (*next == ':') {
			const size_t len = (size_t)(end - p - 1);

			next += 1 + strspn(next + 1, BLANKS);
			if (memchr(p, '\\', len + 1) != NULL)
				return "it has a key with an escape in it";
			if (is_named(p + 1, len) && !is_empty_value(next)) {
				(void)strncpy(word, p + 1, len < size ? len : size - 1);
				word[len < size ? len : size - 1] = '\0';
				return "it has a key that says what to run, or is secret";
			}
		}
		p = end;
	}
	return NULL;
}
