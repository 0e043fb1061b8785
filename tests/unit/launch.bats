#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What the shim makes of a launch, without privileges: mounts, environment, id maps, workspace.
bats_require_minimum_version 1.5.0

SHOW=$BUILDDIR/tests/lib/show-launch

setup() {
	# shellcheck source=tests/lib/schema.bash
	. "$SRCDIR/tests/lib/schema.bash"
	cd "$BATS_TEST_TMPDIR" || return
	: >policy
	cp "$SRCDIR/config/agents/claude.conf" profile
	printf '%s = 1\n' user-ns mnt-ns pid-ns net-ns >manifest
	printf 'mount = %s\n' /etc/hosts /workspaces/p /mnt/kube /run/docker.sock >>manifest
	LAUNCH=(uid=1000 user=vscode home=/home/vscode passwd-home=/home/vscode cwd=/workspaces/p
		workspace=/workspaces/p state=/home/vscode/.local/state/oci-sandbox
		share=/home/vscode/.local/share skill=oci-sandbox
		share-store=/home/vscode/.local/state/oci-sandbox/claude/share
		agent=/usr/local/lib/node_modules/claude/claude.exe resolv-path=/etc/resolv.conf
		"resolv-conf=nameserver 127.64.0.7")
}

show() {
	"$SHOW" "$1" policy profile manifest "${LAUNCH[@]}" "${@:2}"
}

