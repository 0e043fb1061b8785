#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# egress: what the rules do to packets. A container's network namespace (box), what is outside
# (world: every address that the tests talk to is on its "lo"), and a container inside of the
# container (inner). Needs root, and no engine: runs in the lab and alone.
bats_require_minimum_version 1.5.0

DENIED4='0.1.2.3 10.1.2.3 100.64.0.1 169.254.169.254 172.31.255.255 192.0.0.192 192.168.1.1 198.19.0.1 240.0.0.1'
DENIED6='::10.1.2.3 64:ff9b::a01:203 64:ff9b:1::1 2001::1 2002:a01:203::1 fc00::1 fd00::1 fec0::1'
# The addresses around what is denied, and stand-ins for the internet
PUBLIC4='203.0.113.10 1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0
	192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255'
PUBLIC6='2001:db8::10 ::1:0:0:1 64:ff9b::cb00:710a 64:ff9b:2::1 2001:1::1 2002:cb00:710a::1 fbff::1'

setup_file() {
	local a

	export BOX=egress-box-$$ WORLD=egress-world-$$ INNER=egress-inner-$$
	for a in "$BOX" "$WORLD" "$INNER"; do
		ip netns add "$a"
		ip -n "$a" link set lo up
	done
	ip -n "$WORLD" link add eth0 type veth peer name eth0 netns "$BOX"
	ip -n "$BOX" link add eth1 type veth peer name eth0 netns "$INNER"
	address "$WORLD" eth0 198.51.100.1/24 2001:db8:1::1/64
	address "$BOX" eth0 198.51.100.2/24 2001:db8:1::2/64
	address "$BOX" eth1 198.51.101.1/24 2001:db8:2::1/64
	address "$INNER" eth0 198.51.101.2/24 2001:db8:2::2/64
	gateway "$BOX" 198.51.100.1 2001:db8:1::1
	gateway "$INNER" 198.51.101.1 2001:db8:2::1
	ip -n "$WORLD" route add 198.51.101.0/24 via 198.51.100.2
	ip -n "$WORLD" -6 route add 2001:db8:2::/64 via 2001:db8:1::2
	ip netns exec "$BOX" sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	for a in $DENIED4 $PUBLIC4; do
		ip -n "$WORLD" addr add "$a/32" dev lo
	done
	for a in $DENIED6 $PUBLIC6; do
		ip -n "$WORLD" addr add "$a/128" dev lo nodad
	done
	mkdir "$BATS_FILE_TMPDIR/www"
	for a in 53 80 81 82 853; do
		serve "$WORLD" "$a"
	done
	serve "$BOX" 8080
	export SERVERS
}

teardown_file() {
	local a

	for a in $SERVERS; do
		kill "$a"
	done
	for a in "$BOX" "$WORLD" "$INNER"; do
		ip netns del "$a"
	done
}

setup() {
	BUILDDIR=${BUILDDIR:-$BATS_TEST_DIRNAME/../../build}
	APPLY=$BUILDDIR/tests/lib/egress-apply
	printf 'nameserver 10.1.2.3\nnameserver fd00::1\n' >"$BATS_TEST_TMPDIR/resolv.conf"
	ip netns exec "$BOX" nft flush ruleset
	# Counts what arrives, whether or not somebody listens.
	ip netns exec "$WORLD" nft -f - <<-END
		table inet witness
		delete table inet witness
		table inet witness {
			set seen4 { type ipv4_addr . inet_proto; flags dynamic; size 1000; }
			set seen6 { type ipv6_addr . inet_proto; flags dynamic; size 1000; }
			chain in {
				type filter hook prerouting priority -300;
				add @seen4 { ip daddr . meta l4proto }
				add @seen6 { ip6 daddr . meta l4proto }
			}
		}
	END
}

address() { # NAMESPACE DEVICE IPV4 IPV6
	ip -n "$1" link set "$2" up
	ip -n "$1" addr add "$3" dev "$2"
	ip -n "$1" addr add "$4" dev "$2" nodad
}

gateway() { # NAMESPACE IPV4 IPV6
	ip -n "$1" route add default via "$2"
	ip -n "$1" -6 route add default via "$3"
}

