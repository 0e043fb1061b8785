/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: UTF-8 in text of somebody else's, which may be any bytes
 */
#include "config.h"

#include "cleanup.h"
#include "utf8.h"

/**
 * utf8_length() - Measure a character, by RFC 3629, section 4
 * @text:	Begins with it, and has a NUL at its end
 *
 * Return: its bytes; 0 if there is none: another byte than a character begins with
 */
size_t utf8_length(const char *text)
{
	static const struct {
		unsigned char first, last; /* of the first byte */
		unsigned char second_min, second_max;
		size_t length;
	} forms[] = {
		{ 0x01, 0x7f, 0, 0xff, 1 },    { 0xc2, 0xdf, 0x80, 0xbf, 2 },
		{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
		{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
		{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
		{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
	};
	const unsigned char *p = (const unsigned char *)text;

	for (size_t i = 0; i < N_ELEMENTS(forms); i++) {
		if (p[0] < forms[i].first || p[0] > forms[i].last)
			continue;
		if (forms[i].length > 1 &&
		    (p[1] < forms[i].second_min || p[1] > forms[i].second_max))
			return 0;
		/* The NUL at the end is no such byte, so nothing behind it is read */
		for (size_t k = 2; k < forms[i].length; k++)
			if ((p[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].length;
	}
	return 0;
}

/**
 * utf8_is_control() - Say whether a character is one that a terminal obeys
 * @text:	Begins with it
 *
 * Return: true for U+0001 to U+001F, and for U+007F to U+009F
 */
bool utf8_is_control(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0);
}