# order LINE...: these lines are in the plan, in this order
order() {
	local line rest=$output

	for line; do
		[[ $'\n'$rest$'\n' == *$'\n'"$line"$'\n'* ]] || {
			printf 'not there, or not after the ones before it: %s\n%s\n' "$line" "$output"
			return 1
		}
		rest=${rest#*"$line"}
	done
}

# has_lines LINE...: these are in the output, in whatever order
has_lines() {
	local line

	for line; do
		grep -Fxq -- "$line" <<<"$output" || {
			printf 'not there: %s\n%s\n' "$line" "$output"
			return 1
		}
	done
}

# lacks PATTERN: no line of the output matches
lacks() {
	[[ ! $output =~ $1 ]] || {
		printf 'should not be there: %s\n%s\n' "$1" "$output"
		return 1
	}
}

# typical: the policy's facts and variables of a devcontainer that is like many
typical() {
	printf '%s\n' 'policy = /etc/oci-sandbox/policy.conf' 'network = namespace' \
		'agent-user = 0 0' 'agent-user = 1000 1000' 'capability = CAP_NET_ADMIN' >>manifest
	printf '%s\n' 'local-port = 5432' 'callback-port = 8090' 'pass-env = NPM_TOKEN' >policy
	VARS=(TERM=xterm-256color LANG=C.UTF-8 ANTHROPIC_API_KEY=SECRET NPM_TOKEN=SECRET GH_TOKEN=SECRET
		UV_INDEX_URL=https://me:SECRET@pypi.example/simple
		PATH=/workspaces/p/node_modules/.bin:/usr/local/bin:/usr/bin:/bin)
	LAUNCH+=(asks-git "nameservers=nameserver 10.89.0.1"
		"left-out=allow-device: /dev/ttyUSB0: No such file or directory (left out)")
}

ROOT=(uid=0 user=root home=/root passwd-home=/root state=/root/.local/state/oci-sandbox
	share=/root/.local/share share-store=/root/.local/state/oci-sandbox/claude/share
	"passwd=root:x:1000:1000::/root:/bin/sh")

# show_typical WHAT [KEY=VALUE...]: of that devcontainer
show_typical() {
	env -i "${VARS[@]}" "$SHOW" "$1" policy profile manifest "${LAUNCH[@]}" "${@:2}"
}

@test "plan: that of a typical devcontainer is the one that reviewers have read, for vscode and for root" {
	typical
	run -0 show_typical launch
	diff -u "$SRCDIR/tests/unit/launch-vscode.plan" - <<<"$output"
	run -0 show_typical launch "${ROOT[@]}"
	diff -u "$SRCDIR/tests/unit/launch-root.plan" - <<<"$output"
}

@test "plan: JSON says the same, as its schema has it, and neither form a value that is passed on" {
	local steps

	typical
	run -0 show_typical launch "${ROOT[@]}"
	lacks SECRET
	steps=$(sed -n '/^mounts:/,/^$/{s/^    \([^ ]*\) *\([^ ]*\).*/\1 \2/p}' <<<"$output")
	run -0 show_typical json "${ROOT[@]}"
	lacks SECRET
	[ "$(jq -r '.mounts[] | .step + " " + .target' <<<"$output")" = "$steps" ]
	jq -e '.agent == "claude" and .nested == false and .hook and
		(.user | .uid == 0 and .gid == 0 and .uid_inside == 1000 and .gid_inside == 1000) and
		.namespaces.joins == ["/run/oci-sandbox/ns/0/user", "/run/oci-sandbox/ns/0/net"] and
		(.network | .kind == "namespace" and .egress == "internet" and .local_ports == [5432] and
			.callback_ports == [8090] and .resolvers == ["10.89.0.1"]) and
		(.environment | any(.name == "NPM_TOKEN" and (has("value") | not)) and
			any(.name == "TERM" and .value == "xterm-256color")) and
		.command.arguments == ["claude", "--resume"] and .protected_missing == [".idea"] and
		(.messages | length) == 2' <<<"$output"
	schema_fits plan "$output"
}

@test "plan: the network of a launch: none, of its own, with a model's port" {
	local vars=(PATH=/bin)

	VARS=("${vars[@]}")
	run -0 show_typical launch
	order '    makes        user, mount, pid, ipc, uts, cgroup, net' \
		'    network      none: a loopback of its own, and nothing else' '    egress       none'
	lacks 'joins|names  '
	echo 'network = pasta' >>manifest
	echo 'egress = allowlist' >policy
	printf '%s\n' 'allow-ip = 192.0.2.1' 'deny-ip = 192.0.2.2' >>policy
	echo 'local-model-port = 1920' >>profile
	run -0 show_typical launch hooked=0
	order '    policy       /etc/oci-sandbox/policy.conf (of the image: no hook prepared this container)' \
		'    makes        user, net: for the network alone' '    makes        user, mount, pid, ipc, uts, cgroup' \
		'    egress       allowlist, 1 allow-ip, 1 deny-ip' \
		"    local-model  127.0.0.1:1920 of the agent leads to that of the container"
	run -0 --separate-stderr show_typical json hooked=0
	jq -e '.network.local_model_port == 1920 and .network.kind == "pasta" and (.hook | not)' <<<"$output"
	schema_fits plan "$output"
	echo 'callback-port = 1920' >>policy
	run -1 show_typical launch
	[[ $output == *"port 1920 is a callback-port"* ]]
}

@test "plan: what moves a terminal's cursor reaches it neither by a path nor by a variable" {
	local evil=$'\e[2J\r\n\x7f\xc2\x9b\x9b\\x'

	VARS=(PATH=/bin "TERM=$evil" "LC_ALL=naïve")
	run -0 show_typical launch "workspace=/w/$evil" "cwd=/w/$evil" "agent=/usr/bin/$evil"
	[[ $output == *'TERM=\033[2J\015\012\177\302\233\233\134x'* && $output == *'LC_ALL=naïve'* ]]
	LC_ALL=C lacks $'[\x01-\x09\x0b-\x1f\x7f]|\xc2\x9b|\x9b'
	run -0 --separate-stderr show_typical json "workspace=/w/$evil" "cwd=/w/$evil" "agent=/usr/bin/$evil"
	LC_ALL=C lacks $'[\x01-\x09\x0b-\x1f\x7f]|\xc2\x9b|\x9b'
	jq -e '.cwd | startswith("/w/\u001b[2J\r\n\u007f\u009b\ufffd\\x")' <<<"$output"
	schema_fits plan "$output"
}

@test "plan: 5,000 mounts are 5,000 lines" {
	seq -f 'mount = /mnt/%.0f' 5000 >>manifest
	VARS=(PATH=/bin)
	run -0 show_typical launch
	[ "$(grep -c '^    mask     /mnt/[0-9]* if there$' <<<"$output")" -eq 5000 ]
	run -0 show_typical json
	[ "$(jq '[.mounts[] | select(.target | startswith("/mnt/"))] | length' <<<"$output")" -eq 5001 ]
}

@test "plan: the schema refuses what is not as it says" {
	local wrong

	schema_python || skip "needs python3-jsonschema"
	typical
	show_typical json >plan.json
	schema_fits plan "$(<plan.json)"
	for wrong in '{}' '.version = 2' 'del(.mounts)' 'del(.command.arguments)' '.mounts[0].step = "other"' \
		'.network.kind = "host"' '.environment[0] = {}' '.privileges.no_new_privs = false' \
		'.privileges.capabilities = ["cap_chown"]' '.nested = true | del(.command)' 'del(.first)'; do
		run ! schema_fits plan "$(jq "$wrong" plan.json)"
	done
	schema_fits plan '{"version": 1, "nested": true, "agent": "claude", "profile": "claude",
		"command": {"program": "/x", "arguments": ["claude"]}}'
}

