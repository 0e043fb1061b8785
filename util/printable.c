/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "printable.h"
#include "utf8.h"

/**
 * printable_put() - Write text of somebody else's for people
 * @f:		Where to; the caller looks for its errors
 * @text:	Any bytes
 *
 * On one line, and so that no terminal obeys it: control characters, bytes that are not UTF-8 and
 * the backslash are written as \ooo, like in /proc/self/mountinfo.
 */
void printable_put(FILE *f, const char *text)
{
	while (*text != '\0') {
		size_t n = utf8_length(text);

		if (n > 0 && *text != '\\' && !utf8_is_control(text)) {
			(void)fwrite(text, 1, n, f);
			text += n;
			continue;
		}
		if (n == 0)
			n = 1;
		for (; n > 0; n--)
			(void)fprintf(f, "\\%03o", (unsigned char)*text++);
	}
}