# serve NAMESPACE PORT: a web server on all addresses; none of bats' descriptors, it would wait
serve() {
	local deadline=$((SECONDS + 5))

	ip netns exec "$1" busybox httpd -f -p "[::]:$2" -h "$BATS_FILE_TMPDIR/www" \
		</dev/null >/dev/null 2>&1 3>&- 4>&- &
	SERVERS+=" $!"
	until ip netns exec "$1" bash -c "exec 9<>/dev/tcp/127.0.0.1/$2" 2>/dev/null; do
		((SECONDS < deadline)) || return 1
	done
}

apply() {
	ip netns exec "$BOX" "$APPLY" "$@"
}

# tries NAMESPACE PORT ADDRESS...: connects to all at once; a line "ADDRESS WHAT" each
tries() {
	local namespace=$1 port=$2 a

	shift 2
	for a; do
		try "$namespace" "$port" "$a" 3>&- &
	done | sort
	wait
}

# The kernel's own limit for a connection without an answer is above two minutes.
try() {
	local said

	if said=$(ip netns exec "$1" timeout 5 bash -c "exec 9<>/dev/tcp/$3/$2" 2>&1); then
		echo "$3 connected"
	elif [ -z "$said" ]; then
		echo "$3 timed out"
	else
		echo "$3 ${said##*: }"
	fi
}

# all WHAT ADDRESS...: $output has a line "ADDRESS WHAT" for each and nothing else
all() {
	local what=$1 expected

	shift
	expected=$(printf "%s $what\n" "$@" | sort)
	[ "$output" = "$expected" ] || {
		diff <(echo "$expected") <(echo "$output")
		return 1
	}
}

# saw ADDRESS [PROTOCOL]: the world had a packet to it, of TCP or PROTOCOL
saw() {
	local set=seen4

	[[ $1 != *:* ]] || set=seen6
	ip netns exec "$WORLD" nft get element inet witness "$set" "{ $1 . ${2:-tcp} }" >/dev/null 2>&1
}

saw_none() {
	local a

	for a; do
		! saw "$a" || {
			echo "a packet to $a left the container"
			return 1
		}
	done
}

saw_all() {
	local a

	for a; do
		saw "$a" || {
			echo "no packet to $a was seen"
			return 1
		}
	done
}

@test "egress: without rules each address of these tests answers" {
	# shellcheck disable=SC2086
	run -0 tries "$BOX" 80 $DENIED4 $DENIED6 $PUBLIC4 $PUBLIC6
	# shellcheck disable=SC2086
	all connected $DENIED4 $DENIED6 $PUBLIC4 $PUBLIC6
	# shellcheck disable=SC2086
	saw_all $DENIED4 $DENIED6
}

# EHOSTUNREACH is Linux' errno for code 13 of ICMP, EACCES for code 1 of ICMPv6.
@test "egress: internal IPv4 addresses are answered with an error, and no packet leaves" {
	apply
	# shellcheck disable=SC2086
	run -0 tries "$BOX" 80 $DENIED4
	# shellcheck disable=SC2086
	all 'No route to host' $DENIED4
	# shellcheck disable=SC2086
	saw_none $DENIED4
}

@test "egress: internal IPv6 addresses are answered with an error, and no packet leaves" {
	apply
	# shellcheck disable=SC2086
	run -0 tries "$BOX" 80 $DENIED6
	# shellcheck disable=SC2086
	all 'Permission denied' $DENIED6
	# shellcheck disable=SC2086
	saw_none $DENIED6
}

@test "egress: public addresses up to the edge of what is denied are reached" {
	apply
	# shellcheck disable=SC2086
	run -0 tries "$BOX" 80 $PUBLIC4 $PUBLIC6
	# shellcheck disable=SC2086
	all connected $PUBLIC4 $PUBLIC6
}

@test "egress: multicast and datagrams are refused" {
	local a

	for a in 10.1.2.3 224.1.1.1 239.255.255.250 fd00::1 ff0e::1; do
		ip netns exec "$BOX" bash -c "echo x >/dev/udp/$a/9"
	done
	for a in 10.1.2.3 224.1.1.1 239.255.255.250 fd00::1 ff0e::1; do
		saw "$a" udp
	done
	setup
	apply
	for a in 10.1.2.3 224.1.1.1 239.255.255.250 fd00::1 ff0e::1; do
		run -1 ip netns exec "$BOX" bash -c "echo x >/dev/udp/$a/9"
		[[ $output == *'Operation not permitted' ]]
		run ! saw "$a" udp
	done
}

