#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What a program has switched on in a terminal, and how that is taken back.

bats_require_minimum_version 1.5.0

# taken_back RESET WRITTEN: who has written this (printf(1)'s escapes) and was killed is taken back so,
# wherever what it wrote is cut
taken_back() {
	local n

	for n in 1 2 3 7 4096; do
		# shellcheck disable=SC2059
		output=$(printf "$2" | "$BUILDDIR/tests/lib/modes" "$n" | sed 's/\x1b/^/g')
		[[ $output == "$1" ]] || {
			printf 'in pieces of %s: expected: %s\n got: %s\n' "$n" "$1" "$output"
			return 1
		}
	done
}

@test "modes: nothing was switched on" {
	taken_back '' ''
	taken_back '' 'text\nUTF-8 \303\244\342\224\200\n'
	taken_back '' '\033[2J\033[H\033[10;20r\033[K\033[6n\033[c\033[?u\033[?2004$p'
}

@test "modes: what was switched on is off, the alternate screen last" {
	taken_back '^[?2004l^[?1003l^[?1006l^[?1049l^[?25h' '\033[?1049h\033[?25l\033[?1003;1006h\033[?2004h'
}

@test "modes: what was switched off again is not taken back" {
	taken_back '' '\033[?1049h\033[?25ltext\033[?25h\033[?1049l'
	taken_back '^[?2004l' '\033[?1;2004h\033[?1l'
}

@test "modes: kitty's stack of keyboard modes" {
	taken_back '^[<1u' '\033[>1u'
	taken_back '^[<2u' '\033[>1u\033[>5u'
	taken_back '^[<1u' '\033[>1u\033[>5u\033[<u'
	taken_back '' '\033[>1u\033[<9u'
	taken_back '^[<1u' '\033[=1u'
}

@test "modes: keys of xterm, the keypad, the cursor, attributes and characters that draw lines" {
	taken_back '^[>4;0m' '\033[>4;2m'
	taken_back '' '\033[>4;2m\033[>4m'
	taken_back '^>' '\033='
	taken_back '^[0 q' '\033[5 q'
	taken_back '' '\033[5 q\033[0 q'
	taken_back '^[0m' '\033[1;38;2;1;2;3mtext'
	taken_back '' '\033[1mtext\033[m\033[31mtext\033[0m'
	taken_back '^(B' '\033(0qqq'
	taken_back '' '\033(0qqq\033(B'
}

@test "modes: a reset by the program itself" {
	taken_back '' '\033[?1049h\033[1m\033[>1u\033c'
	taken_back '^[?1049l' '\033[?1049h\033[1m\033(0\033[!p'
}

@test "modes: what is no such sequence is passed over" {
	taken_back '' '\033]0;title [?1049h\007\033P[?25l\033\134'
	taken_back '' "\\033[?$(printf '%0100d' 0)1049h"
	taken_back '' '\033[?1049\033[?h\033[h\033[?99999999999999999999h'
	taken_back '^[?25h' '\033[?1049\033[?25l'
}

@test "modes: random bytes" {
	head -c 1000000 /dev/urandom | "$BUILDDIR/tests/lib/modes" 4096 >/dev/null
}
