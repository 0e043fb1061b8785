/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DOC: What a program has switched on in a terminal, by what it wrote
 *
 * A program that is killed leaves a terminal that reports the mouse, hides the cursor and shows
 * the alternate screen.  So the sequences that change such things are followed, to be taken back.
 * They are those of xterm's ctlseqs and of kitty's keyboard protocol.  All else is passed over,
 * also what stands in strings (OSC, DCS): there is no escape in them but at their end.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cleanup.h"
#include "modes.h"

#define ESC '\033'
#define PARAMETERS_MAX 16

/**
 * struct dec_mode - a private mode of DECSET and DECRST
 * @number:	Its number
 * @is_on:	What it is in a terminal that nothing has changed
 */
struct dec_mode {
	unsigned number;
	bool is_on;
};

/* In the order in which they are taken back: the screen last, with the cursor */
static const struct dec_mode dec_modes[] = {
	{ 2026, false }, /* output held back */
	{ 2048, false }, /* reports of the size */
	{ 2031, false }, /* reports of the colour scheme */
	{ 2004, false }, /* bracketed paste */
	{ 1004, false }, /* reports of the focus */
	{ 1003, false }, { 1002, false }, { 1001, false }, { 1000, false },
	{ 9, false },                                                       /* mouse */
	{ 1016, false }, { 1015, false }, { 1006, false }, { 1005, false }, /* its reports' form */
	{ 1, false },                                                       /* cursor keys */
	{ 5, false },                                                       /* reverse video */
	{ 6, false },                                                       /* origin */
	{ 7, true },                                                        /* lines wrap */
	{ 1049, false }, { 1047, false }, { 47, false }, /* the alternate screen */
	{ 25, true },                                    /* the cursor is seen */
};
_Static_assert(N_ELEMENTS(dec_modes) <= 32, "a bit for each");

static void set_dec_mode(struct modes *m, unsigned number, bool on)
{
	for (size_t i = 0; i < N_ELEMENTS(dec_modes); i++)
		if (dec_modes[i].number == number) {
			m->changed &= ~(UINT32_C(1) << i);
			if (on != dec_modes[i].is_on)
				m->changed |= UINT32_C(1) << i;
		}
}

/* Numbers of a control sequence; what is left out is 0.  Returns how many. */
static size_t parameters(const char *p, unsigned ret[PARAMETERS_MAX])
{
	size_t n = 0;

	for (;; p++) {
		char *end;

		ret[n++] = (unsigned)strtoul(p, &end, 10);
		p = end;
		if (*p != ';' || n == PARAMETERS_MAX)
			return n;
	}
}

static void see_dec_modes(struct modes *m, bool on)
{
	unsigned v[PARAMETERS_MAX];
	size_t n = parameters(m->sequence + 1, v);

	for (size_t i = 0; i < n; i++)
		set_dec_mode(m, v[i], on);
}

/* CSI > flags u puts an entry on the stack, CSI < n u takes n away, CSI = flags u sets the top. */
static void see_keyboard(struct modes *m)
{
	unsigned v[PARAMETERS_MAX];

	(void)parameters(m->sequence + 1, v);
	if (m->sequence[0] == '>')
		m->keyboards++;
	else if (m->sequence[0] == '=' && v[0] != 0 && m->keyboards == 0)
		m->keyboards = 1;
	else if (m->sequence[0] == '<')
		m->keyboards -= v[0] == 0             ? m->keyboards > 0
				: v[0] < m->keyboards ? v[0]
						      : m->keyboards;
}

static void see_attributes(struct modes *m)
{
	unsigned v[PARAMETERS_MAX];
	size_t n;

	if (m->sequence[0] == '>') {
		n = parameters(m->sequence + 1, v);
		if (v[0] == 4)
			m->other_keys = n > 1 && v[1] != 0;
		return;
	}
	n = parameters(m->sequence, v);
	m->attributes = n != 1 || v[0] != 0;
}

static void see_control(struct modes *m, char final)
{
	if (m->n >= sizeof(m->sequence))
		return;
	m->sequence[m->n] = '\0';
	if ((final == 'h' || final == 'l') && m->sequence[0] == '?')
		see_dec_modes(m, final == 'h');
	else if (final == 'u')
		see_keyboard(m);
	else if (final == 'm' && m->sequence[0] != '?')
		see_attributes(m);
	else if (final == 'q' && m->n > 0 && m->sequence[m->n - 1] == ' ')
		m->cursor = strtoul(m->sequence, NULL, 10) != 0;
	else if (final == 'p' && strcmp(m->sequence, "!") == 0) /* DECSTR */
		*m = (struct modes){ .changed = m->changed, .keyboards = m->keyboards };
}

static void see_escape(struct modes *m, char c)
{
	m->state = MODES_TEXT;
	if (c == '[') {
		m->state = MODES_CONTROL;
		m->n = 0;
	} else if (c == '(') {
		m->state = MODES_CHARSET;
	} else if (c == 'c') { /* RIS */
		*m = (struct modes){ 0 };
	} else if (c == '=' || c == '>') {
		m->keypad = c == '=';
	}
}

static void see_byte(struct modes *m, char c)
{
	if (c == ESC) { /* also within a sequence, which it ends */
		m->state = MODES_ESCAPE;
		return;
	}
	switch (m->state) {
	case MODES_TEXT:
		break;
	case MODES_ESCAPE:
		see_escape(m, c);
		break;
	case MODES_CHARSET:
		m->charset = c != 'B';
		m->state = MODES_TEXT;
		break;
	case MODES_CONTROL:
		if (c >= '@' && c <= '~') {
			m->state = MODES_TEXT;
			see_control(m, c);
		} else if (m->n < sizeof(m->sequence) - 1) {
			m->sequence[m->n++] = c;
		} else {
			m->n = sizeof(m->sequence);
		}
		break;
	}
}

/**
 * modes_see() - Follow what a program writes
 * @m:		What was followed so far
 * @text:	What it writes next, any bytes; sequences may be cut anywhere
 * @n:		How many
 */
void modes_see(struct modes *m, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (m->state == MODES_TEXT) {
			const char *next = memchr(text + i, ESC, n - i);

			if (next == NULL)
				return;
			i = (size_t)(next - text);
		}
		see_byte(m, text[i]);
	}
}

/**
 * modes_reset() - Write what takes back all that was switched on
 * @m:		What was followed
 * @ret:	Filled, without a NUL
 *
 * Return: its length, 0 if there is nothing to take back
 */
size_t modes_reset(const struct modes *m, char ret[MODES_RESET_MAX])
{
	FILE *f = fmemopen(ret, MODES_RESET_MAX, "w");
	long n;

	if (f == NULL)
		return 0;
	if (m->keyboards > 0)
		(void)fprintf(f, "\033[<%uu", m->keyboards);
	if (m->other_keys)
		(void)fputs("\033[>4;0m", f);
	if (m->keypad)
		(void)fputs("\033>", f);
	if (m->charset)
		(void)fputs("\033(B", f);
	if (m->attributes)
		(void)fputs("\033[0m", f);
	if (m->cursor)
		(void)fputs("\033[0 q", f);
	for (size_t i = 0; i < N_ELEMENTS(dec_modes); i++)
		if ((m->changed & (UINT32_C(1) << i)) != 0)
			(void)fprintf(f, "\033[?%u%c", dec_modes[i].number,
				      dec_modes[i].is_on ? 'h' : 'l');
	n = ftell(f);
	(void)fclose(f);
	return n > 0 ? (size_t)n : 0;
}