@test "egress: allow-ip opens what it names and not its neighbour" {
	apply 10.1.2.0/24 169.254.169.254 fd00::1
	run -0 tries "$BOX" 80 10.1.2.3 169.254.169.254 fd00::1
	all connected 10.1.2.3 169.254.169.254 fd00::1
	run -0 tries "$BOX" 80 192.168.1.1
	all 'No route to host' 192.168.1.1
	run -0 tries "$BOX" 80 fc00::1
	all 'Permission denied' fc00::1
}

@test "egress: allow-ip with a protocol and ports opens these and no other" {
	apply '10.1.2.3 tcp/80' 'fd00::1 tcp/80-81' '192.168.1.1 udp' '172.31.255.255 tcp'
	run -0 tries "$BOX" 80 10.1.2.3 fd00::1 172.31.255.255
	all connected 10.1.2.3 fd00::1 172.31.255.255
	run -0 tries "$BOX" 81 fd00::1
	all connected fd00::1
	run -0 tries "$BOX" 82 fd00::1
	all 'Permission denied' fd00::1
	run -0 tries "$BOX" 81 10.1.2.3
	all 'No route to host' 10.1.2.3
	run -0 tries "$BOX" 80 192.168.1.1
	all 'No route to host' 192.168.1.1
	ip netns exec "$BOX" bash -c 'echo x >/dev/udp/192.168.1.1/9'
	saw 192.168.1.1 udp
	run -1 ip netns exec "$BOX" bash -c 'echo x >/dev/udp/10.1.2.3/80'
	run -1 ip netns exec "$BOX" bash -c 'echo x >/dev/udp/172.31.255.255/80'
}

@test "egress: deny-ip takes from what is public, and not from allow-ip" {
	apply --deny '203.0.113.10 tcp/80' --deny 2001:db8::/32 --deny 1.0.0.0/8 --deny 9.255.255.255 9.255.255.255
	run -0 tries "$BOX" 80 203.0.113.10 1.0.0.0
	all 'No route to host' 203.0.113.10 1.0.0.0
	run -0 tries "$BOX" 80 2001:db8::10 64:ff9b::cb00:710a 2002:cb00:710a::1
	all 'Permission denied' 2001:db8::10 64:ff9b::cb00:710a 2002:cb00:710a::1
	run -0 tries "$BOX" 81 203.0.113.10
	all connected 203.0.113.10
	run -0 tries "$BOX" 80 9.255.255.255 11.0.0.0 2001:1::1
	all connected 9.255.255.255 11.0.0.0 2001:1::1
}

@test "egress: the host's addresses and on-link networks are refused, but for allow-ip" {
	apply --host 203.0.113.10 --host 2001:db8::10 --on-link 198.51.100.0/24 --on-link 2001:db8:1::/64 '198.51.100.1 tcp/81'
	run -0 tries "$BOX" 80 203.0.113.10 198.51.100.1
	all 'No route to host' 203.0.113.10 198.51.100.1
	run -0 tries "$BOX" 80 2001:db8::10 2001:db8:1::1 64:ff9b::cb00:710a
	all 'Permission denied' 2001:db8::10 2001:db8:1::1 64:ff9b::cb00:710a
	saw_none 203.0.113.10 198.51.100.1 2001:db8::10 2001:db8:1::1
	run -0 tries "$BOX" 81 198.51.100.1
	all connected 198.51.100.1
	# what is not on-link has its gateway there
	run -0 tries "$BOX" 80 1.0.0.0 2001:1::1
	all connected 1.0.0.0 2001:1::1
}

@test "egress: all of both families can be allowed" {
	apply 0.0.0.0/0 ::/0
	# shellcheck disable=SC2086
	run -0 tries "$BOX" 80 $DENIED4 $DENIED6
	# shellcheck disable=SC2086
	all connected $DENIED4 $DENIED6
}

