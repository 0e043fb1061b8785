/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TERMINAL_MODES_H
#define TERMINAL_MODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODES_SEQUENCE_MAX 48 /* parameters that are looked at, in bytes */
#define MODES_RESET_MAX 256   /* what modes_reset() can make */

/**
 * struct modes - what a program has switched on in a terminal
 * @changed:	Modes of DECSET that are not as they were, a bit for each that is known
 * @keyboards:	Entries that it put on kitty's stack of keyboard modes
 * @other_keys:	xterm's modifyOtherKeys
 * @keypad:	DECKPAM
 * @cursor:	The shape of the cursor, DECSCUSR
 * @attributes:	Text attributes, SGR
 * @charset:	A character set that draws lines
 * @state:	Where in an escape sequence the last byte was
 * @sequence:	Parameters of the control sequence that is not complete
 * @n:		How many bytes of them; larger than the room if it is too long to matter
 *
 * All zero is a terminal in which nothing was changed.
 */
struct modes {
	uint32_t changed;
	unsigned keyboards;
	bool other_keys;
	bool keypad;
	bool cursor;
	bool attributes;
	bool charset;
	enum { MODES_TEXT, MODES_ESCAPE, MODES_CONTROL, MODES_CHARSET } state;
	char sequence[MODES_SEQUENCE_MAX];
	size_t n;
};

void modes_see(struct modes *m, const char *text, size_t n);
size_t modes_reset(const struct modes *m, char ret[MODES_RESET_MAX]);

#endif
