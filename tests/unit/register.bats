#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# --register and --unregister: which files they write. That podman reads them is
# tests/engine/installed.bats.

bats_require_minimum_version 1.5.0

setup() {
	BIN=$BATS_TEST_TMPDIR/bin
	HOOKS=$BATS_TEST_TMPDIR/hooks.d
	FILE=$HOOKS/50-oci-sandbox.json
	POSTSTART=$HOOKS/50-oci-sandbox-poststart.json
	mkdir -m 755 "$BIN"
	install -m 755 "$BUILDDIR/oci-sandbox-hook" "$BIN/"
}

hook() {
	"$BIN/oci-sandbox-hook" "$@"
}

# as_user: what follows is a user's, with a home of his own and no configuration
as_user() {
	H=$BATS_TEST_TMPDIR/home
	CONFIGURED=(--config "$BATS_TEST_TMPDIR/conf")
	mkdir -m 755 "${CONFIGURED[1]}"
	: >"${CONFIGURED[1]}/policy.conf"
	chmod 644 "${CONFIGURED[1]}/policy.conf"
	DROP_IN=$H/.config/containers/containers.conf.d/50-oci-sandbox.conf
	HOOKS=$H/.config/containers/oci/hooks.d
	FILE=$HOOKS/50-oci-sandbox.json
	POSTSTART=$HOOKS/50-oci-sandbox-poststart.json
	mkdir -m 755 "$H"
	if [[ $EUID == 0 ]]; then
		chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$BATS_TEST_TMPDIR"
		chown 60098:60098 "$H"
	fi
	! grep -qs '^[[:blank:]]*hooks_dir' /usr/share/containers/containers.conf \
		/etc/containers/containers.conf /etc/containers/containers.conf.d/*.conf ||
		skip "this machine's podman has a hooks_dir"
}

user() {
	local become=()

	[[ $EUID != 0 ]] || become=(setpriv --reuid 60098 --regid 60098 --clear-groups)
	"${become[@]}" env -i "HOME=$H" ${ENV:+"$ENV"} "$BIN/oci-sandbox-hook" "$@"
}

@test "register: writes a description for each stage, which calls this very program" {
	local stage file
	run -0 --separate-stderr hook --register podman --hooks-dir "$HOOKS"
	[[ ${lines[0]} == "wrote $FILE, which has podman call the hook" && $stderr == "" ]]
	[[ ${lines[1]} == "wrote $POSTSTART, which has podman call it again once a container was started" ]]
	[[ ${lines[-1]} == "podman reads $HOOKS if it is told: podman --hooks-dir $HOOKS"* ]]
	[[ $(ls -A "$HOOKS") == 50-oci-sandbox-poststart.json$'\n'50-oci-sandbox.json ]]
	for stage in createRuntime poststart; do
		file=$FILE
		[[ $stage == createRuntime ]] || file=$POSTSTART
		[[ $(stat -c %a "$file") == 644 ]]
		jq -e --arg path "$BIN/oci-sandbox-hook" --arg stage "$stage" '. == {
			version: "1.0.0",
			hook: {path: $path, args: ["oci-sandbox-hook", $stage],
				env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"], timeout: 10},
			when: {always: true},
			stages: [$stage]
		}' "$file"
	done
}

@test "register: twice is as good as once, and a changed description is replaced" {
	local before

	hook --register podman --hooks-dir "$HOOKS"
	cp -p "$FILE" "$BATS_TEST_TMPDIR/first"
	before=$(stat -c '%i %y' "$FILE")
	run -0 hook --register podman --hooks-dir "$HOOKS"
	[[ ${lines[0]} == "already there: $FILE, "* ]]
	[[ $(stat -c '%i %y' "$FILE") == "$before" ]]
	cmp "$FILE" "$BATS_TEST_TMPDIR/first"

	echo '{"an": "older version"}' >"$FILE"
	: >"$HOOKS/.50-oci-sandbox.json.new" # of one that was killed
	run -0 hook --register podman --hooks-dir "$HOOKS"
	[[ ${lines[0]} == "replaced $FILE, "* ]]
	cmp "$FILE" "$BATS_TEST_TMPDIR/first"
	[[ $(ls -A "$HOOKS") == 50-oci-sandbox-poststart.json$'\n'50-oci-sandbox.json ]]

	rm "$POSTSTART" # as an older version left it
	run -0 hook --register podman --hooks-dir "$HOOKS"
	[[ ${lines[0]} == "already there: $FILE, "* && ${lines[1]} == "wrote $POSTSTART, "* ]]
}

@test "register: folders that are not the default ones are passed on" {
	run -0 hook --config '/c, "d" \e' --libexec '/l
m' --register podman --hooks-dir "$HOOKS"
	jq -e '.hook.args == ["oci-sandbox-hook", "--config", "/c, \"d\" \\e", "--libexec", "/l\nm",
		"createRuntime"]' "$FILE"
	jq -e '.hook.args == ["oci-sandbox-hook", "--config", "/c, \"d\" \\e", "--libexec", "/l\nm",
		"poststart"]' "$POSTSTART"
}

@test "register: odd names of folders come through" {
	local dir='it"s, a \ [folder] é'

	mkdir "$BATS_TEST_TMPDIR/$dir"
	cp "$BIN/oci-sandbox-hook" "$BATS_TEST_TMPDIR/$dir/"
	run -0 "$BATS_TEST_TMPDIR/$dir/oci-sandbox-hook" --register podman --hooks-dir "$HOOKS/$dir"
	jq -e --arg path "$BATS_TEST_TMPDIR/$dir/oci-sandbox-hook" '.hook.path == $path' \
		"$HOOKS/$dir/50-oci-sandbox.json"
}

@test "register: a path that JSON can't hold is refused" {
	run -1 --separate-stderr hook --config $'/\xff' --register podman --hooks-dir "$HOOKS"
	[[ $stderr == "oci-sandbox-hook: /"*": Invalid or incomplete multibyte or wide character" ]]
	[[ ! -e $FILE ]]
}

@test "register: a policy that would stop containers is said, and no obstacle" {
	local conf=$BATS_TEST_TMPDIR/conf

	mkdir -m 755 "$conf"
	run -0 hook --config "$conf" --register podman --hooks-dir "$HOOKS"
	[[ $output == *$'\n'"warning: there is no $conf/policy.conf (an empty one has the defaults), so"* && -e $FILE ]]
	echo 'nonsense = 1' >"$conf/policy.conf"
	chmod 644 "$conf/policy.conf"
	run -0 hook --config "$conf" --register podman --hooks-dir "$HOOKS"
	[[ $output == *$'\n'"warning: $conf/policy.conf:1: unknown key \`nonsense\`"* ]]
	: >"$conf/policy.conf"
	run -0 hook --config "$conf" --register podman --hooks-dir "$HOOKS"
	[[ $output != *warning* ]]
}

@test "register: a program that others can replace is refused" {
	chmod o+w "$BIN"
	run -1 --separate-stderr hook --register podman --hooks-dir "$HOOKS"
	[[ $output == "" && $stderr == *"the hook itself: $BIN/oci-sandbox-hook: $BIN can be written by others"* ]]
	[[ ! -e $HOOKS ]]
	chmod 755 "$BIN"
	chmod g+w "$BIN/oci-sandbox-hook"
	run -1 --separate-stderr hook --register podman --hooks-dir "$HOOKS"
	[[ $stderr == *"oci-sandbox-hook can be written by others"* && ! -e $HOOKS ]]
}

@test "register: a folder that others can write is refused" {
	mkdir "$HOOKS"
	chmod 777 "$HOOKS"
	run -1 --separate-stderr hook --register podman --hooks-dir "$HOOKS"
	[[ $stderr == *"$HOOKS can be written by others"* && ! -e $FILE ]]
}

@test "register: a file in the place of the folder is an error" {
	: >"$HOOKS"
	run -1 --separate-stderr hook --register podman --hooks-dir "$HOOKS"
	[[ $stderr == "oci-sandbox-hook: open $FILE: Not a directory" && -f $HOOKS ]]
}

@test "register: what can't be said is an error" {
	run -1 --separate-stderr bash -c '"$0" --register podman --hooks-dir "$1" >/dev/full' \
		"$BIN/oci-sandbox-hook" "$HOOKS"
	[[ $stderr == "oci-sandbox-hook: say what was done: No space left on device" ]]
}

@test "register: only podman is known" {
	local args

	for args in "--register" "--register docker --hooks-dir $HOOKS" "--unregister x --hooks-dir $HOOKS" \
		"--register podman --hooks-dir relative"; do
		# shellcheck disable=SC2086
		run -64 --separate-stderr hook $args
		[[ $output == "" && $stderr == "usage: "* && ! -e $HOOKS ]]
	done
}

@test "unregister: takes the file back, once" {
	mkdir "$HOOKS"
	chmod 755 "$HOOKS"
	: >"$HOOKS/other.json"
	hook --register podman --hooks-dir "$HOOKS"
	run -0 hook --unregister podman --hooks-dir "$HOOKS"
	[[ $output == "removed $POSTSTART"$'\n'"removed $FILE" && $(ls -A "$HOOKS") == other.json ]]
	run -0 hook --unregister podman --hooks-dir "$HOOKS"
	[[ $output == "not there: $POSTSTART"$'\n'"not there: $FILE" ]]
}

# ---- a user's podman ----

@test "register: a user gets a folder of his own, and a drop-in that names it" {
	as_user
	run -0 --separate-stderr user "${CONFIGURED[@]}" --register podman
	[[ $output == "wrote $FILE, which has podman call the hook
wrote $POSTSTART, which has podman call it again once a container was started
wrote $DROP_IN, which has podman read that folder" ]]
	[[ $(<"$DROP_IN") == "# made by: oci-sandbox-hook --register podman
[engine]
hooks_dir = [\"/usr/share/containers/oci/hooks.d\", \"$HOOKS\"]" ]]
	run -0 user "${CONFIGURED[@]}" --register podman
	[[ ${lines[0]} == "already there: $FILE, "* && ${lines[2]} == "already there: $DROP_IN, "* ]]
	run -0 user --unregister podman
	[[ $output == "removed $POSTSTART"$'\n'"removed $FILE"$'\n'"removed $DROP_IN" ]]
	[[ $(find "$H" -type f) == "" ]]
	run -0 user --unregister podman
	[[ $output == "not there: $POSTSTART"$'\n'"not there: $FILE"$'\n'"not there: $DROP_IN" ]]
}

@test "register: a user's configuration is where XDG_CONFIG_HOME says" {
	as_user
	ENV=XDG_CONFIG_HOME=$H/xdg
	run -0 user --register podman
	[[ -f $H/xdg/containers/oci/hooks.d/50-oci-sandbox.json && ! -e $H/.config ]]
	grep -F "$H/xdg/containers/oci/hooks.d" "$H/xdg/containers/containers.conf.d/50-oci-sandbox.conf"
}

@test "register: a list of hooks folders that a person wrote is left to him" {
	local conf

	as_user
	mkdir -p "$H/.config/containers"
	conf=$H/.config/containers/containers.conf
	printf '[engine]\n# hooks_dir = []\n  hooks_dir=["/x",\n "%s/x"]\nother = ["%s"]\n' "$HOOKS" "$HOOKS" >"$conf"
	[[ $EUID != 0 ]] || chown -R 60098 "$H"
	cp "$conf" "$BATS_TEST_TMPDIR/before"
	run -1 --separate-stderr user --register podman
	[[ $stderr == *"$conf has a hooks_dir that lacks it; add \"$HOOKS\" to that list" ]]
	[[ -f $FILE && ! -e $DROP_IN ]]
	cmp "$conf" "$BATS_TEST_TMPDIR/before"

	printf '[engine]\nhooks_dir = ["/x", "%s"]\n' "$HOOKS" >"$conf"
	run -0 user --register podman
	[[ $output == "already there: $FILE, "* && ! -e $DROP_IN ]]
}

@test "register: a file that podman reads alone has to name the folder" {
	as_user
	ENV=CONTAINERS_CONF=$BATS_TEST_TMPDIR/only
	: >"$BATS_TEST_TMPDIR/only"
	run -1 --separate-stderr user --register podman
	[[ $stderr == *"CONTAINERS_CONF has it read $BATS_TEST_TMPDIR/only alone; add below [engine] there: hooks_dir = [\"$HOOKS\"]" ]]
	[[ ! -e $DROP_IN ]]
}

@test "unregister: a drop-in that a person changed is left to him" {
	as_user
	user --register podman
	echo 'runtime = "crun"' >>"$DROP_IN"
	run -1 --separate-stderr user --unregister podman
	[[ $output == "removed $POSTSTART"$'\n'"removed $FILE" && $stderr == *"$DROP_IN is not as it was written"* ]]
	[[ -e $DROP_IN ]]
}