@test "egress: a resolver is reached on ports 53 and 853, UDP and TCP, and on no other" {
	apply --resolv-conf "$BATS_TEST_TMPDIR/resolv.conf"
	run -0 tries "$BOX" 53 10.1.2.3 fd00::1
	all connected 10.1.2.3 fd00::1
	run -0 tries "$BOX" 853 10.1.2.3 fd00::1
	all connected 10.1.2.3 fd00::1
	ip netns exec "$BOX" bash -c 'echo x >/dev/udp/10.1.2.3/53; echo x >/dev/udp/fd00::1/53'
	saw 10.1.2.3 udp
	saw fd00::1 udp
	run -0 tries "$BOX" 80 10.1.2.3
	all 'No route to host' 10.1.2.3
	run -0 tries "$BOX" 80 fd00::1
	all 'Permission denied' fd00::1
	run -0 tries "$BOX" 53 192.168.1.1
	all 'No route to host' 192.168.1.1
}

@test "egress: what the container forwards is refused as well" {
	run -0 tries "$INNER" 80 10.1.2.3 fd00::1
	all connected 10.1.2.3 fd00::1
	setup
	apply
	run -0 tries "$INNER" 80 203.0.113.10 2001:db8::10
	all connected 203.0.113.10 2001:db8::10
	run -0 tries "$INNER" 80 10.1.2.3
	all 'No route to host' 10.1.2.3
	run -0 tries "$INNER" 80 fd00::1
	all 'Permission denied' fd00::1
	saw_none 10.1.2.3 fd00::1
}

@test "egress: connections from internal addresses to the container are answered" {
	apply
	ip -n "$WORLD" route add 198.51.100.2/32 dev eth0 src 10.1.2.3
	ip -n "$WORLD" -6 route add 2001:db8:1::2/128 dev eth0 src fd00::1
	run -0 tries "$WORLD" 8080 198.51.100.2 2001:db8:1::2
	ip -n "$WORLD" route del 198.51.100.2/32
	ip -n "$WORLD" -6 route del 2001:db8:1::2/128
	all connected 198.51.100.2 2001:db8:1::2
}

@test "egress: the container's own addresses and its loopback are reached" {
	apply
	run -0 tries "$BOX" 8080 127.0.0.1 127.1.2.3 ::1 198.51.100.2 2001:db8:1::2
	all connected 127.0.0.1 127.1.2.3 ::1 198.51.100.2 2001:db8:1::2
}

@test "egress: neighbours of IPv6 are found with the rules in place" {
	apply
	ip -n "$BOX" -6 neigh flush dev eth0
	run -0 tries "$BOX" 80 2001:db8::10
	all connected 2001:db8::10
}

@test "egress: nft lists the table as planned" {
	local set

	apply --resolv-conf "$BATS_TEST_TMPDIR/resolv.conf" 10.1.0.0/16 10.2.0.0/16 255.255.255.255 fd01::/64
	run -0 ip netns exec "$BOX" nft -s list table inet oci_sandbox
	[ "$(grep -c 'policy drop' <<<"$output")" -eq 2 ]
	[ "$(grep -c 'counter' <<<"$output")" -eq 34 ] # each rule has one
	[ "$(grep -c 'comment' <<<"$output")" -eq 35 ] # and the table
	[[ $output == *'comment "forwards for agents alone"'* ]]
	[[ $output == *'counter update @refused4 { ip daddr . meta l4proto . tcp dport counter }'* ]]
	[[ $output == *'chain refused'*'counter reject with icmpx admin-prohibited comment "refused"'* ]]
	[[ $output == *'type filter hook output priority filter; policy drop;'* ]]
	[[ $output == *'type filter hook forward priority filter; policy drop;'* ]]
	[[ $output == *'ip daddr @internal4 counter goto refused comment "internal"'* ]]
	[[ $output == *'ip6 daddr @internal6 counter goto refused comment "internal"'* ]]
	for set in 'allow-ip4 10.1.0.0-10.2.255.255' 'allow-ip4 255.255.255.255' 'allow-ip6 fd01::/64' \
		'resolver4 10.1.2.3' 'resolver6 fd00::1' 'internal4 10.0.0.0/8' 'internal4 224.0.0.0' 'internal4 255.255.255.255' \
		'internal6 fc00::/7' 'internal6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'; do
		ip netns exec "$BOX" nft get element inet oci_sandbox "${set% *}" "{ ${set#* } }"
	done
	# shellcheck disable=SC2016
	for set in 'allow-ip4 10.0.255.255' 'allow-ip4 10.3.0.0' 'allow-ip4 255.255.255.254' 'internal4 9.255.255.255' \
		'internal4 11.0.0.0' 'internal4 223.255.255.255' 'internal6 fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff' 'internal6 fe00::'; do
		run ! ip netns exec "$BOX" nft get element inet oci_sandbox "${set% *}" "{ ${set#* } }"
	done
}

