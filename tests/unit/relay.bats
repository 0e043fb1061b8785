#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# relay: DNS messages as bytes; then DNS and TCP relays on the loopback, with clients, resolvers
# and servers of tests/lib/relay_dns.py and relay_stream.py.
bats_require_minimum_version 1.5.0

setup() {
	BUILDDIR=${BUILDDIR:-$BATS_TEST_DIRNAME/../../build}
	DNS=$BUILDDIR/tests/lib/try-dns
}

# header FLAGS QD AN NS AR: a message's first 12 bytes, with id 1234
header() {
	printf '1234%s%04x%04x%04x%04x' "$@"
}

NAME=076578616d706c65036f726700 # example.org
ASK=${NAME}00010001
OPT=000029 # behind it 2 bytes of size, 4 of flags, 2 of length

# says COMMAND TEXT MESSAGE...: that is what try-dns says of these messages
says() {
	local command=$1 text=$2

	shift 2
	output=$(printf '%s\n' "$@" | timeout 60 "$DNS" "$command")
	[ "$output" = "$text" ] || {
		printf 'expected: %s\ngot:      %s\n' "$text" "$output"
		return 1
	}
}

# repeat TEXT N
repeat() {
	printf "$1%.0s" $(seq "$2")
}

# relay CASE: it holds
relay() {
	PYTHONDONTWRITEBYTECODE=1 timeout 120 python3 "$BATS_TEST_DIRNAME/../lib/relay_${1%%_*}.py" \
		"$BUILDDIR/tests/lib/relay" "$1"
}

@test "dns: a query is known by its question and its size for answers" {
	says query 'id 4660 question 17 udp 512' "$(header 0100 1 0 0 0)$ASK"
	says query 'id 4660 question 17 udp 1232' "$(header 0100 1 0 0 1)$ASK${OPT}04d0000000000000"
	says query 'id 4660 question 17 udp 512' "$(header 0100 1 0 0 1)$ASK${OPT}0010000000000000"
	says query 'id 4660 question 5 udp 512' "$(header 0000 1 0 0 0)0000020001"
	# a cookie in the OPT record, and a record before it whose name is a pointer
	says query 'id 4660 question 17 udp 4096' \
		"$(header 0100 1 0 0 2)${ASK}c00c00010001000000000004c0000201${OPT}1000000000000004aaaabbbb"
}

@test "dns: a message that is no query is refused" {
	says query '0 bytes are no DNS message' ''
	says query '11 bytes are no DNS message' '0102030405060708090a0b'
	says query 'an answer where a query was expected' "$(header 8180 1 0 0 0)$ASK"
	says query 'opcode 5 is no standard query' "$(header 2800 1 0 0 0)$ASK"
	says query '0 questions in one query' "$(header 0100 0 0 0 0)"
	says query '2 questions in one query' "$(header 0100 2 0 0 0)$ASK$ASK"
	says query '65535 questions in one query' "$(header 0100 65535 65535 65535 65535)$ASK"
	says query 'answers in a query' "$(header 0100 1 1 0 0)$ASK"
	says query 'answers in a query' "$(header 0100 1 0 1 0)$ASK"
	says query '1 bytes behind the last record' "$(header 0100 1 0 0 0)${ASK}00"
}

@test "dns: counts that lie are found out" {
	says query "an additional record's name is malformed" "$(header 0100 1 0 0 1)$ASK"
	says query "an additional record's name is malformed" \
		"$(header 0100 1 0 0 65535)$ASK${OPT}04d0000000000000"
	says query 'an additional record is cut short' "$(header 0100 1 0 0 1)$ASK${OPT}04d000000000"
	says query 'an additional record is cut short' "$(header 0100 1 0 0 1)$ASK${OPT}04d000000000ffff"
	says query 'more than one OPT record, or one that has a name' \
		"$(header 0100 1 0 0 2)$ASK${OPT}04d0000000000000${OPT}04d0000000000000"
	says query 'more than one OPT record, or one that has a name' \
		"$(header 0100 1 0 0 1)${ASK}c00c002904d0000000000000"
}

@test "dns: names are limited, and pointers lead nowhere" {
	local label longest

	label=3f$(repeat 61 63)
	longest=$(repeat "$label" 3)3d$(repeat 61 61)00
	says query 'id 4660 question 259 udp 512' "$(header 0100 1 0 0 0)${longest}00010001"
	says query "$(repeat "the question's name is malformed\n" 9)" \
		"$(header 0100 1 0 0 0)$(repeat "$label" 3)3e$(repeat 61 62)0000010001" \
		"$(header 0100 1 0 0 0)40$(repeat 61 64)0000010001" \
		"$(header 0100 1 0 0 0)80000010001" \
		"$(header 0100 1 0 0 0)c00c00010001" \
		"$(header 0100 1 0 0 0)0161c00c00010001" \
		"$(header 0100 1 0 0 0)c00000010001" \
		"$(header 0100 1 0 0 0)c0ff00010001" \
		"$(header 0100 1 0 0 0)ff" \
		"$(header 0100 1 0 0 0)$(repeat "$label" 1000)0000010001"
	# in a record: to itself, forward, and beyond the end
	says query "$(repeat "an additional record's name is malformed\n" 3)" \
		"$(header 0100 1 0 0 1)${ASK}c01d00010001000000000000" \
		"$(header 0100 1 0 0 1)${ASK}c02000010001000000000000" \
		"$(header 0100 1 0 0 1)${ASK}c0"
}