@test "run: options come before the agent, and what follows it is the agent's" {
	run -0 "$SHOW" run claude --print-plan --json -- -x ''
	[ "$output" = 'claude: [claude] [--print-plan] [--json] [--] [-x] []' ]
	run -0 "$SHOW" run --json --workspace /w --no-forge --print-plan claude
	[ "$output" = 'print-plan json no-forge workspace=/w claude: [claude]' ]
	run -0 "$SHOW" run --workspace=a=b --print-plan -- --odd --json
	[ "$output" = 'print-plan workspace=a=b --odd: [--odd] [--json]' ]
	run -0 "$SHOW" run --workspace --no-forge claude # a folder may be called so
	[ "$output" = 'workspace=--no-forge claude: [claude]' ]
	run -0 "$SHOW" run -- -- claude
	[ "$output" = '--: [--] [claude]' ]
}

@test "run: what is not understood is refused, with what is wrong" {
	local args

	while IFS='|' read -r args message; do
		# shellcheck disable=SC2086 # words
		run -1 --separate-stderr "$SHOW" run $args
		[[ -z $output && $stderr == "show-launch: $message"* ]]
	done <<-'END'
		|which agent? its name is missing
		--|which agent?
		--print-plan|which agent?
		--json claude|--json is for --print-plan
		--print-plan --json --print-plan claude|--print-plan is given twice
		--no-forge --no-forge claude|--no-forge is given twice
		--workspace /a --workspace=/b claude|--workspace is given twice
		--workspace= claude|--workspace needs a value
		--workspace|--workspace needs a value
		--no-forge=no claude|unknown option `--no-forge=no`
		--print claude|unknown option `--print`
		--egress none --egress=none claude|--egress is given twice
		--local-port claude|which agent?
		--pass-env= claude|--pass-env needs a value
		- claude|unknown option `-`
	END
	run -1 "$SHOW" run ''
	[[ $output == *"which agent?"* ]]
	run -1 "$SHOW" run --workspace '' claude
	[[ $output == *"needs a value"* ]]
	run -1 "$SHOW" run "--$(printf 'x%.0s' {1..100000})"
	[ "${#output}" -lt 512 ]
}

@test "run: ports and variables of one session are added as far as session-may lets them" {
	typical
	VARS+=(MINE=SECRET)
	run -0 show_typical json option=--local-port=8080 option=--local-port=8081 option=--callback-port=8091 option=--pass-env=MINE
	jq -e '.network.local_ports == [5432, 8080, 8081] and .network.callback_ports == [8090, 8091] and
		(.environment | any(.name == "MINE" and (has("value") | not)))' <<<"$output"
	while IFS='|' read -r option message; do
		run -1 --separate-stderr show_typical json "option=$option"
		[[ $stderr == "show-launch: $message"* ]] || {
			printf '%s: %s\n' "$option" "$stderr"
			return 1
		}
	done <<-'END'
		--local-port=0|--local-port: `0` is not a number from 1 to 65535
		--local-port=5432|--local-port: 5432 is named twice
		--local-port=8090|--local-port: 8090 is both a local-port and a callback-port
		--local-port=80 81|--local-port: `80 81` is more than one
		--callback-port=65536|--callback-port: `65536` is not a number
		--pass-env=LD_PRELOAD|--pass-env: `LD_PRELOAD` is never passed
		--pass-env=PATH|--pass-env: `PATH` is never passed
		--pass-env=A=B|--pass-env: `A=B` is not the name
	END
	echo 'session-may = pass-env' >>policy
	run -0 show_typical json option=--pass-env=MINE
	run -1 show_typical json option=--local-port=8080
	[[ $output == *"--local-port: the policy does not let a session add one"* ]]
	sed -i 's/^session-may.*/session-may = none/' policy
	run -1 show_typical json option=--pass-env=MINE
	[[ $output == *"lacks pass-env"* ]]
	run -0 "$SHOW" policy policy
	[[ $output == *$'\nsession-may = none'* ]]
}

@test "run: --egress narrows a launch, as far as its network lets it, and never widens it" {
	typical
	run -0 show_typical json option=--egress=none
	jq -e '.network.kind == "none" and .network.egress == "none"' <<<"$output"
	run -0 show_typical json option=--egress=internet
	jq -e '.network.kind == "namespace"' <<<"$output"
	run -1 show_typical json option=--egress=open
	[[ $output == *"--egress open: the policy gives internet"* ]]
	run -1 show_typical json option=--egress=allowlist
	[[ $output == *"--egress allowlist: the hook's rules are fixed"* ]]
	run -1 show_typical json option=--egress=some
	[[ $output == *'`some` is none of'* ]]
	sed -i 's/^network = .*/network = pasta/' manifest
	run -0 show_typical json option=--egress=allowlist
	jq -e '.network.kind == "pasta" and .network.egress == "allowlist"' <<<"$output"
	echo 'egress = none' >>policy
	run -1 show_typical json option=--egress=allowlist
	[[ $output == *"the policy gives none"* ]]
}