@test "egress: rules count what they refuse" {
	apply
	run -0 tries "$BOX" 80 10.1.2.3
	run -0 ip netns exec "$BOX" nft list chain inet oci_sandbox destinations
	[[ $output =~ '@internal4 counter packets '[1-9] ]]
	[[ $output =~ '@internal6 counter packets 0 ' ]]
}

# refusals: "ADDRESS PROTOCOL PORT PACKETS" of what the kernel has recorded, sorted
refusals() {
	ip netns exec "$BOX" "$APPLY" --counters | sed -n 's/^refused \(.*\) [0-9]*$/\1/p' | sort
}

@test "egress: what is refused is recorded by destination, protocol and port" {
	local a

	apply
	for a in 10.1.2.3 10.1.2.3 fd00::1; do
		run -1 ip netns exec "$BOX" bash -c "echo x >/dev/udp/$a/9"
	done
	ip netns exec "$BOX" busybox ping -c 1 -W 1 192.168.1.1 || true
	ip netns exec "$BOX" busybox ping6 -c 1 -W 1 fc00::1 || true
	[ "$(refusals)" = $'10.1.2.3 17 9 2\n192.168.1.1 1 0 1\nfc00::1 58 0 1\nfd00::1 17 9 1' ]
	run -0 tries "$BOX" 80 10.1.2.3 fd00::1 203.0.113.10
	run -0 refusals
	[[ $output =~ '10.1.2.3 6 80 '[1-9] && $output =~ 'fd00::1 6 80 '[1-9] && $output != *203.0.113.10* ]]
	run -0 ip netns exec "$BOX" "$APPLY" --counters
	[[ $output =~ 'refuse destinations '[4-9]' internal' && $output != *full* ]]
	[[ $output =~ 'accept destinations '[1-9]' everything else' ]]
	run ! grep -v ' [0-9]$\| 1[0-9]$' <<<"$(grep '^refused ' <<<"$output")" # seconds ago
}

@test "egress: a packet that is forwarded, or for the container, is recorded as well" {
	apply --agent 10.213.0.0/16
	run -0 tries "$INNER" 80 10.1.2.3
	all 'No route to host' 10.1.2.3
	[[ $(refusals) =~ ^'10.1.2.3 6 80 '[1-9]$ ]]
}

