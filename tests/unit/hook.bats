#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0

bats_require_minimum_version 1.5.0

setup() {
	# shellcheck source=tests/lib/hook.bash
	. "$SRCDIR/tests/lib/hook.bash"
	hook_setup "$BATS_TEST_TMPDIR"
	mkdir -p "$HOOK_ROOTFS"/{bin,etc,run} "$HOOK_ROOTFS"/usr/{bin,libexec,local/bin}
	config
}

# config [FILTER]: a config.json that asks to be confined, changed by a filter of jq
config() {
	jq -n '{
		ociVersion: "1.0.2",
		root: {path: "rootfs"},
		process: {env: ["PATH=/usr/local/bin:/usr/bin:/bin", "OCI_SANDBOX=1"]},
		mounts: [],
		linux: {namespaces: [{type: "mount"}, {type: "network"}]}
	}' | jq "${1:-.}" >"$HOOK_BUNDLE/config.json"
}

hook() {
	"$HOOK" --config "$HOOK_CONFIG" --libexec "$HOOK_LIBEXEC" "$@"
}

create() {
	hook_state "${1:-$$}" "${2:-$HOOK_BUNDLE}" | hook createRuntime
}

# refuses MESSAGE: --check does, with this message, and has changed nothing
refuses() {
	local before

	before=$(hook_tree "$BATS_TEST_TMPDIR")
	run -2 hook --check --bundle "$HOOK_BUNDLE"
	[[ ${lines[-1]} == "refused: "* && ${lines[-1]} == *"$1"* ]]
	[[ $(hook_tree "$BATS_TEST_TMPDIR") == "$before" ]]
}

# plans LINE...: --check prints each of these lines, and has changed nothing
plans() {
	local before line

	before=$(hook_tree "$BATS_TEST_TMPDIR")
	run -0 hook --check --bundle "$HOOK_BUNDLE"
	for line in "$@"; do
		grep -qxF -- "$line" <<<"$output"
	done
	[[ $(hook_tree "$BATS_TEST_TMPDIR") == "$before" ]]
}

# agent PATH: an executable in the root file system
agent() {
	mkdir -p "$(dirname "$HOOK_ROOTFS$1")"
	printf '#!/bin/sh\n' >"$HOOK_ROOTFS$1"
	chmod 755 "$HOOK_ROOTFS$1"
}

# ---- command line ----

@test "hook: says what its arguments are" {
	run -0 --separate-stderr "$HOOK" --help
	[[ $output == "usage: oci-sandbox-hook "* && $stderr == "" ]]
}