@test "plan: an engine mount is masked, whatever its name" {
	printf 'mount = /with\\040space\\012and\\134more\n' >>manifest
	run -0 show plan
	order 'mask     /with space\012and\134more if there'
}

@test "plan: allow-mount brings a mount back, read-only, and no other" {
	printf 'mount = /data\n' >>manifest
	echo 'allow-mount = /data' >policy
	run -0 show plan
	order 'mask     /mnt/kube if there' 'bind     /data if there'
	lacks 'mask     /data'
}

@test "plan: of a mount that holds the workspace only the workspace comes back" {
	printf 'mount = /workspaces\n' >>manifest
	run -0 show plan
	order 'tmpfs    /workspaces mode 0755' 'bind-rw  /workspaces/p' 'seal     /workspaces if there'
}

@test "plan: a mount that holds the home is empty before the home is made" {
	printf 'mount = /home\n' >>manifest
	run -0 show plan
	order 'tmpfs    /home mode 0755' 'tmpfs    /home/vscode mode 0700' \
		'bind-rw  /home/vscode/.claude from /home/vscode/.local/state/oci-sandbox/claude/state'
	[ "$(grep -c 'mask     /home$\|tmpfs    /home mode' <<<"$output")" -eq 1 ]
}

@test "plan: an agent that was covered comes back where it was" {
	run -0 show plan agent=/run/oci-sandbox/agents/claude agent-at=/home/vscode/.local/share/pnpm/claude
	order 'tmpfs    /home/vscode mode 0700' 'bind     /home/vscode/.local/share/pnpm/claude from /run/oci-sandbox/agents/claude'
}

@test "plan: no-forge keeps the forges' logins out" {
	run -0 show plan
	order 'bind     /home/vscode/.config/gh if there'
	echo no-forge >policy
	run -0 show plan
	lacks '.config/g'
}

@test "plan: a home of passwd that holds the system's programs stays" {
	run -0 show plan passwd-home=/usr/sbin
	lacks 'tmpfs    /usr'
}

@test "plan: a home that the environment names doesn't uncover the one of passwd" {
	run -0 show plan home=/opt/elsewhere passwd-home=/data/home
	order 'tmpfs    /data/home mode 0700' 'tmpfs    /opt/elsewhere mode 0700'
}

@test "plan: every folder above a protected path becomes a mount, once" {
	echo 'protect = a/b/c a/b/d' >policy
	run -0 show plan
	order 'pin      /workspaces/p/a if there' 'pin      /workspaces/p/a/b if there' \
		'ro       /workspaces/p/a/b/c if there' 'ro       /workspaces/p/a/b/d if there'
	[ "$(grep -c '^pin' <<<"$output")" -eq 2 ]
}

@test "plan: mask is after everything that comes back" {
	echo 'mask = /workspaces/p/secret' >policy
	run -0 show plan
	order 'bind-rw  /workspaces/p' 'mask     /workspaces/p/secret if there'
}

@test "plan: without an overlay of its own .local/share is read-only, without one at all the agent's" {
	run -0 show plan share-store=
	order 'overlay  /home/vscode/.local/share changes in '
	LAUNCH=("${LAUNCH[@]/#share-store=*/cwd=/workspaces/p}")
	run -0 show plan
	order 'bind     /home/vscode/.local/share if there' 'mask     /home/vscode/.local/share/keyrings if there'
	LAUNCH=("${LAUNCH[@]/#share=*/share-store=/s/claude/share}")
	run -0 show plan
	order 'bind-rw  /home/vscode/.local/share from /s/claude/share/upper'
}

@test "plan: share-write gives what is shared as it is, and no store in its place" {
	run -0 show plan shared=/home/vscode/.cache shared=/data/share,/home/vscode/.local/share \
		shared=/home/vscode/.agents/skills
	order 'bind-rw  /home/vscode/.local/share from /data/share' 'bind-rw  /home/vscode/.cache' \
		'mask     /home/vscode/.local/share/keyrings if there'
	lacks '/cache$|/skills from|overlay'
}

@test "plan: state stores outside of the home are hidden, but for the agent's own" {
	run -0 show plan state=/var/lib/stores
	order 'mask     /var/lib/stores if there' 'bind-rw  /home/vscode/.claude from /var/lib/stores/claude/state'
	run -0 show plan
	lacks 'mask     /home/vscode/.local/state'
}

