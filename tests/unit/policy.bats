#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Policies that are no policy, or that somebody else could have written

bats_require_minimum_version 1.5.0

setup() {
	# shellcheck source=tests/lib/hook.bash
	. "$SRCDIR/tests/lib/hook.bash"
	hook_setup "$BATS_TEST_TMPDIR/host"
	hook_profile codex 'commands = codex' 'state = .codex'
	hook_profile pi 'commands = pi' 'state = .pi'
	mkdir -p "$HOOK_ROOTFS"/usr/{bin,libexec}
	# it does not ask: a policy that is there and can't be used is one for every container
	jq -n '{
		root: {path: "rootfs"},
		process: {env: ["PATH=/usr/bin"]},
		linux: {namespaces: [{type: "mount"}, {type: "network"}]}
	}' >"$HOOK_BUNDLE/config.json"
	POLICY=$HOOK_CONFIG/policy.conf
	CONFIG=$HOOK_CONFIG
}

check() {
	"$HOOK" --config "$CONFIG" --libexec "$HOOK_LIBEXEC" --check --bundle "$HOOK_BUNDLE"
}

# refuses MESSAGE: createRuntime and --check do, in one line, and change nothing
refuses() {
	local before

	before=$(hook_tree "$HOOK_DIR")
	run -78 --separate-stderr "$HOOK" --config "$CONFIG" --libexec "$HOOK_LIBEXEC" createRuntime \
		< <(hook_state $$)
	[[ $output == "" && ${#stderr_lines[@]} == 1 && $stderr == "oci-sandbox-hook: "*"$1"* ]]
	run -2 check
	[[ ${lines[-1]} == "refused: "*"$1"* ]]
	[[ $(hook_tree "$HOOK_DIR") == "$before" ]]
}

# text BYTES: the policy, as printf(1) has it
text() {
	# shellcheck disable=SC2059 # that is what it is for
	printf "$1" >"$POLICY"
	chmod 644 "$POLICY"
}

@test "policy: what every line can get wrong is refused, with file, line and key" {
	local line want count=0

	while IFS='~' read -r line want; do
		hook_policy '# the first line' "$line"
		refuses "policy.conf:2: $want"
		count=$((count + 1))
	done <<-'END'
		frobnicate = yes~unknown key `frobnicate`
		Agents = claude~unknown key `Agents`
		agents claude~unknown key `agents claude`
		= claude~unknown key ``
		allow-device = ttyUSB0~allow-device: `ttyUSB0` is not an absolute path
		allow-device = /dev~allow-device: `/dev` is not below /dev
		allow-device = /devices/x~allow-device: `/devices/x` is not below /dev
		allow-device = /dev/../etc~allow-device: `/dev/../etc` has a .. component
		share-write = always~share-write: `always` is none of yes no
		gpu = maybe~gpu: `maybe` is none of yes no
		allow-write = relative~allow-write: `relative` is not an absolute path
		allow-write = /a/../b~allow-write: `/a/../b` has a .. component
		allow-write = /~allow-write: `/` would name everything
		allow-ip = 10.0.0.0/33~allow-ip: 
		allow-ip = 10.0.0.1/8~allow-ip: 
		allow-ip = 010.0.0.1~allow-ip: 
		allow-ip = 10.1~allow-ip: 
		allow-ip = example.org~allow-ip: 
		allow-ip = fe80::1%eth0~allow-ip: 
		allow-ip = ::ffff:10.0.0.1~allow-ip: 
		allow-ip = 192.0.2.1 tcp/0~allow-ip: 
		allow-ip = 192.0.2.1 tcp/2-1~allow-ip: 
		allow-ip = 192.0.2.1 icmp~allow-ip: 
		allow-ip =~allow-ip: the value is missing
		allow-ip~allow-ip: the value is missing
		deny-ip = 192.0.2.0/~deny-ip: 
		agents = claude claude~agents: `claude` is named twice
		agents = ../claude~agents: 
		match = sometimes~match: `sometimes` is none of
		forge-host = github.example.com~forge-host: `github.example.com` is not HOST gh
		forge-host = git.example.com hub~forge-host: `git.example.com hub` is not HOST gh
		forge-host = a"]\n gh~forge-host: 
		forge-host = -x gh~forge-host: 
		forge-host = git@x.example gh~forge-host: 
		agent-env = A=B~unknown key `agent-env`
		local-port = 0~local-port: `0` is not a number from 1 to 65535
		local-port = 8080 65536~local-port: `65536` is not a number from 1 to 65535
		local-port = 80 80~local-port: 80 is named twice
		callback-port = http~callback-port: `http` is not a number from 1 to 65535
		local-model-port = 0~local-model-port: `0` is not a number from 1 to 65535
		local-model-port = 65536~local-model-port: `65536` is not a number from 1 to 65535
		local-model-port = -1~local-model-port: `-1` is not a number from 1 to 65535
		local-model-port = 1920 1921~local-model-port: `1920 1921` is not a number from 1 to 65535
		local-model-port = no~local-model-port: `no` is not a number from 1 to 65535, or none
	END
	((count == 44))
}

@test "policy: a path of the home is one below it" {
	hook_policy 'allow-write = ~'
	refuses "policy.conf:1: allow-write: \`~\` is not an absolute path"
	hook_policy 'allow-write = ~dev/x'
	refuses "policy.conf:1: allow-write: \`~dev/x\` is not an absolute path"
	hook_policy 'allow-write = ~/./'
	refuses "policy.conf:1: allow-write: \`~/./\` would name all of the home"
	hook_policy 'allow-write = ~/../x'
	refuses "policy.conf:1: allow-write: \`/../x\` has a .. component"
	hook_policy 'match = always' 'allow-write = ~/.m2'
	run -0 check
}

@test "policy: a value that is given twice is refused" {
	hook_policy 'match = always' 'match = annotation'
	refuses "policy.conf:2: match: given twice"
	hook_policy 'local-model-port = 1920' 'local-model-port = none'
	refuses "policy.conf:2: local-model-port: given twice"
}

@test "policy: a callback-port is no port that agents reach, in whatever order they are named" {
	hook_policy 'local-port = 8080' '' 'callback-port = 8090 8080'
	refuses "policy.conf:3: callback-port: 8080 is both a local-port and a callback-port"
	hook_policy 'callback-port = 8080' 'local-port = 8080'
	refuses "policy.conf:2: local-port: 8080 is both a local-port and a callback-port"
	hook_policy 'local-model-port = 8080' 'callback-port = 8080'
	refuses "policy.conf:2: callback-port: 8080 is both the local-model-port and a callback-port"
	hook_policy 'callback-port = 8080' 'local-model-port = 8080'
	refuses "policy.conf:2: local-model-port: 8080 is both the local-model-port and a callback-port"
	hook_policy 'match = always' 'local-port = 8080' 'local-model-port = 8080' 'callback-port = 8090'
	run -0 check
	hook_policy 'match = always' 'local-model-port = none' 'callback-port = 8090'
	run -0 check
}

@test "policy: a profile's port is a port" {
	hook_policy 'match = always' 'agents = pi'
	hook_profile pi 'commands = pi' 'state = .pi' 'local-model-port = none'
	refuses "pi.conf:3: local-model-port: \`none\` is not a number from 1 to 65535"
	hook_profile pi 'commands = pi' 'state = .pi' 'local-model-port = 1920' 'local-model-port = 1921'
	refuses "pi.conf:4: local-model-port: given twice"
	hook_profile pi 'commands = pi' 'state = .pi' 'local-model-port = 1920'
	run -0 check
}

@test "policy: a profile's folders stay in the home" {
	local key

	hook_policy 'match = always' 'agents = pi'
	for key in state skills; do
		hook_profile pi 'commands = pi' "$key = ../other"
		refuses "pi.conf:2: $key: \`../other\` is not a relative path without .."
		hook_profile pi 'commands = pi' "$key = /etc"
		refuses "pi.conf:2: $key: \`/etc\` is not a relative path without .."
	done
	hook_profile pi 'commands = pi' 'state = .pi' 'skills = skills' 'skills = more'
	refuses "pi.conf:4: skills: given twice"
	for key in skills signing; do # beside the stores
		hook_policy 'match = always' "agents = $key"
		hook_profile "$key" 'commands = pi' 'state = .pi'
		refuses "$key.conf: \`$key\` is no name"
	done
}

@test "policy: a profile imports and masks what is below the home and the state folder" {
	local line

	hook_policy 'match = always' 'agents = pi'
	while read -r line; do
		hook_profile pi 'commands = pi' 'state = .pi' "$line"
		refuses "pi.conf:3: ${line%% *}: \`${line##* }\` is not a relative path without .."
	done <<-'END'
		import = a ../b
		import = /etc/passwd
		mask = daemon ~/../x
		mask = /run
	END
	hook_profile pi 'commands = pi' 'state = .pi' 'import = a/b.json ~/x/y' 'import = ~/b y/z'
	refuses "pi.conf:4: import: \`y/z\` and \`~/x/y\` would both be \`y\`"
	hook_profile pi 'commands = pi' 'state = .pi' 'import = a/b.json ~/x/y' 'import = ~/b' 'mask = d e/f'
	run -0 check
}

@test "policy: bytes that no editor shows are refused" {
	text 'agents = claude\r\nmatch = always\r\n'
	refuses "policy.conf:1: control character 0x0d (save the file with plain line ends)"
	text '\357\273\277match = always\n'
	refuses "policy.conf:1: a byte order mark"
	text '\377\376m\000a\000'
	refuses "policy.conf: it has a NUL byte"
	text 'agents = claude\n\000match = always\n'
	refuses "policy.conf: it has a NUL byte"
	text 'agents = claude\033[2J\n'
	refuses "policy.conf:1: control character 0x1b"
	text 'agents = cl\303\244ude\n'
	refuses "policy.conf:1: agents: "
}

@test "policy: no newline at the end, none at all, and white space are fine" {
	text 'match = always'
	run -0 check
	[[ $output == "ours: match = always"* ]]
	text '\n  \t# a comment\n\n\tmatch\t=\talways   # why\n\n'
	run -0 check
	[[ $output == "ours: match = always"* ]]
	text ''
	run -0 check
	[[ $output == "not ours: "* ]]
}

@test "policy: more than 16 MiB are refused" {
	head -c 17000000 /dev/zero | tr '\0' '#' >"$POLICY"
	refuses "policy.conf: longer than 16777216 bytes"
}

@test "policy: what is no regular file is refused, and never waited for" {
	rm "$POLICY"
	mkdir "$POLICY"
	refuses "policy.conf is not a regular file"
	rmdir "$POLICY"
	mkfifo "$POLICY"
	refuses "policy.conf is not a regular file"
	rm "$POLICY"
	ln -s /dev/null "$POLICY"
	refuses "policy.conf is not a regular file"
}

@test "policy: a symlink that leads nowhere is no missing policy" {
	rm "$POLICY"
	ln -s nowhere "$POLICY"
	refuses "open $POLICY, through a symlink: No such file"
	rm "$POLICY"
	ln -s policy.conf "$POLICY"
	refuses "open $POLICY, through a symlink: Too many levels"
	rm "$POLICY"
	mv "$HOOK_CONFIG" "$HOOK_DIR/real"
	ln -s real "$HOOK_CONFIG"
	refuses "open $POLICY, through a symlink: No such file"
	rm "$HOOK_CONFIG"
	run -0 check
	[[ $output == "not ours: "* ]]
}

@test "policy: a file or folder that others can write is refused, wherever it is on the way" {
	chmod g+w "$POLICY"
	refuses "$POLICY can be written by others (chmod go-w $POLICY)"
	chmod g-w,o+w "$POLICY"
	refuses "$POLICY can be written by others"
	chmod o-w "$POLICY"
	chmod g+w "$HOOK_CONFIG"
	refuses "$HOOK_CONFIG can be written by others (chmod go-w $HOOK_CONFIG)"
	chmod g-w "$HOOK_CONFIG"
	mkdir "$HOOK_DIR/open"
	chmod 777 "$HOOK_DIR/open"
	CONFIG=$HOOK_DIR/open/etc
	mkdir "$CONFIG"
	cp "$POLICY" "$CONFIG"
	refuses "$HOOK_DIR/open can be written by others"
}

@test "policy: a symlink in a folder that others can write is refused, whatever it leads to" {
	mkdir "$HOOK_DIR/open"
	ln -s "$HOOK_CONFIG" "$HOOK_DIR/open/link"
	ln -s open "$HOOK_DIR/more"
	CONFIG=$HOOK_DIR/more/link
	run -0 check
	chmod 777 "$HOOK_DIR/open"
	refuses "$HOOK_DIR/open can be written by others"
}

@test "policy: symlinks of the host's own are followed" {
	mv "$HOOK_CONFIG" "$HOOK_DIR/real"
	ln -s "../$(basename "$HOOK_DIR")/./real/" "$HOOK_CONFIG"
	mv "$HOOK_DIR/real/policy.conf" "$HOOK_DIR/real/other.conf"
	ln -s "$HOOK_DIR/real/other.conf" "$HOOK_DIR/real/policy.conf"
	hook_policy 'match = always'
	run -0 check
	[[ $output == "ours: match = always"* ]]
}

@test "policy: someone else's file, folder or symlink is refused" {
	[[ $EUID == 0 ]] || skip "needs root, to give a file away"
	chown 1234 "$POLICY"
	refuses "$POLICY belongs to uid 1234 (chown it to root)"
	chown 0 "$POLICY"
	chown 1234 "$HOOK_CONFIG"
	refuses "$HOOK_CONFIG belongs to uid 1234"
	chown 0 "$HOOK_CONFIG"
	mkdir "$HOOK_DIR/sticky"
	chmod 1777 "$HOOK_DIR/sticky"
	ln -s "$HOOK_CONFIG" "$HOOK_DIR/sticky/mine"
	ln -s "$HOOK_CONFIG" "$HOOK_DIR/sticky/theirs"
	chown -h 1234 "$HOOK_DIR/sticky/theirs"
	CONFIG=$HOOK_DIR/sticky/mine
	run -0 check
	CONFIG=$HOOK_DIR/sticky/theirs
	refuses "$HOOK_DIR/sticky/theirs belongs to uid 1234"
}

@test "policy: a message keeps what was being done and why it failed, however long its path" {
	local deep

	deep=$(printf '/%0200d%.0s' {1..15})
	CONFIG=$HOOK_CONFIG$deep
	mkdir -p "$CONFIG"
	ln -s loop "$CONFIG/loop"
	ln -s loop "$CONFIG/policy.conf"
	refuses "policy: open $HOOK_CONFIG/"
	[[ $output == *"..."*"through a symlink: Too many levels of symbolic links" ]]
}
