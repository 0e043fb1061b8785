#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim
#
# A launch at a terminal: the agent has a pty of its own, and nobody at the keyboard can tell.

load ../lib/confined

setup_file() {
	lab_prepare
	printf '#!/bin/sh\nexec "$@"\n' >"$LAB/template/usr/local/bin/codex"
	chmod 755 "$LAB/template/usr/local/bin/codex"
}

setup() {
	container_prepare
	OPTIONS+=(--detach)
	confined sleep 1000 >/dev/null
}

teardown() {
	container_remove
}

# person STEP... [-- COMMAND ARG...]: at the terminal of a shell in the container, or of COMMAND there;
# the steps are those of terminal.py, whose output is in $lines
person() {
	local -a steps=() command=(sh -i)

	while (($# > 0)) && [[ $1 != -- ]]; do
		steps+=("$1")
		shift
	done
	(($# == 0)) || command=("${@:2}")
	export -f engine_podman engine_as_user
	# shellcheck disable=SC2016
	run python3 "$SRCDIR/tests/lib/terminal.py" "${steps[@]}" -- \
		bash -c 'engine_podman exec --interactive --tty "$@"' person "$CONTAINER" "${command[@]}"
	[[ $status -eq 0 ]] || {
		printf '%s\n' "$output" >&2
		return 1
	}
}

# script NAME: a shell script from standard input, in the workspace
script() {
	cat >"$WORKSPACE/$1"
}

# alone COMMAND ARG...: in the container, without a terminal
alone() {
	engine_podman exec "$CONTAINER" "$@"
}

# nearby STEP... -- COMMAND ARG...: as person, but the terminal is the command's own, and no engine's
nearby() {
	local -a steps=()
	local first

	while [[ $1 != -- ]]; do
		steps+=("$1")
		shift
	done
	first=$(engine_podman inspect --format '{{.State.Pid}}' "$CONTAINER")
	run python3 "$SRCDIR/tests/lib/terminal.py" "${steps[@]}" -- \
		nsenter --target "$first" --all \
		sh -c 'cd /workspace && HOME=/root PATH=/usr/local/bin:/usr/bin:/bin exec "$@"' nearby "${@:2}"
	[[ $status -eq 0 ]] || {
		printf '%s\n' "$output" >&2
		return 1
	}
}

@test "terminal: a pty of the sandbox's own, with the size and the settings of the developer's" {
	script agent <<-'END'
		tty
		stty size
		stty -g
		ls /dev/pts
		cat /dev/tty
	END
	person 'see=# ' 'size=33x101' 'type=stty -g; claude ". ./agent"; stty -g\r' \
		'see=\n([0-9a-f:]{20,})\r\n(/dev/pts/[0-9]+)\r\n(33 101)\r\n([0-9a-f:]+)\r\n(0 +ptmx)\r\n' \
		'type=typed\r' 'see=typed\r\n(typed)\r\n' 'type=\x04' 'see=([0-9a-f:]{20,})\r' 'type=exit\r' end
	[[ ${lines[1]} == /dev/pts/0 && ${lines[2]} == "33 101" && ${lines[5]} == typed ]]
	[[ ${lines[0]} == "${lines[3]}" && ${lines[0]} == "${lines[6]}" ]]
	[[ ${lines[7]} == "status 0" ]]
}

@test "terminal: it is resized, and who has it is told" {
	script agent <<-'END'
		trap 'stty size' WINCH
		echo ready
		while read -r line; do
			echo "got $line"
		done
	END
	person 'see=# ' 'type=claude ". ./agent"\r' 'see=ready' 'size=50x132' 'see=(50 132)\r' \
		'type=\x04' 'see=# ' 'type=exit\r' end
	[[ ${lines[0]} == "50 132" ]]
}

@test "terminal: bytes pass as they come, in both directions" {
	local typed='\x1b[200~pa\xc3\xa4ste\x03\x1b[201~\x1b[<0;5;6M\x00\xff\x1b]52;c;aGk=\x07'

	script agent <<-'END'
		stty raw -echo
		echo ready
		head -c 43 | od -An -v -tx1 | tr -d ' \n'
		printf '\033[38;2;1;2;3mC\033]52;c;aGk=\a\n\001'
	END
	person 'see=# ' 'type=claude ". ./agent"\r' 'see=ready' "type=$typed" \
		'see=([0-9a-f]{86})(\x1b\[38;2;1;2;3mC\x1b\]52;c;aGk=\x07\n\x01)' 'see=# ' 'type=exit\r' end
	[[ ${lines[0]} == 1b5b3230307e7061c3a4737465031b5b3230317e1b5b3c303b353b364d00ff1b5d35323b633b61476b3d07 ]]
}

@test "terminal: what an agent that was killed has switched on is off, and the settings are back" {
	script agent <<-'END'
		stty raw -echo
		printf '\033[?1049h\033[?1003h\033[?2004h\033[?25l\033[>1u'
		kill -9 $$
	END
	person 'see=# ' 'type=stty -g; claude ". ./agent"; echo "status $?"; stty -g; exit\r' \
		'see=\n([0-9a-f:]{20,})\r\n' 'see=25l\x1b\[>1u' 'see=(\x1b.*)(status 137)\r\n([0-9a-f:]+)\r' end
	[[ ${lines[0]} == "${lines[3]}" ]]
	[[ ${lines[1]} == $'\e[<1u\e[?2004l\e[?1003l\e[?1049l\e[?25h' ]]
}

@test "terminal: a pipe stays a pipe, and standard output and error stay apart" {
	script agent <<-'END'
		test -t 0 || echo pipe
		test -t 1 && echo terminal
		tty <&2 >&2
		cat
	END
	person 'see=# ' 'type=echo in | claude ". ./agent" | tr a-z A-Z; exit\r' \
		'see=(PIPE\r\n.*\nIN)\r' end
	[[ $output == *$'\n/dev/pts/0\r\n'* && $output != *TERMINAL* ]]
}

@test "terminal: without one there is none, not even a controlling one" {
	script agent <<-'END'
		test -t 0 || test -t 1 || test -t 2 || echo none
		echo error >&2
		(: </dev/tty) 2>&1
		ls /dev/pts
		cat
	END
	run -0 --separate-stderr alone claude '. ./agent'
	[[ $stderr == error ]]
	[[ ${lines[0]} == none ]]
	[[ ${lines[1]} == *"/dev/tty: No such device or address" ]]
	[[ ${lines[2]} == ptmx && ${#lines[@]} -eq 3 ]]
	# the launch has one, but the agent is given none
	person 'see=# ' 'type=claude ". ./agent" </dev/null 2>&1 | cat; exit\r' 'see=(No such device)' end
}

@test "job control: the whole session stops and goes on" {
	script agent <<-'END'
		stty -echo -icanon
		echo ready
		head -c 3
		stty size
	END
	person 'see=# ' 'type=stty -g; claude ". ./agent"\r' 'see=\n([0-9a-f:]{20,})\r\n' 'see=ready' \
		'type=a' 'see=a' 'type=\x1a' 'see=Stopped' 'see=# ' 'type=stty -g\r' 'see=\n([0-9a-f:]{20,})\r\n' \
		'size=21x91' 'type=fg\r' 'see=claude' 'type=bc' 'see=bc' 'see=(21 91)' \
		'see=# ' 'type=stty -g; exit\r' 'see=\n([0-9a-f:]{20,})\r\n' end
	[[ ${lines[0]} == "${lines[1]}" && ${lines[0]} == "${lines[3]}" ]]
	[[ ${lines[2]} == "21 91" ]]
}

@test "job control: in the background the agent works, and stops when it wants the keys" {
	script agent <<-'END'
		echo before
		head -n 1 | sed 's/^/got /'
	END
	person 'see=# ' 'type=claude ". ./agent" &\r' 'see=before' 'type=\r' 'see=Stopped' \
		'type=fg\r' 'see=claude' 'type=keys\r' 'see=got (keys)\r' 'see=# ' 'type=exit\r' end
}

@test "job control: keys are for who reads them, the agent or another of the pipeline" {
	script agent <<-'END'
		read -r line
		echo "got $line"
	END
	script silent <<-'END'
		echo from
		exec sleep 1000
	END
	script reader <<-'END'
		read -r a
		echo "$a is there"
		read -r b </dev/tty
		echo "$a $b"
	END
	person 'see=# ' 'type=claude ". ./agent" | tr a-z A-Z\r' 'type=keys\r' 'see=(GOT KEYS)\r' 'see=# ' \
		'type=claude ". ./silent" | sh ./reader\r' 'see=from is there' 'type=other\r' 'see=(from other)\r' \
		'type=\x03' 'see=# ' 'type=exit\r' end
}

@test "job control: a key's signal is for all that is in the agent's foreground" {
	script agent <<-'END'
		trap 'echo parent' INT
		sh -c 'trap "echo child" INT; sh -c "echo ready; exec sleep 1000"; :'
		echo last
	END
	script sleeper <<-'END'
		echo ready
		exec sleep 1000
	END
	person 'see=# ' 'type=claude ". ./agent"; echo "status $?"\r' 'see=ready' 'type=\x03' \
		'see=child\r\nparent\r\nlast\r\nstatus (0)' 'see=# ' \
		'type=claude ". ./sleeper" | cat; echo status $?\r' 'see=ready' 'type=\x03' 'see=# ' 'type=exit\r' end
}

@test "job control: where no shell could take it back, the agent goes on at once" {
	script agent <<-'END'
		echo ready
		read -r line
		echo "got $line"
	END
	person 'see=ready' 'type=\x1a' 'type=x\r' 'see=got (x)' end -- claude '. ./agent'
	[[ ${lines[1]} == "status 0" ]]
}

@test "end: the end of the terminal is the session's" {
	script agent <<-'END'
		trap 'echo hup >hup' HUP
		echo ready
		sleep 1000 &
		while :; do
			wait
		done
	END
	nearby 'see=ready' hang end -- claude '. ./agent'
	within 30 sessions_are_over
	[[ $(cat "$WORKSPACE/hup") == hup ]]
}

@test "end: a session that is stopped ends with its shell" {
	script agent <<-'END'
		echo ready
		exec sleep 1000
	END
	nearby 'see=# ' 'type=claude ". ./agent"\r' 'see=ready' 'type=\x1a' 'see=Stopped' hang end -- sh -i
	within 30 sessions_are_over
}

@test "end: fifty sessions at once, each with its own" {
	script agent <<-'END'
		for i in $(seq 50); do
			claude "echo $i; exit $i" &
		done
		wait
	END
	run -0 alone sh ./agent
	[[ $(sort -n <<<"$output") == "$(seq 50)" ]] || {
		printf '%s\n' "$output"
		return 1
	}
}