@test "plan: a device that is given is in /dev before that is sealed" {
	run -0 show plan device=/dev/ttyUSB0 device=/dev/ttyUSB0,/dev/serial/by-id/x
	order 'tmpfs    /dev mode 0755' 'device   /dev/ttyUSB0 if there' \
		'device   /dev/serial/by-id/x from /dev/ttyUSB0 if there' 'seal     /dev'
}

@test "plan: allow-write is after what hides, and before the workspace and what is masked in it" {
	printf 'mount = %s\n' /data /srv >>manifest
	echo 'mask = /srv/secret' >policy
	run -0 show plan writable=/data/a/b writable=/srv writable=/data
	order 'tmpfs    /home/vscode mode 0700' 'bind-rw  /srv' 'bind-rw  /data' 'bind-rw  /data/a/b' \
		'bind-rw  /workspaces/p' 'mask     /srv/secret if there'
	[ "$(grep -c '^bind-rw  /srv$' <<<"$output")" -eq 1 ]
}

@test "plan: allow-write leads through a mask, and does not lift it, nor one below" {
	printf 'mask = %s\n' /data /data/a/b/c >policy
	run -0 show plan writable=/data/a/b writable=/data/a/b/c/d
	order 'tmpfs    /data mode 0755' 'bind-rw  /data/a/b' 'tmpfs    /data/a/b/c mode 0755' \
		'bind-rw  /data/a/b/c/d' 'seal     /data if there' 'seal     /data/a/b/c if there'
}

@test "plan: of a hidden mount only what allow-write names comes back" {
	printf 'mount = /data\n' >>manifest
	run -0 show plan writable=/data/a
	order 'tmpfs    /data mode 0755' 'bind-rw  /data/a' 'seal     /data if there'
}

@test "plan: allow-write of a folder above the workspace keeps what is between in its place" {
	run -0 show plan writable=/w workspace=/w/a/b/p cwd=/w/a/b/p git-common=/w/m/.git git-dir=/w/m/.git/worktrees/p
	order 'bind-rw  /w' 'pin      /w/a if there' 'pin      /w/a/b if there' \
		'pin      /w/m if there' 'bind-rw  /w/a/b/p' 'bind-rw  /w/m/.git'
	echo 'mask = /w' >policy
	run -1 show plan writable=/w workspace=/w/p
	[[ $output == *"holds the workspace, and is masked"* ]]
}

@test "plan: what a symlink of the home leads to has both names" {
	run -0 show plan writable=/cache/m2,/home/vscode/.m2
	order 'bind-rw  /cache/m2' 'bind-rw  /home/vscode/.m2 from /cache/m2'
}

@test "plan: a worktree's repository comes along, and what git obeys in it is read-only" {
	run -0 show plan git-common=/workspaces/main/.git git-dir=/workspaces/main/.git/worktrees/p
	order 'bind-rw  /workspaces/p' 'bind-rw  /workspaces/main/.git' \
		'ro       /workspaces/main/.git/hooks if there' \
		'ro       /workspaces/main/.git/config if there' \
		'pin      /workspaces/main/.git/worktrees/p if there' \
		'ro       /workspaces/main/.git/worktrees/p/commondir if there'
}

@test "settings: what can name no command and hold no token may be imported" {
	local text

	for text in '{}' '{"model": "opus", "permissions": {"allow": ["Bash(env:*)"], "n": -1.5e3}}' \
		'{"mcpServers": {}, "hooks": [ ], "env":null}' '{"a": "hooks", "b": "say \"env\": {1}"}'; do
		run -0 "$SHOW" settings <<<"$text"
	done
}

@test "settings: what can, or is no plain JSON, stays outside" {
	local text

	for text in '{"hooks": {"Stop": []}}' '{"a": [{"env" : {"T": "x"}}]}' '{"apiKeyHelper": "/x"}' \
		'{"p": {"mcpServers":{"x":{}}}}' '{"ho\u006fks": {"Stop": []}}' "{'hooks': 1}" \
		$'{\n// it\'s "\n"hooks": {"Stop": []}}' '/* " */ {"hooks": 1}' 'hooks = 1' '{"a' '{"a\'; do
		run -1 "$SHOW" settings <<<"$text"
	done
	run -1 "$SHOW" settings <<<'{"env": {"TOKEN": "x"}}'
	[[ $output == *" env" ]]
}

