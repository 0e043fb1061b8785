# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# oci-sandbox in the lab (tests/lib/lab): what "make install" made (IMAGE), as an administrator
# would have it, but below $LAB/host. Loads the rest of what works in the lab, too.

SRCDIR=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILDDIR=${BUILDDIR:-$SRCDIR/build}
IMAGE=${IMAGE:-$BUILDDIR/image}
CLAUDE_DIR=${CLAUDE_DIR:-$(echo "$BUILDDIR"/claude-*)}
CODEX_DIR=${CODEX_DIR:-$(echo "$BUILDDIR"/codex-*)}
# shellcheck source=tests/lib/rootfs.bash
. "$SRCDIR/tests/lib/rootfs.bash"
# shellcheck source=tests/lib/engine.bash
. "$SRCDIR/tests/lib/engine.bash"
# shellcheck source=tests/lib/network.bash
. "$SRCDIR/tests/lib/network.bash"

# sandbox_paths: where things are
sandbox_paths() {
	SANDBOX_HOOK=$LAB/host/usr/sbin/oci-sandbox-hook
	SANDBOX_CONFIG=$LAB/host/etc/oci-sandbox
	SANDBOX_LIBEXEC=$LAB/host/usr/libexec/oci-sandbox
	SANDBOX_HOOKS=$LAB/hooks.d
	export SANDBOX_HOOK SANDBOX_CONFIG SANDBOX_LIBEXEC SANDBOX_HOOKS
}

# sandbox_install: the host's files, and a hooks folder for "podman --hooks-dir"
sandbox_install() {
	sandbox_paths
	if [[ ! -x $IMAGE/usr/sbin/oci-sandbox-hook || ! -x $IMAGE/usr/libexec/oci-sandbox/shim ]]; then
		# podman would go on without a hook that is not there, and say nothing
		printf '"make install" has put no hook and shim into %s\n' "$IMAGE" >&2
		return 1
	fi
	cp -r --preserve=mode "$IMAGE" "$LAB/host"
	sandbox_hooks "$SANDBOX_HOOKS" "$SANDBOX_CONFIG" "$SANDBOX_LIBEXEC"
}

# sandbox_hooks DIR CONFIG LIBEXEC: a hooks folder with the hook, at its stages
sandbox_hooks() {
	local stage

	for stage in createRuntime poststart; do
		sandbox_register "$1" "$stage" "$SANDBOX_HOOK" oci-sandbox-hook \
			--config "$2" --libexec "$3" "$stage"
	done
}

# sandbox_register DIR STAGE PROGRAM ARGV...: in a hooks folder, PROGRAM for this stage, in the file
# that --register would write
sandbox_register() {
	local dir=$1 stage=$2 program=$3 suffix="" args

	shift 3
	[[ $stage == createRuntime ]] || suffix=-$stage
	printf -v args '"%s", ' "$@"
	mkdir -p "$dir"
	cat >"$dir/50-oci-sandbox$suffix.json" <<-END
		{
			"version": "1.0.0",
			"hook": {
				"path": "$program",
				"args": [${args%, }],
				"env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
				"timeout": 10
			},
			"when": {"always": true},
			"stages": ["$stage"]
		}
	END
}