@test "dns: messages of 64 KiB are looked at to their end" {
	local records

	says query '65536 bytes are too many for a DNS message' \
		"$(header 0100 1 0 0 0)$ASK$(repeat 00 65507)"
	# 5,954 records of 11 bytes each: a count that does not lie
	records=$(repeat 0000010001000000000000 5954)
	says query 'id 4660 question 17 udp 512' "$(header 0100 1 0 0 5954)$ASK$records"
	says query "an additional record's name is malformed" "$(header 0100 1 0 0 5955)$ASK$records"
}

@test "dns: a query that is cut anywhere is none" {
	says cuts 52 \
		"$(header 0100 1 0 0 2)${ASK}c00c00010001000000000000${OPT}04d0000000000000"
	says cuts 29 "$(header 0100 1 0 0 0)$ASK"
}

@test "dns: SERVFAIL has the question, RD and CD, and no more" {
	says servfail "$(header 8182 1 0 0 0)$ASK" "$(header 0100 1 0 0 0)$ASK"
	says servfail "$(header 8082 1 0 0 0)$ASK" "$(header 0000 1 0 0 0)$ASK"
	says servfail "$(header 8192 1 0 0 0)$ASK" "$(header 0130 1 0 0 1)$ASK${OPT}04d0000000000000"
}

@test "dns: a truncated answer keeps the answer's flags and no records" {
	says truncated "$(header 8783 1 0 0 0)$ASK" "$(header 0100 1 0 0 0)$ASK" \
		"$(header 8583 1 1 2 3)${ASK}c00c00010001"
}

@test "dns: an answer belongs to a query if id and question are the same bytes" {
	local query
	query=$(header 0100 1 0 0 0)$ASK

	says answer $'yes\nyes' "$query" "$(header 8180 1 1 0 0)${ASK}c00c" "$query" "$(header 8183 1 0 0 0)$ASK"
	says answer "$(repeat 'no\n' 8)" \
		"$query" "$query" \
		"$query" "1235${query:4}" \
		"$query" "1235$(header 8180 1 0 0 0 | cut -c 5-)$ASK" \
		"$query" "$(header 8180 1 0 0 0)${ASK/6578/4578}" \
		"$query" "$(header 8180 1 0 0 0)${NAME}001c0001" \
		"$query" "$(header 8180 0 0 0 0)$ASK" \
		"$query" "$(header 8180 1 0 0 0)${ASK%01}" \
		"$query" "$(header 8182 0 0 0 0)"
}

@test "dns relay: 300 queries in flight get their own answers, with random ids upstream" {
	relay dns_in_flight
}

@test "dns relay: a resolver that is silent is followed by the next, and is late then" {
	relay dns_failover
}

@test "dns relay: a resolver that is silent costs one query its time, and not each" {
	relay dns_remembers
}

@test "dns relay: a resolver that was silent is asked again, by one query, and is first once it answers" {
	relay dns_tries_again
}

@test "dns relay: resolvers that are all silent are all asked" {
	relay dns_all_silent
}

@test "dns relay: SERVFAIL within 5 s where no resolver answers" {
	relay dns_dead
}

@test "dns relay: a resolver that is not there is followed by the next at once" {
	relay dns_refused
}

@test "dns relay: a resolver that can't is followed by the next, and the last one's word counts" {
	relay dns_says_no
}

@test "dns relay: an answer that is too long for UDP is asked for over TCP" {
	relay dns_truncated
}

@test "dns relay: TCP queries are answered in any order" {
	relay dns_pipelined
}

@test "dns relay: wrong ids, wrong questions and repetitions are dropped" {
	relay dns_lies
}

@test "dns relay: clients and resolvers of both families" {
	relay dns_families
}

@test "dns relay: the oldest query is answered SERVFAIL when there are too many" {
	relay dns_full
}

@test "dns relay: a UDP flood costs bounded memory, and it goes on" {
	relay dns_flood
}

@test "dns relay: TCP clients that do not read cost bounded memory, and others are served" {
	relay dns_tcp_flood
}

@test "dns relay: hostile, idle and surplus connections are closed" {
	relay dns_tcp_closed
}

@test "stream: each direction ends by itself" {
	relay stream_half_close
}

@test "stream: 1,000 connections at once, in less than 4 MiB" {
	relay stream_thousand
}

@test "stream: a reader that does not read stops the sender, and costs no memory" {
	relay stream_back_pressure
}

@test "stream: bytes arrive in order, both ways at once" {
	relay stream_bulk
}

@test "stream: a target that is not there is a reset, and one that comes back is found" {
	relay stream_comes_and_goes
}

@test "stream: a target on ::1 alone is found" {
	relay stream_families
}

@test "stream: a reset is passed on, either way" {
	relay stream_reset
}

@test "stream: one that stops goes on with the connections that it has, and those that wait" {
	relay stream_stop
}

@test "stream: without descriptors new connections wait, and nothing spins" {
	relay stream_few_fds
}

@test "loop: a process with a loop of its own polls one descriptor" {
	relay dns_polled
	relay stream_polled
}