@test "gitconfig: a name with quotes and escapes stays a name" {
	run -0 "$SHOW" gitconfig $'A "B" \\ C\n[core]\n\tfsmonitor = x' a@b
	echo "$output" >gitconfig
	run -0 git config -f gitconfig user.name
	[ "$output" = $'A "B" \\ C\n[core]\nfsmonitor = x' ]
	run -1 git config -f gitconfig core.fsmonitor
	run -0 git config -f gitconfig commit.gpgsign
	[ "$output" = false ]
}

@test "gitconfig: commits and annotated tags are signed with the key that is named, others not" {
	SIGNS_WITH=/usr/bin/ssh-keygen "$SHOW" gitconfig A a@b >gitconfig
	run -0 git config -f gitconfig --get-regexp '^(gpg|commit|tag|user.sign)'
	[[ $output == $'gpg.format ssh\ngpg.ssh.program /usr/bin/ssh-keygen\nuser.signingkey /key\ncommit.gpgsign true\ntag.forcesignannotated true' ]]
	run -0 git config -f gitconfig user.name
	[[ $output == A ]]
}

@test "gitconfig: LFS is there if the developer has it" {
	"$SHOW" gitconfig A a@b >gitconfig
	run -1 git config -f gitconfig --get-regexp '^filter'
	LFS=yes "$SHOW" gitconfig A a@b >gitconfig
	run -0 git config -f gitconfig --get-regexp '^filter'
	has_lines 'filter.lfs.clean git-lfs clean -- %f' 'filter.lfs.process git-lfs filter-process' \
		'filter.lfs.smudge git-lfs smudge -- %f' 'filter.lfs.required true'
}

@test "plan: of the signing key a sandbox has two files, read-only" {
	run -0 show plan signing=/home/vscode/.local/state/oci-sandbox/signing
	order 'dir      /run/oci-sandbox/session/signing mode 0755' \
		'bind     /run/oci-sandbox/session/signing/key from /home/vscode/.local/state/oci-sandbox/signing/key' \
		'bind     /run/oci-sandbox/session/signing/key.pub from /home/vscode/.local/state/oci-sandbox/signing/key.pub' \
		'seal     /run/oci-sandbox/session'
	run -0 show env signing=/home/vscode/.local/state/oci-sandbox/signing
	has_lines 'GIT_CONFIG_COUNT=3' 'GIT_CONFIG_KEY_2=user.signingKey' \
		'GIT_CONFIG_VALUE_2=/run/oci-sandbox/session/signing/key'
}

@test "gitconfig: what would go by ssh goes by https, with the forge's own login" {
	local host

	"$SHOW" gitconfig A a@b >gitconfig
	for host in github.com gitlab.com git.example.com ghe.example.com; do
		run -0 env HOME=/none GIT_CONFIG_GLOBAL="$PWD/gitconfig" GIT_CONFIG_SYSTEM=/dev/null \
			git ls-remote --get-url "git@$host:a/b.git"
		[[ $output == "https://$host/a/b.git" ]]
		run -0 env HOME=/none GIT_CONFIG_GLOBAL="$PWD/gitconfig" GIT_CONFIG_SYSTEM=/dev/null \
			git ls-remote --get-url "ssh://git@$host/a/b.git"
		[[ $output == "https://$host/a/b.git" ]]
	done
	run -0 git config -f gitconfig --get-urlmatch credential.helper https://git.example.com/a
	[[ $output == '!glab auth git-credential' ]]
	run -0 git config -f gitconfig --get-urlmatch credential.helper https://ghe.example.com/a
	[[ $output == '!gh auth git-credential' ]]
	run -1 git config -f gitconfig --get-urlmatch credential.helper https://example.com/a
	NO_FORGE=1 "$SHOW" gitconfig A a@b >gitconfig
	run -1 grep -E 'insteadOf|helper' gitconfig
}

