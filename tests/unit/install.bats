#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# "make install" and "make uninstall": what they do to an administrator's files.
bats_require_minimum_version 1.5.0

setup() {
	CONF=$BATS_TEST_TMPDIR/image/etc
	FILES=(policy.conf agents/claude.conf agents/codex.conf agents/pi.conf)
}

# install_make TARGET: of the build, but not a part of the make that may run this test
install_make() {
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -C "$BUILDDIR" "$1" \
		DESTDIR="$BATS_TEST_TMPDIR/image" pkgsysconfdir=/etc
}

tree() {
	(cd "$CONF" && find . ! -type d -printf '%P\n' | sort)
}

ours() {
	printf '%s\n' "${FILES[@]}" | sort
}

@test "install: policy and profiles are put where there are none" {
	local file

	run -0 install_make install-data-local
	[[ $(tree) == "$(ours)" ]]
	for file in "${FILES[@]}"; do
		cmp "$SRCDIR/config/$file" "$CONF/$file"
		[[ $(stat -c %a "$CONF/$file") == 644 ]]
	done
}

@test "install: twice is as good as once" {
	local before

	install_make install-data-local
	before=$(cd "$CONF" && stat -c '%n %i %y' "${FILES[@]}")
	run -0 install_make install-data-local
	[[ $(cd "$CONF" && stat -c '%n %i %y' "${FILES[@]}") == "$before" && $(tree) == "$(ours)" ]]
}

@test "install: a changed file stays, with ours beside it until there is no difference" {
	install_make install-data-local
	echo 'match = always' >"$CONF/policy.conf"
	echo '# mine' >>"$CONF/agents/pi.conf"
	cp "$CONF/agents/pi.conf" "$BATS_TEST_TMPDIR/mine"
	run -0 install_make install-data-local
	[[ $output == *"$CONF/policy.conf is not ours, and stays: see $CONF/policy.conf.new"* ]]
	[[ $output == *"$CONF/agents/pi.conf is not ours, and stays"* && $output != *claude.conf* ]]
	[[ $(<"$CONF/policy.conf") == 'match = always' ]]
	cmp "$CONF/agents/pi.conf" "$BATS_TEST_TMPDIR/mine"
	cmp "$CONF/policy.conf.new" "$SRCDIR/config/policy.conf"
	cmp "$CONF/agents/pi.conf.new" "$SRCDIR/config/agents/pi.conf"

	cp "$SRCDIR/config/policy.conf" "$CONF/policy.conf"
	cp "$SRCDIR/config/agents/pi.conf" "$CONF/agents/pi.conf"
	run -0 install_make install-data-local
	[[ $(tree) == "$(ours)" ]]
}

@test "install: a link of the administrator's stays, even if it leads nowhere" {
	mkdir -p "$CONF"
	ln -s /nowhere/policy.conf "$CONF/policy.conf"
	run -0 install_make install-data-local
	[[ $(readlink "$CONF/policy.conf") == /nowhere/policy.conf && -f $CONF/policy.conf.new ]]
}

@test "install: what can't be written is an error" {
	mkdir -p "$CONF"
	: >"$CONF/agents"
	run install_make install-data-local
	[[ $status != 0 && $output == *"$CONF/agents"* && ! -e $CONF/policy.conf ]]
}

@test "uninstall: takes ours, and leaves what was changed" {
	install_make install-data-local
	echo 'match = always' >"$CONF/policy.conf"
	install_make install-data-local
	run -0 install_make uninstall-local
	[[ $(tree) == policy.conf && $(<"$CONF/policy.conf") == 'match = always' ]]
	run -0 install_make uninstall-local
}
