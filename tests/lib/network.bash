# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# An internet and a LAN for the lab (tests/lib/lab): two network namespaces with a web server
# each, reached over veth pairs as a host reaches them over its interfaces.

# shellcheck disable=SC2034 # for who loads this
INTERNET_IP=203.0.113.10 # of TEST-NET-3, RFC 5737: nobody's
# shellcheck disable=SC2034
LAN_IP=10.77.0.10

# network_start: both, ready to answer when it returns; once a lab
network_start() {
	[[ ! -e /run/netns/internet ]] || return 0
	network_site internet 203.0.113.1 "$INTERNET_IP" 'STAND-IN page of the internet'
	network_site lan 10.77.0.1 "$LAN_IP" 'STAND-IN admin page of a device'
}

# network_site NAME HOST-ADDRESS ADDRESS TEXT
network_site() {
	local name=$1 host=$2 address=$3 text=$4 www=$LAB/www/$1

	mkdir -p "$www"
	printf '%s\n' "$text" >"$www/index.html"
	ip netns add "$name"
	ip link add "$name" type veth peer name eth0 netns "$name"
	ip addr add "$host/24" dev "$name"
	ip link set "$name" up
	ip -n "$name" addr add "$address/24" dev eth0
	ip -n "$name" link set eth0 up
	ip -n "$name" link set lo up
	ip -n "$name" route add default via "$host"
	network_serve "$name" "$address"
	network_wait "$address" 80
}

# network_serve NAME ADDRESS: its page on port 80 of ADDRESS. With no descriptor of the tests:
# bats waits for who holds its output.
network_serve() {
	ip netns exec "$1" busybox httpd -p "$2:80" -h "$LAB/www/$1" \
		</dev/null >/dev/null 2>&1 3>&- 4>&-
}

# network_metadata: the address at which clouds hand out credentials, on the LAN's side
network_metadata() {
	ip -n lan addr add 169.254.169.254/32 dev lo
	ip route add 169.254.169.254 dev lan
	network_serve lan 169.254.169.254
	network_wait 169.254.169.254 80
}

# network_wait ADDRESS PORT: until it accepts a connection, at most 5 s
network_wait() {
	local deadline=$((SECONDS + 5))

	until (exec 9<>"/dev/tcp/$1/$2") 2>/dev/null; do
		if ((SECONDS > deadline)); then
			printf 'nothing answers on %s port %s\n' "$1" "$2" >&2
			return 1
		fi
	done
}
