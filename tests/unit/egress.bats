#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# egress: from prefixes and resolv.conf to a ruleset, as text. Nothing here touches a network.
bats_require_minimum_version 1.5.0

setup() {
	BUILDDIR=${BUILDDIR:-$BATS_TEST_DIRNAME/../../build}
	SHOW=$BUILDDIR/tests/lib/show-ruleset
	CONF=$BATS_TEST_TMPDIR/resolv.conf
}

# shows ARG...: the ruleset is printed; its lines that begin with $only are in $output
shows() {
	run -0 --separate-stderr "$SHOW" "$@"
	output=$(grep "^${only:-}" <<<"$output" || true)
}

# is TEXT: $output is exactly that
is() {
	[ "$output" = "$1" ] || {
		printf 'got:\n%s\nexpected:\n%s\n' "$output" "$1"
		return 1
	}
}

# refuses PREFIX TEXT: PREFIX is an error that says TEXT
refuses() {
	run -1 --separate-stderr "$SHOW" "$1"
	[ "$stderr" = "show-ruleset: $2" ] || {
		printf 'got: %s\nexpected: show-ruleset: %s\n' "$stderr" "$2"
		return 1
	}
	[ -z "$output" ]
}

@test "ruleset: the rules are asked in a fixed order and end with accept" {
	printf 'nameserver 10.0.2.3\nnameserver fd00::53\n' >"$CONF"
	run -0 "$SHOW" --resolv-conf "$CONF" 10.1.0.0/16 fd01::/64
	output=$(grep -v '^refuse' <<<"$output")
	is 'accept established and related
accept loopback
accept ICMPv6 router solicitation
accept ICMPv6 neighbour solicitation
accept ICMPv6 neighbour advertisement
accept ICMPv6 multicast listener report
accept resolver, udp port 53: 10.0.2.3
accept resolver, tcp port 53: 10.0.2.3
accept resolver, udp port 853: 10.0.2.3
accept resolver, tcp port 853: 10.0.2.3
accept resolver, udp port 53: fd00::53
accept resolver, tcp port 53: fd00::53
accept resolver, udp port 853: fd00::53
accept resolver, tcp port 853: fd00::53
accept allow-ip: 10.1.0.0/16
accept allow-ip: fd01::/64
accept everything else'
	run -0 bash -c '"$1" 10.1.0.0/16 | grep -v "^refuse" -n | tail -2 | cut -d: -f1' - "$SHOW"
	((lines[1] - lines[0] > 30)) # what is refused is between allow-ip and the last one
}

@test "ruleset: internal addresses are refused, and the IPv6 forms that carry them" {
	only=refuse shows
	is 'refuse internal: 0.0.0.0/8
refuse internal: 10.0.0.0/8
refuse internal: 100.64.0.0/10
refuse internal: 127.0.0.0/8
refuse internal: 169.254.0.0/16
refuse internal: 172.16.0.0/12
refuse internal: 192.0.0.0/24
refuse internal: 192.168.0.0/16
refuse internal: 198.18.0.0/15
refuse internal: 224.0.0.0/3
refuse internal: ::/96
refuse internal: ::ffff:0.0.0.0/96
refuse internal: 64:ff9b::/104
refuse internal: 64:ff9b::a00:0/104
refuse internal: 64:ff9b::6440:0/106
refuse internal: 64:ff9b::7f00:0/104
refuse internal: 64:ff9b::a9fe:0/112
refuse internal: 64:ff9b::ac10:0/108
refuse internal: 64:ff9b::c000:0/120
refuse internal: 64:ff9b::c0a8:0/112
refuse internal: 64:ff9b::c612:0/111
refuse internal: 64:ff9b::e000:0/99
refuse internal: 64:ff9b:1::/48
refuse internal: 2001::/32
refuse internal: 2002::/24
refuse internal: 2002:a00::/24
refuse internal: 2002:6440::/26
refuse internal: 2002:7f00::/24
refuse internal: 2002:a9fe::/32
refuse internal: 2002:ac10::/28
refuse internal: 2002:c000::/40
refuse internal: 2002:c0a8::/32
refuse internal: 2002:c612::/31
refuse internal: 2002:e000::/19
refuse internal: fc00::/7
refuse internal: fe80::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'
}

@test "ruleset: what agents send is refused to the container, and asks the same destinations" {
	run -0 "$SHOW" --agent 10.213.0.0/16 --agent fd3c::/48 10.1.2.3
	[[ ${lines[0]} == 'refuse from an agent to the container' ]]
	[[ ${lines[1]} == 'masquerade agents: 10.213.0.0/16' && ${lines[2]} == 'masquerade agents: fd3c::/48' ]]
	[[ ${lines[3]} == 'refuse to an agent' && ${lines[4]} == 'accept established and related' ]]
	run -0 "$SHOW" --agent 10.213.0.0/16 --only-agents 10.1.2.3
	[[ ${lines[3]} == 'accept allow-ip: 10.1.2.3' && $output != *loopback* && $output != *resolver* ]]
}