# An update that fails breaks its rule off. Nothing may depend on it.
@test "egress: a full set of refusals lets nothing out" {
	local a

	apply
	# shellcheck disable=SC2016 # python's
	ip netns exec "$BOX" python3 -c '
import socket
for family, name in ((socket.AF_INET, "10.77.%d.%d"), (socket.AF_INET6, "fd00:77::%x:%x")):
    s = socket.socket(family, socket.SOCK_DGRAM)
    for i in range(1100):
        try:
            s.sendto(b"x", (name % (i // 256, i % 256), 9))
            raise SystemExit("sent")
        except OSError:
            pass'
	run -0 ip netns exec "$BOX" "$APPLY" --counters
	[[ $(grep -c '^refused 10\.77\.' <<<"$output") == 1024 && $(grep -c '^refused fd00:77:' <<<"$output") == 1024 ]]
	[[ $output == *full ]]
	# shellcheck disable=SC2086
	run -0 tries "$BOX" 80 $DENIED4
	# shellcheck disable=SC2086
	all 'No route to host' $DENIED4
	# shellcheck disable=SC2086
	run -0 tries "$BOX" 80 $DENIED6
	# shellcheck disable=SC2086
	all 'Permission denied' $DENIED6
	for a in 10.1.2.3 fd00::1 192.168.1.1; do
		run -1 ip netns exec "$BOX" bash -c "echo x >/dev/udp/$a/9"
		ip netns exec "$BOX" busybox ping -c 1 -W 1 "$a" || true
		run ! saw "$a" udp
		run ! saw "$a" icmp
	done
	# shellcheck disable=SC2086
	saw_none $DENIED4 $DENIED6
	run -0 tries "$INNER" 80 10.1.2.3
	all 'No route to host' 10.1.2.3
	# what is known already still counts
	run -1 ip netns exec "$BOX" bash -c 'echo x >/dev/udp/10.77.0.7/9'
	[[ $'\n'$(refusals) == *$'\n10.77.0.7 17 9 2'* ]]
}

@test "egress: a table that exists is replaced, others stay as they are" {
	local before other

	ip netns exec "$BOX" nft 'add table ip other; add chain ip other c { type filter hook output priority 5; }; add rule ip other c ip daddr 192.0.2.1 drop'
	other=$(ip netns exec "$BOX" nft list table ip other)
	apply 10.1.0.0/16
	before=$(ip netns exec "$BOX" nft -s list table inet oci_sandbox)
	apply 10.1.0.0/16 # again
	[ "$(ip netns exec "$BOX" nft -s list table inet oci_sandbox)" = "$before" ]
	apply
	run ! ip netns exec "$BOX" nft get element inet oci_sandbox allow-ip4 '{ 10.1.0.1 }'
	[ "$(ip netns exec "$BOX" nft list table ip other)" = "$other" ]
	[ "$(ip netns exec "$BOX" nft list tables)" = $'table ip other\ntable inet oci_sandbox' ]
}

# differs COMMANDS WHAT: after these nft commands WHAT is not as planned, and that is said
differs() {
	apply 10.1.0.0/16
	ip netns exec "$BOX" nft "$1"
	run -1 ip netns exec "$BOX" "$APPLY" --verify 10.1.0.0/16
	[ "$output" = "egress-apply: table inet oci_sandbox: $2 is not as planned" ] || {
		printf 'got: %s\nexpected: %s\n' "$output" "$2"
		return 1
	}
}

@test "egress: reading back finds each kind of difference" {
	local t='inet oci_sandbox' a

	apply 10.1.0.0/16
	ip netns exec "$BOX" "$APPLY" --verify 10.1.0.0/16
	differs "delete element $t internal4 { 10.0.0.0/8 }" 'set `internal4`'
	differs "add element $t allow-ip4 { 192.168.0.0/16 }" 'number of addresses in set `allow-ip4`'
	differs "delete element $t allow-ip4 { 10.1.0.0/16 }; add element $t allow-ip4 { 10.0.0.0/8 }" 'set `allow-ip4`'
	differs "add rule $t egress accept" 'number of rules of chain `egress`'
	differs "insert rule $t egress accept" 'rule `resolver, udp port 53`'
	differs "insert rule $t output accept" 'rule `established and related`'
	differs "flush chain $t output" 'number of rules of chain `output`'
	differs "add chain $t output { policy accept; }" 'chain `output`'
	differs "add chain $t extra" 'chain `extra`'
	differs "flush chain $t refused" 'number of rules of chain `refused`'
	differs "insert rule $t refused accept" 'rule `record IPv4, tcp`'
	differs "add rule $t refused accept" 'number of rules of chain `refused`'
	differs "$(
		echo "flush chain $t refused; delete set $t refused4;"
		echo "add set $t refused4 { type ipv4_addr . inet_proto . inet_service; flags dynamic, timeout; timeout 1h; size 1025; };"
		for a in 'IPv4, tcp' 'IPv4, udp' 'IPv4, no port' 'IPv6, tcp' 'IPv6, udp' 'IPv6, no port'; do
			echo "add rule $t refused counter comment \"record $a\";"
		done
		echo "add rule $t refused counter reject comment refused"
	)" 'set `refused4`'
	differs "add table $t { flags dormant; }" 'flags of `oci_sandbox`'
}

@test "egress: reading back says that there is no table" {
	run -1 ip netns exec "$BOX" "$APPLY" --verify
	[[ $output == 'egress-apply: nftables: read table'*'No such file or directory' ]]
}

# forwarded SOURCE-NAMESPACE...: neighbour discovery and loopback are for the container itself
@test "egress: what is forwarded is not taken for neighbour discovery" {
	apply
	run -0 ip netns exec "$BOX" nft list chain inet oci_sandbox forward
	[[ $output == *established* && $output != *icmpv6* && $output != *oifname* ]]
	run -0 ip netns exec "$BOX" nft list chain inet oci_sandbox destinations
	[[ $output != *icmpv6* && $output != *oifname* ]]
}

@test "egress: before a late network is there only what is named goes out, without an answer" {
	apply --unfinished --resolv-conf "$BATS_TEST_TMPDIR/resolv.conf" 192.168.1.1
	run -0 tries "$BOX" 53 10.1.2.3 fd00::1
	all connected 10.1.2.3 fd00::1
	run -0 tries "$BOX" 80 192.168.1.1 127.0.0.1
	[[ $output == *'192.168.1.1 connected'* ]]
	run -0 tries "$BOX" 8080 127.0.0.1
	all connected 127.0.0.1
	run -0 tries "$BOX" 80 203.0.113.10 2001:db8::10
	all 'timed out' 203.0.113.10 2001:db8::10
	saw_none 203.0.113.10 2001:db8::10
	run -0 tries "$BOX" 80 10.1.2.3
	all 'No route to host' 10.1.2.3
}

@test "egress: a network that came late completes the rules" {
	apply --unfinished
	ip netns exec "$BOX" "$APPLY" --finish
	run -0 tries "$BOX" 80 203.0.113.10 2001:db8::10
	all connected 203.0.113.10 2001:db8::10
	run -0 tries "$BOX" 80 198.51.100.1
	all 'No route to host' 198.51.100.1
	run -0 tries "$BOX" 80 2001:db8:1::1
	all 'Permission denied' 2001:db8:1::1
	saw_none 198.51.100.1 2001:db8:1::1
	ip netns exec "$BOX" "$APPLY" --finish # again
	run -0 tries "$BOX" 80 198.51.100.1
	all 'No route to host' 198.51.100.1
}

@test "egress: a network that never comes stays closed, and says so" {
	apply --unfinished
	run -0 ip netns exec "$INNER" unshare --net bash -c '
		ip link set lo up && "$0" --unfinished && "$0" --finish && nft list chain inet oci_sandbox unfinished' "$APPLY"
	[[ $output == *'goto refused comment "the network was not there at poststart"'* ]]
}

@test "egress: 100,000 addresses are one transaction" {
	awk 'BEGIN { for (i = 0; i < 100000; i++) printf "10.%d.%d.%d\n", i / 32768, i / 128 % 256, i % 128 * 2 }' \
		>"$BATS_TEST_TMPDIR/list"
	apply --list "$BATS_TEST_TMPDIR/list"
	ip netns exec "$BOX" nft get element inet oci_sandbox allow-ip4 '{ 10.3.13.62 }'
	run ! ip netns exec "$BOX" nft get element inet oci_sandbox allow-ip4 '{ 10.3.13.63 }'
}

# A user's socket takes a little more than 400 KiB at once where net.core.wmem_max is the default.
@test "egress: a user's long list takes several transactions" {
	awk 'BEGIN { for (i = 0; i < 50000; i++) printf "10.%d.%d.%d\n", i / 32768, i / 128 % 256, i % 128 * 2 }' \
		>"$BATS_TEST_TMPDIR/list"
	install "$APPLY" "$BATS_TEST_TMPDIR/apply"
	chmod -R a+rX "$BATS_RUN_TMPDIR"
	# shellcheck disable=SC2016 # for the inner shell
	run -0 setpriv --reuid 60097 --regid 60097 --clear-groups unshare --user --map-root-user --net bash -c '
		"$0" --list "$1" 172.16.0.1 && "$0" --list "$1" 172.16.0.1 && # a table that is there as well
			nft get element inet oci_sandbox allow-ip4 "{ 10.1.67.158 }" >/dev/null &&
			nft list chain inet oci_sandbox output' "$BATS_TEST_TMPDIR/apply" "$BATS_TEST_TMPDIR/list"
	[[ $output == *'jump egress'* ]]
}

@test "egress: without privileges nothing is done, and it is said why" {
	run -1 ip netns exec "$BOX" setpriv --reuid 65534 --regid 65534 --clear-groups "$APPLY"
	[ "$output" = 'egress-apply: nftables: transaction (needs CAP_NET_ADMIN over the network namespace): Operation not permitted' ]
	[ -z "$(ip netns exec "$BOX" nft list tables)" ]
}