@test "hook: says its version" {
	run -0 "$HOOK" --version
	[[ $output =~ ^oci-sandbox-hook\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "hook: refuses arguments that it does not know" {
	local args

	for args in "" "nonsense" "createRuntime prestart" "--config" "--config relative createRuntime" \
		"--bundle" "createRuntime --frobnicate"; do
		# shellcheck disable=SC2086
		run -64 --separate-stderr "$HOOK" $args </dev/null
		[[ $output == "" && $stderr == "usage: oci-sandbox-hook "* ]]
	done
}

# ---- state ----

@test "state: bad input is refused, in one line" {
	local text want

	while IFS= read -r text && IFS= read -r want; do
		run -65 --separate-stderr hook createRuntime < <(printf '%s' "$text")
		[[ $output == "" && ${#stderr_lines[@]} == 1 ]]
		[[ $stderr == "oci-sandbox-hook: container state: "*"$want"* ]]
	done <<-'END'
		{"id": "x",
		parse JSON
		[]
		not an object
		hello
		parse JSON
		{"ociVersion": "1", "id": "t", "status": "creating"}
		bundle: missing
		{"ociVersion": "1", "id": "t", "status": "creating", "bundle": "rel"}
		isn't absolute
		{"ociVersion": "1", "id": "t", "id": "u", "status": "creating", "bundle": "/b"}
		id: given twice
		{"ociVersion": "1", "id": 1, "status": "creating", "bundle": "/b"}
		id: not a string
		{"ociVersion": "1", "id": "\u0000", "status": "creating", "bundle": "/b"}
		NUL in a JSON string
	END
}

@test "state: an empty one is refused" {
	run -65 --separate-stderr hook createRuntime </dev/null
	[[ $stderr == "oci-sandbox-hook: container state: parse JSON: "* ]]
}

@test "state: more than 1 MiB is refused" {
	run -65 --separate-stderr hook createRuntime < <(head -c 2097152 /dev/zero | tr '\0' ' ')
	[[ $stderr == "oci-sandbox-hook: container state: longer than 1048576 bytes" ]]
}

@test "state: deep nesting is refused, and not by a crash" {
	run -65 --separate-stderr hook createRuntime < <(head -c 500000 /dev/zero | tr '\0' '[')
	[[ $stderr == "oci-sandbox-hook: container state: JSON nested too deep" ]]
}

@test "state: what is no process ID is refused" {
	local pid

	for pid in -1 1.0 1e30 '"1"' null 2147483648; do
		run -65 --separate-stderr create "$pid"
		[[ $stderr == "oci-sandbox-hook: container state: pid: not a process ID" ]]
	done
}

@test "state: a container that is ours needs a process" {
	run -69 --separate-stderr create 0
	[[ $stderr == "oci-sandbox-hook: container state: pid: the runtime gave none" ]]
}

@test "state: a process that is not there is an error" {
	run -69 --separate-stderr create 2147483647
	[[ $stderr == "oci-sandbox-hook: open process 2147483647: "* ]]
}

@test "state: what shares the hook's namespaces is no container" {
	run -69 --separate-stderr create $$
	[[ $stderr == "oci-sandbox-hook: the container has no mount namespace of its own" ]]
}

@test "state: a bundle without config.json is explained" {
	run -65 --separate-stderr create $$ /
	[[ $stderr == *"has no config.json"*"crun up to 1.29"* ]]
}

# ---- config.json ----

@test "config.json: bad input is refused" {
	local text want

	while IFS= read -r text && IFS= read -r want; do
		printf '%s' "$text" >"$HOOK_BUNDLE/config.json"
		run -65 --separate-stderr create
		[[ ${#stderr_lines[@]} == 1 ]]
		[[ $stderr == "oci-sandbox-hook: config.json: "*"$want"* ]]
	done <<-'END'
		{
		parse JSON
		[]
		not an object
		{"process": {}}
		root: missing
		{"root": {}, "process": {}}
		root: path: missing
		{"root": {"path": 1}, "process": {}}
		root: path: not a string
		{"root": {"path": ""}, "process": {}}
		root: path: empty
		{"root": {"path": "r"}}
		process: missing
		{"root": {"path": "r"}, "root": {"path": "r"}, "process": {}}
		root: given twice
		{"root": {"path": "r", "path": "s"}, "process": {}}
		root: path: given twice
		{"root": {"path": "r", "readonly": 1}, "process": {}}
		readonly: neither true nor false
		{"root": {"path": "r"}, "process": {"env": {}}}
		process: env: not an array
		{"root": {"path": "r"}, "process": {"env": [1]}}
		process: env: element 0: not a string
		{"root": {"path": "r"}, "process": {}, "mounts": [{}]}
		mounts: element 0: destination: missing
		{"root": {"path": "r"}, "process": {}, "mounts": 1}
		mounts: not an array
		{"root": {"path": "r"}, "process": {}, "annotations": []}
		annotations: not an object
		{"root": {"path": "r"}, "process": {}, "annotations": {"io.oci-sandbox.enable": true}}
		io.oci-sandbox.enable: not a string
		{"root": {"path": "r"}, "process": {}, "annotations": {"io.oci-sandbox.enable": "false", "io.oci-sandbox.enable": "true"}}
		io.oci-sandbox.enable: given twice
		{"root": {"path": "r"}, "process": {}, "linux": {"uidMappings": [{"containerID": -1, "hostID": 0, "size": 1}]}}
		uidMappings: element 0: containerID: not an id
	END
}

@test "config.json: an empty one is refused" {
	: >"$HOOK_BUNDLE/config.json"
	refuses "config.json: parse JSON: "
}

@test "config.json: deep nesting is refused, and not by a crash" {
	head -c 500000 /dev/zero | tr '\0' '[' >"$HOOK_BUNDLE/config.json"
	refuses "config.json: JSON nested too deep"
}

@test "config.json: a large one takes seconds, not minutes" {
	jq -n '{
		root: {path: "rootfs"},
		process: {env: ["PATH=/usr/bin", "OCI_SANDBOX=1"]},
		mounts: [range(50000) | {destination: "/m/\(.)", type: "bind", source: "/s", options: ["rbind", "ro"]}],
		annotations: ([range(20000) | {key: "key.\(.)", value: ("x" * 500)}] | from_entries),
		linux: {namespaces: [{type: "mount"}, {type: "network"}]}
	}' >"$HOOK_BUNDLE/config.json"
	(($(stat -c %s "$HOOK_BUNDLE/config.json") > 10000000))
	run -0 timeout 60 "$HOOK" --config "$HOOK_CONFIG" --libexec "$HOOK_LIBEXEC" --check --bundle "$HOOK_BUNDLE"
	[[ $(grep -c "^engine's mount: /m/" <<<"$output") == 50000 ]]
}

# ---- which containers are ours ----

@test "decide: a container that does not ask is not ours" {
	config '.process.env = ["OCI_SANDBOX=0", "XOCI_SANDBOX=1"] | .annotations = {"io.oci-sandbox.enable": "false"}'
	run -0 --separate-stderr create
	[[ $output == "" && $stderr == "" ]]
	run -0 hook --check --bundle "$HOOK_BUNDLE"
	[[ ${#lines[@]} == 1 && $output == "not ours: "* ]]
}

@test "decide: annotation, environment and policy make a container ours" {
	config '.process.env = [] | .annotations = {"io.oci-sandbox.enable": "true"}'
	plans "ours: annotation io.oci-sandbox.enable=true"
	config '.process.env = ["OCI_SANDBOX=0", "OCI_SANDBOX=1", "OCI_SANDBOX=0"]'
	plans "ours: OCI_SANDBOX=1 in process.env"
	config '.process.env = []'
	hook_policy 'match = always' 'agents = claude'
	plans "ours: match = always in the policy"
}

@test "decide: nothing in the container takes it out when the policy says always" {
	config '.process.env = ["OCI_SANDBOX=0"] | .annotations = {"io.oci-sandbox.enable": "false"}'
	hook_policy 'match = always' 'agents = claude'
	plans "ours: match = always in the policy"
}

@test "decide: an annotation that is neither true nor false is refused" {
	config '.process.env = [] | .annotations = {"io.oci-sandbox.enable": "yes"}'
	refuses "annotation io.oci-sandbox.enable: \`yes\` is neither true nor false"
}

@test "decide: a message stays one line, whatever it quotes" {
	config '.process.env = [] | .annotations = {"io.oci-sandbox.enable": "a\nb\u001b[2J"}'
	refuses "annotation io.oci-sandbox.enable: \`a?b?[2J\` is neither true nor false"
	run -65 --separate-stderr create
	[[ ${#stderr_lines[@]} == 1 && $stderr == *"a?b?[2J"* ]]
}

# named NAME LINE...: a policy that containers may ask for by its name
named() {
	mkdir -p "$HOOK_CONFIG/policies"
	chmod 755 "$HOOK_CONFIG/policies"
	printf '%s\n' "${@:2}" >"$HOOK_CONFIG/policies/$1.conf"
	chmod 644 "$HOOK_CONFIG/policies/$1.conf"
}

@test "decide: an annotation chooses a policy that may be chosen, and no other" {
	named strict 'selectable = yes' 'agents = claude' 'deny-ip = 198.51.100.0/24'
	config '.annotations = {"io.oci-sandbox.policy": "strict"}'
	plans "refuse deny-ip: 198.51.100.0/24"
	named strict 'agents = claude'
	refuses "annotation io.oci-sandbox.policy: policy \`strict\`: $HOOK_CONFIG/policies/strict.conf does not say \`selectable = yes\`"
	named strict 'selectable = yes' 'broken'
	refuses "policies/strict.conf:2: unknown key"
	named strict 'selectable = yes'
	chmod g+w "$HOOK_CONFIG/policies/strict.conf"
	refuses "can be written by others"
	config '.annotations = {"io.oci-sandbox.policy": "other"}'
	refuses "policy \`other\`: open $HOOK_CONFIG/policies/other.conf: No such file"
	for name in '' ../policy / a/b . A 'a b' $'a\nb' 'x.conf'; do
		config ".annotations = {\"io.oci-sandbox.policy\": $(jq -n --arg n "$name" '$n')}"
		refuses "annotation io.oci-sandbox.policy: policy: \`"
	done
}

@test "decide: a container that is not ours chooses nothing" {
	config '.process.env = [] | .annotations = {"io.oci-sandbox.policy": "x"}'
	run -0 hook --check --bundle "$HOOK_BUNDLE"
	[[ $output == "not ours: "* ]]
}

@test "decide: match = devcontainer means those that ask, and what looks like one" {
	local like

	hook_policy 'agents = claude' 'match = devcontainer'
	plans "ours: OCI_SANDBOX=1 in process.env"
	for like in '.mounts = [{destination: "/workspaces/p", type: "bind", source: "/"}]' \
		'.mounts = [{destination: "/workspaces", type: "bind", source: "/"}]' \
		'.mounts = [{destination: "/vscode", type: "bind", source: "/"}]' \
		'.annotations = {"devcontainer.local_folder": "/home/x/p"}' \
		'.process.args = ["/bin/sh", "-c", "echo Container started\ntrap \"exit 0\" 15\n"]'; do
		config ".process.env = [] | $like"
		run -0 hook --check --bundle "$HOOK_BUNDLE"
		[[ $output == "ours: match = devcontainer in the policy, and it "* ]]
	done
	for like in '.mounts = [{destination: "/workspacesx", type: "bind", source: "/"}]' \
		'.annotations = {"dev": "devcontainer."}' '.process.args = ["sh"]'; do
		config ".process.env = [] | $like"
		run -0 hook --check --bundle "$HOOK_BUNDLE"
		[[ $output == "not ours: "* ]]
	done
}

# ---- files of the host ----

@test "load: without a policy only containers that ask are stopped" {
	rm "$HOOK_CONFIG/policy.conf"
	refuses "asks to be confined (OCI_SANDBOX=1 in process.env), but there is no $HOOK_CONFIG/policy.conf"
	config '.process.env = []'
	run -0 create
}

@test "load: a policy that can't be trusted or understood stops every container" {
	config '.process.env = []'
	hook_policy 'nonsense = 1'
	refuses "policy.conf:1: unknown key \`nonsense\`"
	hook_policy 'agents = claude'
	chmod g+w "$HOOK_CONFIG/policy.conf"
	refuses "policy.conf can be written by others (chmod go-w "
	hook_policy 'agents = claude'
	chmod o+w "$HOOK_CONFIG"
	refuses "$HOOK_CONFIG can be written by others"
	chmod o-w "$HOOK_CONFIG"
	rm "$HOOK_CONFIG/policy.conf"
	mkfifo "$HOOK_CONFIG/policy.conf"
	refuses "policy.conf is not a regular file"
}

@test "load: profiles are as trusted as the policy" {
	chmod g+w "$HOOK_CONFIG/agents/claude.conf"
	refuses "profile \`claude\`: $HOOK_CONFIG/agents/claude.conf can be written by others"
	rm "$HOOK_CONFIG/agents/claude.conf"
	refuses "profile \`claude\`: open $HOOK_CONFIG/agents/claude.conf: No such file"
	hook_profile claude 'state = .claude'
	refuses "claude.conf: \`commands\` is missing"
}

@test "load: two profiles can't have one command" {
	hook_profile other 'commands = x claude' 'state = .other'
	hook_policy 'agents = claude other'
	refuses "profiles \`claude\` and \`other\` both have the command \`claude\`"
}

@test "load: the shim must be there, to run by all and to write by nobody" {
	chmod g+w "$HOOK_LIBEXEC/shim"
	refuses "shim can be written by others"
	chmod 700 "$HOOK_LIBEXEC/shim"
	refuses "shim can't be run by all"
	mv "$HOOK_LIBEXEC/shim" "$HOOK_LIBEXEC/x"
	refuses "open $HOOK_LIBEXEC/shim: No such file"
	ln -s x "$HOOK_LIBEXEC/shim"
	refuses "shim is not a regular file"
}

@test "load: so must be what people type" {
	chmod g+w "$HOOK_LIBEXEC/cli"
	refuses "cli can be written by others"
	rm "$HOOK_LIBEXEC/cli"
	refuses "open $HOOK_LIBEXEC/cli: No such file"
}

# ---- the plan ----

@test "plan: a container without agents gets the shim under their names" {
	plans "mount: the host's programs at /usr/libexec/oci-sandbox" \
		"mount: new tmpfs at /run/oci-sandbox" \
		"mount: shim as new /usr/local/bin/claude"
	[[ $output != *"agent: "* && $output != *"shim over"* ]]
}

@test "plan: an agent of the image is put aside and covered, wherever it is on PATH" {
	agent /bin/claude
	plans "mount: the agent at /run/oci-sandbox/agents/claude from /bin/claude" \
		"mount: shim over /bin/claude" \
		"mount: shim as new /usr/local/bin/claude" \
		"agent: claude is /run/oci-sandbox/agents/claude"
	[[ $output == *"mount: the agent at"*"mount: shim over"* ]] # in this order
}

@test "plan: of several copies the first is the agent, and all are covered" {
	agent /usr/bin/claude
	agent /bin/claude
	plans "mount: the agent at /run/oci-sandbox/agents/claude from /usr/bin/claude" \
		"mount: shim over /usr/bin/claude" "mount: shim over /bin/claude"
	[[ $output != *"from /bin/claude"* ]]
}

@test "plan: a symlink is covered itself, and the agent keeps its real path" {
	agent /usr/lib/node_modules/claude/cli.js
	ln -s ../../lib/node_modules/claude/cli.js "$HOOK_ROOTFS/usr/local/bin/claude"
	plans "mount: shim over /usr/local/bin/claude" \
		"agent: claude is /usr/lib/node_modules/claude/cli.js"
	[[ $output != *"agents/claude"* ]]
}

@test "plan: a symlink to what is covered itself leads to the original, not to the shim" {
	agent /bin/claude
	ln -s /bin/claude "$HOOK_ROOTFS/usr/local/bin/claude"
	plans "mount: the agent at /run/oci-sandbox/agents/claude from /bin/claude" \
		"mount: shim over /usr/local/bin/claude" "mount: shim over /bin/claude" \
		"agent: claude is /run/oci-sandbox/agents/claude"
}

@test "plan: a dangling symlink, a loop and an empty file are covered, and are no agents" {
	ln -s /nowhere "$HOOK_ROOTFS/usr/local/bin/claude"
	ln -s claude "$HOOK_ROOTFS/usr/bin/claude"
	: >"$HOOK_ROOTFS/bin/claude"
	plans "mount: shim over /usr/local/bin/claude" "mount: shim over /usr/bin/claude" \
		"mount: shim over /bin/claude"
	[[ $output != *"agent: "* ]]
}

@test "plan: oci-sandbox is put beside the agents' names, over what the image has of that name" {
	plans "mount: cli as new /usr/local/bin/oci-sandbox"
	agent /usr/local/bin/oci-sandbox
	agent /bin/oci-sandbox
	ln -s /nowhere "$HOOK_ROOTFS/usr/bin/oci-sandbox"
	plans "mount: cli over /usr/local/bin/oci-sandbox" "mount: cli over /bin/oci-sandbox" \
		"mount: cli over /usr/bin/oci-sandbox"
	[[ $output != *"agent: oci-sandbox"* && $output != *"agents/oci-sandbox"* && $output != *"cli as new"* ]]
	rm "$HOOK_ROOTFS/usr/local/bin/oci-sandbox"
	mkdir "$HOOK_ROOTFS/usr/local/bin/oci-sandbox" # nobody can run it
	plans "mount: cli over /bin/oci-sandbox" "mount: shim as new /usr/local/bin/claude"
	[[ $output != *"/usr/local/bin/oci-sandbox"* ]]
}

@test "load: oci-sandbox is no agent's name" {
	hook_profile claude 'commands = claude oci-sandbox' 'state = .claude'
	refuses 'claude.conf:1: commands: `oci-sandbox` is no agent'
}

@test "plan: a folder or a FIFO under an agent's name is refused" {
	mkdir "$HOOK_ROOTFS/bin/claude"
	refuses "the container has /bin/claude, which is neither a file nor a symlink"
	rmdir "$HOOK_ROOTFS/bin/claude"
	mkfifo "$HOOK_ROOTFS/bin/claude"
	refuses "the container has /bin/claude, which is neither a file nor a symlink"
}

@test "plan: names go where only container root can write" {
	chmod g+w "$HOOK_ROOTFS/usr/local/bin"
	plans "mount: shim as new /usr/bin/claude"
	chmod g+w "$HOOK_ROOTFS/usr/bin" "$HOOK_ROOTFS/bin"
	refuses "no folder of the container's PATH belongs to its root"
}

@test "plan: container root is whom the map says" {
	config '.linux.uidMappings = [{containerID: 0, hostID: 4000000000, size: 1}]'
	refuses "no folder of the container's PATH belongs to its root"
}

@test "plan: PATH without a value of its own, and with entries that mean nothing" {
	config '.process.env = ["OCI_SANDBOX=1"]'
	plans "mount: shim as new /usr/local/bin/claude"
	config '.process.env = ["OCI_SANDBOX=1", "PATH=:.:rel:/missing:/usr/libexec/oci-sandbox:/run/oci-sandbox/x:/usr//bin/"]'
	plans "mount: shim as new /usr/bin/claude"
	config '.process.env = ["OCI_SANDBOX=1", "PATH="]'
	refuses "no folder of the container's PATH"
	config '.process.env += ["PATH=/bin"]'
	refuses "process.env has PATH twice"
	config '.process.env = ["OCI_SANDBOX=1", "PATH=/usr/../bin"]'
	refuses "has a .. component"
}

@test "plan: folders of PATH that are the same by a symlink count once" {
	rmdir "$HOOK_ROOTFS/bin"
	ln -s usr/bin "$HOOK_ROOTFS/bin"
	agent /usr/bin/claude
	plans "mount: shim over /usr/bin/claude"
	[[ $(grep -c "shim over" <<<"$output") == 1 ]]
}

@test "plan: symlinks of the image end below its root" {
	local target

	rmdir "$HOOK_ROOTFS/usr/local/bin"
	mkdir -p "$HOOK_ROOTFS$HOOK_DIR"
	for target in / "$HOOK_DIR/canary/bin" ../../../../../../../../../../../etc; do
		ln -sfn "$target" "$HOOK_ROOTFS/usr/local/bin"
		plans "mount: new tmpfs at /run/oci-sandbox"
	done
	# what is outside by the same path is not seen
	ln -sfn "$HOOK_DIR/canary/bin" "$HOOK_ROOTFS/usr/local/bin"
	mkdir "$HOOK_DIR/canary/bin/claude"
	plans "mount: shim as new /usr/bin/claude"
}

@test "plan: an agent that links out of the root is found inside or not at all" {
	agent /elsewhere
	mkdir -p "$HOOK_ROOTFS/usr/lib"
	ln -s ../../../../../../../../elsewhere "$HOOK_ROOTFS/usr/local/bin/claude"
	plans "agent: claude is /elsewhere"
	ln -sfn "$HOOK_DIR/libexec/shim" "$HOOK_ROOTFS/usr/local/bin/claude"
	plans "mount: shim over /usr/local/bin/claude"
	[[ $output != *"agent: "* ]]
}

@test "plan: a folder of PATH that is a loop or a file is refused" {
	rmdir "$HOOK_ROOTFS/usr/local/bin"
	ln -s bin "$HOOK_ROOTFS/usr/local/bin"
	refuses "the container's PATH: open /usr/local/bin: Too many levels of symbolic links"
	rm "$HOOK_ROOTFS/usr/local/bin"
	: >"$HOOK_ROOTFS/usr/local/bin"
	refuses "the container's PATH: open /usr/local/bin: Not a directory"
}

@test "plan: the manifest has what the engine mounts of the host's, made clean" {
	config '.mounts = [
		{destination: "/proc", type: "proc"},
		{destination: "/a//b/", type: "bind", source: "/x"},
		{destination: "/c", type: "none", source: "/x", options: ["rbind"]},
		{destination: "/d\n", type: "bind", source: "/x"},
		{destination: "/overlay", type: "overlay", source: "/x"},
		{destination: "/t", type: "tmpfs", source: "tmpfs"}]'
	plans "engine's mount: /a/b" "engine's mount: /c" 'engine'"'"'s mount: /d\012' \
		"engine's mount: /overlay"
	[[ $output != *"/proc"* && $output != *"engine's mount: /t"* ]]
	config '.mounts = [{destination: "/a/../b", type: "bind", source: "/x"}]'
	refuses "config.json: mounts: element 0: \`/a/../b\` has a .. component"
}

@test "plan: rules come before mounts, with the policy's exceptions and the engine's resolvers" {
	local file=$HOOK_DIR/resolv.conf

	hook_policy 'agents = claude' 'allow-ip = 10.5.0.0/16'
	printf 'nameserver 10.1.2.3\n' >"$file"
	printf 'nameserver 10.9.8.7\n' >"$HOOK_ROOTFS/etc/resolv.conf"
	config ".mounts = [{destination: \"/etc/resolv.conf\", type: \"bind\", source: \"$file\"}]"
	plans "mount: shim as new /usr/local/bin/claude"
	[[ $output == *10.1.2.3*10.5.0.0/16*10.0.0.0/8*"mount: "* && $output != *10.9.8.7* ]]
	[[ $output != *"mount: "*10.0.0.0/8* ]]
	config
	plans "mount: shim as new /usr/local/bin/claude"
	[[ $output != *10.1.2.3* && $output != *10.9.8.7* ]]
}

@test "plan: a resolv.conf that is no text of a few lines is refused" {
	local file=$HOOK_DIR/resolv.conf

	config ".mounts = [{destination: \"/etc/resolv.conf\", type: \"bind\", source: \"$file\"}]"
	refuses "open $file: No such file"
	mkfifo "$file"
	refuses "the container's /etc/resolv.conf is not a regular file"
	rm "$file"
	head -c 70000 /dev/zero | tr '\0' '#' >"$file"
	refuses "the container's /etc/resolv.conf: longer than 65536 bytes"
	config '.mounts = [{destination: "/etc/resolv.conf", type: "bind"}]'
	refuses "mount /etc/resolv.conf has no source"
}

# namespaces UID...: agents of these users get some, and no others
namespaces() {
	run -0 hook --check --bundle "$HOOK_BUNDLE"
	[[ $(sed -n 's/^enter: new user and network namespaces for agents of uid //p' <<<"$output" | xargs) == "$*" ]]
}

@test "plan: root, the container's own user and 1000 get networks for agents, or whom the policy names" {
	namespaces 0 1000
	config '.process.user = {uid: 1234, gid: 5}'
	namespaces 0 1234 1000
	config '.process.user = {uid: 1000, gid: 1000}'
	namespaces 0 1000
	config ".linux.uidMappings = [{containerID: 0, hostID: $EUID, size: 1}, {containerID: 1, hostID: 100000, size: 999}]
		| .linux.gidMappings = .linux.uidMappings"
	namespaces 0
	hook_policy 'agents = claude' 'agent-uid = 999 0'
	namespaces 999 0
	hook_policy 'agents = claude' 'agent-uid = 1000'
	refuses "agent-uid: the container's user namespace does not have uid 1000"
	config '.process.user = {uid: "0"}'
	refuses "config.json: process: user: uid: not an id"
}

@test "plan: without a network there are no namespaces for agents" {
	hook_policy 'agents = claude' 'egress = none'
	namespaces
	[[ $output == *"refuse everything else"* ]]
}

@test "plan: capabilities that undo a part of it are named, once" {
	config '.process.capabilities = {bounding: ["CAP_CHOWN", "CAP_NET_RAW", "CAP_SYS_ADMIN", "CAP_SYS_ADMIN", "CAP_NEW"]}'
	plans "warning: container root has CAP_NET_RAW: it can send packets past the network rules" \
		"warning: container root has CAP_SYS_ADMIN: it can unmount what oci-sandbox put into the container"
	[[ $(grep -c '^warning' <<<"$output") -eq 2 ]]
	config '.process.capabilities = {bounding: [1]}'
	refuses "config.json: process: capabilities: bounding: element 0: not a string"
	config '.process.capabilities = {}'
	plans "ours: OCI_SANDBOX=1 in process.env"
	[[ $output != *warning* ]]
}

@test "plan: a container on the host's network is refused" {
	config '.linux.namespaces = [{type: "mount"}]'
	refuses "the container is on the host's network"
	config '.linux.namespaces = [{type: "network"}]'
	refuses "the container has no mount namespace of its own"
}