@test "ruleset: a mode says what is reached besides what is named" {
	run -0 "$SHOW" --mode allowlist 10.1.2.3
	[[ ${lines[-2]} == 'accept allow-ip: 10.1.2.3' && ${lines[-1]} == 'refuse everything else' ]]
	printf 'nameserver 10.0.2.3\n' >"$CONF"
	run -0 "$SHOW" --mode none --resolv-conf "$CONF" 10.1.2.3
	[[ ${lines[-1]} == 'refuse everything else' && $output != *10.* ]]
	run -0 "$SHOW" --mode open --deny 10.1.2.3
	[[ $output == *$'\nrefuse deny-ip: 10.1.2.3\n'*'accept everything else' && $output != *internal* ]]
}

@test "ruleset: connected networks are accepted after the host and the gateways are refused" {
	run -0 "$SHOW" --connected --on-link 10.88.0.0/16 --gateway 10.88.0.1 --host 192.0.2.1
	output=$(grep -E 'host|gateway: 10|on-link|internal: 10\.' <<<"$output" | grep -v ::)
	is "refuse the host's own: 192.0.2.1
refuse gateway: 10.88.0.1
accept on-link: 10.88.0.0/16
refuse internal: 10.0.0.0/8"
}

@test "ruleset: prefixes are sorted, and merged where they overlap or touch" {
	only='accept allow-ip' shows 10.2.0.0/16 10.0.0.0/16 10.1.0.0/16 10.1.2.3 192.0.2.1 192.0.2.3 \
		fd00:0:0:1::/64 fd00::/64 fd00::1
	is 'accept allow-ip: 10.0.0.0-10.2.255.255
accept allow-ip: 192.0.2.1
accept allow-ip: 192.0.2.3
accept allow-ip: fd00::/63'
}

@test "ruleset: everything, and the last address, can be allowed" {
	only='accept allow-ip' shows 0.0.0.0/0 10.0.0.0/8 255.255.255.255 ::/0 fd00::/8
	is 'accept allow-ip: 0.0.0.0/0
accept allow-ip: ::/0'
	only='accept allow-ip' shows 255.255.255.255 255.255.255.254 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
	is 'accept allow-ip: 255.255.255.254/31
accept allow-ip: ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'
}

@test "ruleset: a protocol and ports make a rule for each service" {
	only='accept allow-ip' shows '10.0.0.1 tcp/443' '10.0.0.2  tcp/443' 'fd00::1 tcp/443' '10.0.0.0/8 udp' \
		$'10.0.0.1\ttcp/80-90' 10.9.0.0/16 '10.0.0.3 tcp/443' '10.0.0.1 tcp/65535'
	is 'accept allow-ip: 10.9.0.0/16
accept allow-ip, tcp ports 80-90: 10.0.0.1
accept allow-ip, tcp port 443: 10.0.0.1-10.0.0.3
accept allow-ip, tcp port 443: fd00::1
accept allow-ip, tcp port 65535: 10.0.0.1
accept allow-ip, udp: 10.0.0.0/8'
}

@test "ruleset: more than 1000 services are refused" {
	local i list=()

	for ((i = 1; i <= 1001; i++)); do
		list+=("10.0.0.1 tcp/$i")
	done
	run -0 "$SHOW" "${list[@]:0:1000}"
	run -1 --separate-stderr "$SHOW" "${list[@]}"
	[ "$stderr" = 'show-ruleset: egress rules: allow-ip: more than 1000 different protocols and ports: join some to ranges' ]
}

@test "ruleset: allow-ip is asked before deny-ip, and both before what is internal" {
	run -0 "$SHOW" --deny '203.0.113.0/24 tcp/25' --deny 198.51.100.0/24 --deny 2001:db8::/32 '203.0.113.9 tcp/25' 10.1.0.0/16
	output=$(grep -v 'internal\|ICMP\|64:ff9b\|2002:' <<<"$output")
	is 'accept established and related
accept loopback
accept allow-ip: 10.1.0.0/16
accept allow-ip, tcp port 25: 203.0.113.9
refuse deny-ip: 198.51.100.0/24
refuse deny-ip: 2001:db8::/32
refuse deny-ip, tcp port 25: 203.0.113.0/24
accept everything else'
}

