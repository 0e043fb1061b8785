#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# ./setup: what it installs, and how it counts.
bats_require_minimum_version 1.5.0

setup() {
	SETUP=${SRCDIR:-$BATS_TEST_DIRNAME/../..}/setup
	unset CI
	version=12
}

# in_setup COMMANDS: with setup's functions, and a build folder of the test's own. apt-get and
# dpkg-query are stand-ins: "podman" is installed, nothing else is.
in_setup() {
	printf '%s\n' "ID=${id-debian}" ${version+"VERSION_ID=\"$version\""} >"$BATS_TEST_TMPDIR/os-release"
	run bash -c '. "$1"; build=$2/build; os_release=$2/os-release; mkdir -p "$build"
		dpkg-query() { [[ $4 == podman ]] && echo installed; }
		apt-get() { echo "apt-get $*" >>"$build/apt"; }
		'"$1" - "$SETUP" "$BATS_TEST_TMPDIR"
}

# counts TAP STATUS EXPECTED: what a suite with this output and status adds
counts() {
	printf '%b' "$1" >"$BATS_TEST_TMPDIR/tap"
	in_setup "suite name bash -c 'cat $BATS_TEST_TMPDIR/tap; exit $2' >/dev/null
		echo \$passed passed, \$failed failed"
	[ "$output" = "$3" ] || {
		echo "$output"
		return 1
	}
}

@test "setup: --help says what it does, and a wrong word is refused with status 2" {
	run -0 "$SETUP" --help
	[[ $output == *'demo   install what is missing'* ]]
	run -2 "$SETUP" everything
	[[ $output == *'usage: ./setup demo|check|build'* ]]
	run -2 "$SETUP"
}

@test "setup: only packages that are missing are installed" {
	in_setup 'install_packages podman bats jq'
	[ "$status" -eq 0 ]
	run -0 cat "$BATS_TEST_TMPDIR/build/apt"
	[ "$output" = 'apt-get update -q
apt-get install -q -y --no-install-recommends bats jq' ]
}

@test "setup: when nothing is missing, no package list is read" {
	in_setup 'install_packages podman'
	[ "$status" -eq 0 ]
	[ ! -e "$BATS_TEST_TMPDIR/build/apt" ]
}

@test "setup: a failing installation is shown and ends it" {
	in_setup 'apt-get() { echo no network; return 100; }; install_packages bats; echo went on'
	[ "$status" -eq 1 ]
	[[ $output == *'no network'* && $output != *'went on'* ]]
}

@test "setup: an unknown or older distribution is told what is needed, and nothing is installed" {
	local case

	for case in 'fedora 43' 'debian 11' 'ubuntu 22.04'; do
		read -r id version <<<"$case"
		in_setup 'install_packages bats jq'
		[ "$status" -eq 0 ]
		[[ $output == *'bats jq'* ]]
		[ ! -e "$BATS_TEST_TMPDIR/build/apt" ]
	done
}

@test "setup: Debian 12 and 13, its unnumbered testing, Ubuntu 24.04 and 25.10 are installed on" {
	local case

	for case in 'debian 12' 'debian 13' 'debian' 'ubuntu 24.04' 'ubuntu 25.10'; do
		read -r id version <<<"$case"
		[[ -n $version ]] || unset version
		in_setup 'is_debian_or_ubuntu && echo yes'
		[ "$output" = yes ] || {
			echo "$case"
			return 1
		}
	done
}

@test "setup: passed and failed tests are counted" {
	counts '1..3\nok 1 a\nnot ok 2 b\nok 3 c\n' 1 '2 passed, 1 failed'
}

@test "setup: a suite that ends before its last test is a failure" {
	counts '1..3\nok 1 a\nok 2 b\n' 0 '2 passed, 1 failed'
	counts '' 0 '0 passed, 1 failed'
}

@test "setup: a suite that fails without a failing test is a failure" {
	counts '1..1\nok 1 a\n' 1 '1 passed, 1 failed'
}

@test "setup: a skipped test has not passed, and in CI it has failed" {
	counts '1..2\nok 1 a\nok 2 b # skip no podman\n' 0 '1 passed, 0 failed'
	export CI=true
	counts '1..2\nok 1 a\nok 2 b # skip no podman\n' 0 '1 passed, 1 failed'
}

@test "setup: a lane that does not get to its end is a failure" {
	in_setup 'suite() { passed=$((passed + 3)); }; lane "$build/a" runc rootless
		passed=1; failed=0; add_lane "$build/a"; add_lane "$build/none"; echo $passed passed, $failed failed'
	[ "$output" = '7 passed, 1 failed' ]
}

@test "setup: an interruption ends what it has started" {
	in_setup 'quietly() { :; }; lane() { sleep 4713; }; run_suites & sleep_until() { until pgrep -f "sleep 4713" >/dev/null; do :; done; }
		sleep_until; kill -TERM $!; wait $! || echo "ended $?"'
	[[ $output == *'ended 130'* ]]
	run -1 pgrep -f 'sleep 4713'
}

@test "setup: the results of make check are counted from its summary" {
	printf '# TOTAL: 9\n# PASS:  4\n# SKIP:  2\n# XFAIL: 0\n# FAIL:  2\n# XPASS: 0\n# ERROR: 1\n' \
		>"$BATS_TEST_TMPDIR/log"
	in_setup "count_unit $BATS_TEST_TMPDIR/log; echo \$passed passed, \$failed failed"
	[ "$output" = '4 passed, 3 failed' ]
}