@test "environment: what is not named stays out, and nobody forges what we set" {
	run -0 env -i GH_TOKEN=t AWS_SECRET_ACCESS_KEY=t SSH_AUTH_SOCK=/s NODE_OPTIONS=x GIT_SSH=x \
		BASH_ENV=/x HOME=/evil USER=evil PWD=/evil IS_SANDBOX=no CLAUDE_CONFIG_DIR=/evil \
		DISABLE_UPDATES=0 TERM=xterm LC_ALL=C.UTF-8 TZ=UTC ANTHROPIC_API_KEY=k \
		PATH=/usr/bin:/bin "$SHOW" env policy profile manifest "${LAUNCH[@]}"
	[ "$(sort <<<"$output")" = 'ANTHROPIC_API_KEY=k
CLAUDE_CODE_DISABLE_AGENT_VIEW=1
CLAUDE_CONFIG_DIR=/home/vscode/.claude
DISABLE_AUTOUPDATER=1
DISABLE_UPDATES=1
GIT_CONFIG_COUNT=3
GIT_CONFIG_GLOBAL=/run/oci-sandbox/session/gitconfig
GIT_CONFIG_KEY_0=commit.gpgSign
GIT_CONFIG_KEY_1=tag.gpgSign
GIT_CONFIG_KEY_2=tag.forceSignAnnotated
GIT_CONFIG_SYSTEM=/dev/null
GIT_CONFIG_VALUE_0=false
GIT_CONFIG_VALUE_1=false
GIT_CONFIG_VALUE_2=false
HOME=/home/vscode
IS_SANDBOX=1
LC_ALL=C.UTF-8
LOGNAME=vscode
PATH=/usr/bin:/bin
PWD=/workspaces/p
SHELL=/bin/sh
TERM=xterm
TZ=UTC
USER=vscode' ]
}

@test "environment: a login that hides behind the name of a toolchain stays out" {
	run -0 env -i UV_CACHE_DIR=/c UV_PUBLISH_TOKEN=t UV_INDEX_X_PASSWORD=t UV_INDEX_X_USERNAME=u \
		"$SHOW" env policy profile manifest "${LAUNCH[@]}"
	[[ $output == *UV_CACHE_DIR=/c* ]]
	lacks 'TOKEN|PASSWORD|USERNAME'
}

@test "environment: pass-env adds a variable" {
	echo 'pass-env = MINE' >policy
	run -0 env -i MINE=1 OTHER=1 "$SHOW" env policy profile manifest "${LAUNCH[@]}"
	[[ $output == *MINE=1* ]]
	lacks OTHER
}

@test "environment: of PATH, what the user can write goes last, and what is relative goes" {
	run -0 env -i PATH=/workspaces/p/bin:.:/usr/bin::/home/vscode/.cargo/bin:bin:/bin:/usr/bin:/tmp/x \
		"$SHOW" env policy profile manifest "${LAUNCH[@]}"
	[[ $'\n'$output$'\n' == *$'\nPATH=/usr/bin:/bin:/workspaces/p/bin:/home/vscode/.cargo/bin:/tmp/x\n'* ]]
}

@test "id map: container root and agent-id are swapped, the others keep their number" {
	run -0 "$SHOW" idmap 1000 <<<'0 0 4294967295'
	[ "$output" = $'1 1 999\n1001 1001 4294966294\n1000 0 1\n0 1000 1' ]
}

@test "id map: no line crosses two extents of the container's own" {
	run -0 "$SHOW" idmap 1000 <<<$'         0       1001          1\n         1     100000      65536'
	[ "$output" = $'1 1 999\n1001 1001 64536\n1000 0 1\n0 1000 1' ]
}

@test "id map: where the container has no agent-id, root takes its place alone" {
	run -0 "$SHOW" idmap 1000 <<<'0 1001 1'
	[ "$output" = '1000 0 1' ]
}

@test "id map: a container without root is refused" {
	run -1 "$SHOW" idmap 1000 <<<'5 5 10'
	[[ $output == *"can't be carried over"* ]]
}

@test "names: passwd and group follow the swap, and nothing else changes" {
	run -0 "$SHOW" names 1000 <<<$'root:x:0:0:0:/root:/bin/0\ndev:x:1000:1000::/h:\nbad line\nx:y:100:10000'
	[ "$output" = $'root:x:1000:1000:0:/root:/bin/0\ndev:x:0:0::/h:\nbad line\nx:y:100:10000' ]
}

@test "workspace: projects are taken" {
	for path in /workspace /workspaces/p /work /home/dev/p /home/dev/a/.b /usr/src/app \
		/usr/local/src/x /opt/app /srv/www /tmp/p /var/www/html; do
		run -0 "$SHOW" workspace "$path" /home/dev
	done
}

@test "workspace: the system, the home and its hidden folders are refused" {
	for path in / /home /home/dev /home/dev/.ssh /home/dev/.config/x /etc /etc/ssh /usr /usr/lib \
		/usr/src /usr/local/bin /bin /run /run/user/0 /proc/1 /sys /dev/shm /var /var/lib/x \
		/tmp /root /opt; do
		run -1 "$SHOW" workspace "$path" /home/dev
		[[ $output == *"can't be the workspace"* ]]
	done
}

# ---- resolv.conf ----

@test "resolv.conf: the relay asks its nameservers, and the agent keeps the other lines" {
	run -0 "$SHOW" resolv <<-'END'
		# made by an engine
		search a.example b.example
		nameserver 10.89.0.1
		nameserver	2001:db8::53   # the second
		options edns0 ndots:2
		nameserver 127.0.0.11
	END
	[[ $output == 'ask 10.89.0.1 port 53
ask 2001:db8::53 port 53
ask 127.0.0.11 port 53
# made by an engine
search a.example b.example
options edns0 ndots:2' ]]
}

@test "resolv.conf: without a nameserver that is one, the container's own is asked" {
	for text in '' 'nameserver' 'nameserver x' 'nameservers 192.0.2.1' 'nameserver 192.0.2.1.1' \
		"nameserver $(printf '1%.0s' {1..300})"; do
		run -0 "$SHOW" resolv <<<"$text"
		[[ ${lines[0]} == 'ask 127.0.0.1 port 53' && $output != *$'\n'ask* ]]
	done
}

# ---- without the hook ----

@test "plan: without the hook the sandbox has the hook's folder all the same, and read-only" {
	run -0 show plan hooked=0
	order 'dir      /run/oci-sandbox mode 0755' 'tmpfs    /run/oci-sandbox mode 0755' \
		'file     /run/oci-sandbox/policy.conf mode 0644' 'file     /run/oci-sandbox/container mode 0644' \
		'dir      /run/oci-sandbox/session mode 0755' 'seal     /run/oci-sandbox' \
		'tmpfs    /run/oci-sandbox/session mode 0755' 'seal     /run/oci-sandbox/session'
	lacks 'bind     /run/oci-sandbox '
}

@test "mountinfo: mount points, each once, with what the kernel escapes" {
	run -0 "$SHOW" mountinfo <<-'END'
		606 505 0:52 / / rw,relatime - overlay overlay rw
		607 606 0:55 / /proc rw - proc proc rw
		608 606 8:1 /home/me/my\040kube /mnt/my\040kube\012\134 ro shared:1 master:2 - ext4 /dev/sda1 rw
		609 606 8:1 /x /mnt/my\040kube\012\134 ro - ext4 /dev/sda1 rw
	END
	[[ $output == $'/\n/proc\n/mnt/my kube\n\\' ]]
}

@test "mountinfo: what is none is an error, and no list" {
	local text

	for text in 'x' '1 2 3 4' '1 2 3 / relative rw' '1 2 3 / /bad\9 rw' '1 2 3 / /bad\000 rw' \
		'1 2 3 / /bad\04'; do
		run -1 "$SHOW" mountinfo <<<"$text"
		[[ $output == "show-launch: "* && ${#lines[@]} -eq 1 ]]
	done
}

@test "routes: a default route is one that is up, leads out, and has no bits" {
	local head4=$'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n'
	local on_link=$'eth0\t0000580A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n'
	local default4=$'eth0\t00000000\t0100580A\t0003\t0\t0\t0\t00000000\t0\t0\t0\n'
	local zero=00000000000000000000000000000000
	local default6="$zero 00 $zero 00 fe800000000000000000000000000001 00000400 00000002 00000000 00000003     eth0"
	local unreachable="$zero 00 $zero 00 $zero ffffffff 00000001 00000000 00200200       lo"

	run -1 "$SHOW" routes '' ''
	run -1 "$SHOW" routes "$head4" ''
	run -1 "$SHOW" routes "$head4$on_link" "$unreachable"
	run -0 "$SHOW" routes "$head4$on_link$default4" ''
	run -0 "$SHOW" routes "$head4$on_link" "$unreachable"$'\n'"$default6"
	run -1 "$SHOW" routes "$head4${default4/0003/0002}" "${default6/00 $zero/40 $zero}"
	run -1 "$SHOW" routes "${default4/0003/0203}" ''
}

@test "policy: what a container is told of it reads back as the same" {
	cat >policy <<-'END'
		match = always
		agents = claude
		local-port = 5432 8080
		local-model-port = 11434
		callback-port = 8090
		allow-ip = 192.0.2.1 tcp/443
		allow-write = /a/b c
		allow-write = ~/.m2//x/
		allow-device = /dev//fuse
		gpu = yes
		share-write = yes
		no-forge
	END
	run -0 "$SHOW" policy policy
	[[ $output == *$'\nlocal-port = 5432 8080\nlocal-model-port = 11434\ncallback-port = 8090\n'* ]]
	[[ $output == *$'\nallow-write = /a/b c\nallow-write = ~/.m2/x\nshare-write = yes\nallow-device = /dev/fuse\ngpu = yes\n'* ]]
	echo "$output" >printed
	run -0 "$SHOW" policy printed
	[[ $output == "$(<printed)" ]]
	echo 'local-model-port = none' >policy
	run -0 "$SHOW" policy policy
	[[ $output == *$'\nlocal-model-port = none\n'* ]]
	: >policy
	run -0 "$SHOW" policy policy
	[[ $output != *local-model-port* ]]
}