@test "ruleset: the host's addresses and on-link networks are refused, in each form" {
	only='refuse [^i]' shows --host 203.0.113.5 --host 2001:db8::5 --on-link 198.51.100.0/24 --on-link 2001:db8:9::/64
	is "refuse the host's own: 203.0.113.5
refuse the host's own: 64:ff9b::cb00:7105
refuse the host's own: 2001:db8::5
refuse the host's own: 2002:cb00:7105::/48
refuse on-link: 198.51.100.0/24
refuse on-link: 64:ff9b::c633:6400/120
refuse on-link: 2001:db8:9::/64
refuse on-link: 2002:c633:6400::/40"
	only='refuse deny-ip' shows --deny '203.0.113.5 tcp/1-3'
	is 'refuse deny-ip, tcp ports 1-3: 203.0.113.5
refuse deny-ip, tcp ports 1-3: 64:ff9b::cb00:7105
refuse deny-ip, tcp ports 1-3: 2002:cb00:7105::/48'
}

@test "ruleset: nothing is accepted for being of no list before the network is there" {
	shows --unfinished
	[ "$(tail -n 2 <<<"$output")" = 'drop the network is not there yet
accept everything else' ]
}

@test "destination: what is no service is refused" {
	local text

	for text in tcp/ tcp/0 tcp/65536 tcp/080 tcp/-1 tcp/1- tcp/9-8 tcp/1-65536 tcp/1-2-3 tcp/a icmp TCP tcp:80 'tcp 80' tcp/80x x; do
		refuses "10.0.0.1 $text" "\`$text\` is none of tcp, udp, tcp/PORT, tcp/PORT-PORT, udp/PORT, udp/PORT-PORT, with ports from 1 to 65535"
	done
	refuses '::ffff:10.0.0.1 tcp' '`::ffff:10.0.0.1 tcp` is an IPv4 address: write it as one'
	refuses ::ffff:a00:0/104 '`::ffff:a00:0/104` is an IPv4 address: write it as one'
}

@test "ruleset: 100,000 prefixes in reverse order are sorted" {
	awk 'BEGIN { for (i = 99999; i >= 0; i--) printf "11.%d.%d.%d\n", i / 32768, i / 128 % 256, i % 128 * 2 }' \
		>"$BATS_TEST_TMPDIR/list"
	only='accept allow-ip' shows --list "$BATS_TEST_TMPDIR/list"
	[ "$(wc -l <<<"$output")" -eq 100000 ]
	[ "${output%%$'\n'*}" = 'accept allow-ip: 11.0.0.0' ]
	[ "${output##*$'\n'}" = 'accept allow-ip: 11.3.13.62' ]
}

@test "prefix: what is not an address is refused" {
	local text

	for text in '' host 10.1 10.1.2.256 010.1.2.3 1.2.3.4.5 fd00:::1 fe80::1%eth0 /8; do
		refuses "$text" "\`$text\` is not an IP address"
	done
}

@test "prefix: a length that is not one of the family's is refused" {
	local len

	for len in '' 33 08 -1 +8 8x 4294967304; do
		refuses "10.0.0.0/$len" "\`10.0.0.0/$len\`: the prefix length is not a number from 0 to 32"
	done
	refuses fd00::/129 '`fd00::/129`: the prefix length is not a number from 0 to 128'
}

@test "prefix: bits after the length are refused" {
	refuses 10.1.2.3/8 '`10.1.2.3/8` has bits set after its prefix length'
	refuses 0.0.0.1/0 '`0.0.0.1/0` has bits set after its prefix length'
	refuses fd00::1/64 '`fd00::1/64` has bits set after its prefix length'
}

# resolvers TEXT: the addresses that it opens, on TCP and UDP alike
resolvers() {
	printf '%b' "$1" >"$CONF"
	run -0 --separate-stderr "$SHOW" --resolv-conf "$CONF"
	local tcp udp

	udp=$(sed -n 's/^accept resolver, udp port 53: //p' <<<"$output")
	tcp=$(sed -n 's/^accept resolver, tcp port 853: //p' <<<"$output")
	[ "$tcp" = "$udp" ]
	output=$udp
}

@test "resolvers: addresses of nameserver lines, without scope" {
	resolvers 'search example.org\nnameserver 192.0.2.1\nnameserver\tfe80::1%eth0 \nnameserver 2001:db8::1'
	is $'192.0.2.1\n2001:db8::1\nfe80::1'
}

@test "resolvers: the C library's three and no more" {
	resolvers 'nameserver 192.0.2.1\nnameserver x\nnameserver 192.0.2.3\nnameserver 192.0.2.5\nnameserver 192.0.2.7\n'
	is $'192.0.2.1\n192.0.2.3\n192.0.2.5'
}

@test "resolvers: what is no resolver's address opens nothing" {
	resolvers '#nameserver 192.0.2.1\n;nameserver 192.0.2.1\nnameserver\nnameserver \nnameservers 192.0.2.1\nnameserver192.0.2.1\n'
	is ''
	resolvers ' nameserver 192.0.2.1\nnameserver 0.0.0.0/0\nnameserver ::/0\nnameserver localhost\noptions nameserver 192.0.2.1\n'
	is ''
	resolvers ''
	is ''
}
