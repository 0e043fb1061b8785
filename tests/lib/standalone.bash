# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Containers whose image brings oci-sandbox along, with pasta in it. To be called in the lab.

# shellcheck source=tests/lib/serving.bash
. "$(dirname "${BASH_SOURCE[0]}")/serving.bash"

# pasta_add DIR: pasta, and what egress is linked with
pasta_add() {
	local dir=$1 file

	for file in /usr/bin/passt /usr/bin/passt.avx2; do
		[[ ! -e $file ]] || rootfs_add_program "$dir" "$file"
	done
	ln -sf passt "$dir/usr/bin/pasta"
	rootfs_add_libraries "$dir" "$SANDBOX_LIBEXEC/egress"
}

# standalone_template: once a file; STANDALONE is a root file system as the devcontainer feature
# leaves it
standalone_template() {
	STANDALONE=$LAB/standalone
	export STANDALONE
	[[ ! -d $STANDALONE ]] || return 0
	cp -a "$LAB/template" "$STANDALONE"
	cp -r --preserve=mode "$SANDBOX_LIBEXEC" "$STANDALONE/usr/libexec/oci-sandbox"
	cp -r --preserve=mode "$SANDBOX_CONFIG" "$STANDALONE/etc/oci-sandbox"
	mv "$STANDALONE/usr/local/bin/claude" "$STANDALONE/usr/bin/claude"
	ln -s /usr/libexec/oci-sandbox/shim "$STANDALONE/usr/local/bin/claude"
	ln -s /usr/libexec/oci-sandbox/cli "$STANDALONE/usr/local/bin/oci-sandbox"
	pasta_add "$STANDALONE"
	[[ $ENGINE != rootless ]] || rootfs_owner "$STANDALONE" "$LAB_UID" "$LAB_SUBID"
}

# standalone_prepare: once a test, after container_prepare
standalone_prepare() {
	rm -rf "$ROOTFS"
	cp -a "$STANDALONE" "$ROOTFS"
	OPTIONS+=(--device /dev/net/tun)
	export UNHOOKED=yes
}
