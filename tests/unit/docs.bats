#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The man pages say what the programs know, all of it, and nothing else.
bats_require_minimum_version 1.5.0

setup() {
	: "${SRCDIR:=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)}"
	export SRCDIR
	# shellcheck source=tests/lib/hook.bash
	. "$SRCDIR/tests/lib/hook.bash"
}

# table_keys FILE: keys of its table of directives, sorted
table_keys() {
	sed -nE '/^static const struct directive keys/,/^};/s/^\t\{ "([a-z-]+)".*/\1/p' "$1" | sort -u
}

# page_keys PAGE: keys that it has an entry or a row for, sorted
page_keys() {
	sed -nE 's/^\.It Ic ([a-z-]+).*/\1/p' "$1" | sort -u
}

# keys_agree SOURCE PAGE: both know the same keys, and no row of the table was overlooked
keys_agree() {
	local rows

	rows=$(sed -n '/^static const struct directive keys/,/^};/p' "$SRCDIR/$1" | grep -c '^	{')
	table_keys "$SRCDIR/$1" >"$BATS_TEST_TMPDIR/known"
	page_keys "$SRCDIR/$2" >"$BATS_TEST_TMPDIR/described"
	[[ $rows -gt 0 && $(wc -l <"$BATS_TEST_TMPDIR/known") == "$rows" ]]
	diff -u "$BATS_TEST_TMPDIR/known" "$BATS_TEST_TMPDIR/described"
}

# policy_says KEY WORD: what is printed about a policy with the line KEY = WORD
policy_says() {
	hook_policy "$1 = $2"
	"$HOOK" --config "$HOOK_CONFIG" --libexec "$HOOK_LIBEXEC" --hooks-dir /nowhere --check |
		grep -E '^[a-z]+ +policy:'
}

@test "docs: oci-sandbox-policy(5) has each key of the policy, and no other" {
	keys_agree config/policy.c docs/oci-sandbox-policy.5
}

@test "docs: oci-sandbox-profile(5) has each key of a profile, and no other" {
	keys_agree config/profile.c docs/oci-sandbox-profile.5
}

@test "docs: what oci-sandbox-policy(5) calls not supported yet is refused so" {
	local key kind rows=0
	local -A example=([path]=/x
		['a size, such as 4G']=4G [number]=7 [name]=x.example [names]=x)

	hook_setup "$BATS_TEST_TMPDIR/host"
	while IFS=$'\t' read -r key kind; do
		rows=$((rows + 1))
		[[ -n ${example[$kind]} ]]
		run -0 policy_says "$key" "${example[$kind]}"
		[[ $output == "problem "*":1: $key: not supported yet"* ]]
	done < <(sed -nE '/^\.Ss Keys that are not supported yet/,/^\.El/s/^\.It Ic ([a-z-]+) Ta (.*)$/\1\t\2/p' \
		"$SRCDIR/docs/oci-sandbox-policy.5")
	[[ $rows -ge 3 ]]
}

@test "docs: the examples of policy and profile are understood" {
	local page block

	hook_setup "$BATS_TEST_TMPDIR/host"
	page=$SRCDIR/docs/oci-sandbox-profile.5
	sed -n '/^\.Bd -literal/,/^\.Ed/p' "$page" | sed -n '2,/^\.Ed/{/^\.Ed/q;p}' \
		>"$HOOK_CONFIG/agents/helper.conf"
	grep -q '^commands  = helper$' "$HOOK_CONFIG/agents/helper.conf"
	block=$(sed -n '/^\.Bd -literal/,/^\.Ed/{/^\./d;p}' "$SRCDIR/docs/oci-sandbox-policy.5" | grep ' = ')
	[[ $block == *"allow-ip"* ]]
	hook_policy "agents = helper" "$block"
	run "$HOOK" --config "$HOOK_CONFIG" --libexec "$HOOK_LIBEXEC" --hooks-dir /nowhere --check
	[[ $output == *"ok       policy: "* && $output == *"ok       profiles: "* ]]
}

@test "docs: each option that --help names is in oci-sandbox-hook(8), and the other way round" {
	"$HOOK" --help | grep -oE -e '--[a-z-]+' | sort -u >"$BATS_TEST_TMPDIR/known"
	[[ -s $BATS_TEST_TMPDIR/known ]]
	# in mdoc, --config is "Fl -config"
	sed -nE '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$SRCDIR/docs/oci-sandbox-hook.8" |
		grep -oE '(Fl|\|) -[a-z-]+' | sed -E 's/^(Fl|\|) /-/' | sort -u >"$BATS_TEST_TMPDIR/described"
	diff -u "$BATS_TEST_TMPDIR/known" "$BATS_TEST_TMPDIR/described"
}

@test "docs: each word that oci-sandbox knows is in oci-sandbox(1), and the other way round" {
	{ "$BUILDDIR/oci-sandbox" --help && "$BUILDDIR/cli/cli" --help; } | grep -oE -e '--[a-z-]+' | sort -u >"$BATS_TEST_TMPDIR/known"
	sed -nE '/^\.Sh SYNOPSIS/,/^\.Sh DESCRIPTION/p' "$SRCDIR/docs/oci-sandbox.1" |
		grep -oE 'Fl -[a-z-]+' | sed -E 's/^Fl /-/' | sort -u >"$BATS_TEST_TMPDIR/described"
	diff -u "$BATS_TEST_TMPDIR/known" "$BATS_TEST_TMPDIR/described"
	sed -nE '/(subcommands|verbs)\[\] = /,/^};/s/\{ "([a-z][a-z-]*)"/\n@\1\n/gp' "$SRCDIR"/cli/*.c |
		sed -n 's/^@//p' | sort -u >"$BATS_TEST_TMPDIR/known"
	grep -qx status "$BATS_TEST_TMPDIR/known"
	grep -oE 'Cm [a-z |,-]+' "$SRCDIR/docs/oci-sandbox.1" | sed 's/^Cm //' | tr -s ' |,' '\n' |
		sort -u >"$BATS_TEST_TMPDIR/described"
	diff -u "$BATS_TEST_TMPDIR/known" "$BATS_TEST_TMPDIR/described"
}

@test "docs: mandoc finds nothing wrong with the pages" {
	command -v mandoc >/dev/null || skip "needs mandoc"
	# what other packages have installed says nothing about a page
	run mandoc -T lint "$SRCDIR"/docs/*.[158]
	run ! grep -vE 'referenced manual not found|outdated mandoc.db' <<<"$output"
}
