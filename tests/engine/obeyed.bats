#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# bats file_tags=root,engine,shim,once
#
# What an agent writes must be run and obeyed by nothing outside of its sandbox. An agent leaves
# something wherever a tool of the developer's looks for programs, settings or a cache in the home, and
# then the developer uses these tools: npx, python, git and shells for real, and of the others (which
# are large) the places that they read.

load ../lib/agents

setup_file() {
	lab_prepare
}

setup() {
	container_prepare
	tools_install
}

teardown() {
	agents_remove
}

# node and npm, python, git and bash: the machine's
tools_install() {
	local node python npm

	node=$(readlink -f "$(command -v node)")
	npm=$(readlink -f "$(command -v npx)")
	npm=${npm%/npm/bin/*} # with the packages beside it, on which a distribution's depends
	python=$(readlink -f /usr/bin/python3)
	agent_mount "$node" /usr/bin/node
	agent_mount "$npm" "$npm"
	agent_mount "$python" /usr/bin/python3
	agent_mount "/usr/lib/${python##*/}" "/usr/lib/${python##*/}"
	rootfs_add_libraries "$ROOTFS" "$node"
	rootfs_add_libraries "$ROOTFS" "$python"
	rootfs_add_program "$ROOTFS" /usr/bin/git
	rootfs_add_program "$ROOTFS" /bin/bash
	mkdir "$ROOTFS/www"
	NPX="node $npm/npm/bin/npx-cli.js"
	USER_SITE=.local/lib/${python##*/}/site-packages
	echo '{"name": "tool", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "tool",
		"version": "1.0.0", "bin": "x", "dist": {"tarball": "http://127.0.0.1:8080/none"}}}}' >"$ROOTFS/www/tool"
}

# The places, below the home. Half of them are there before.
places() {
	cat <<-'END'
		.agents/skills/s/SKILL.md
		.bash_aliases
		.bash_login
		.bash_logout
		.bash_profile
		.bun/bin/tool
		.bunfig.toml
		.cache/go-build/00/object
		.cache/helm/repository/index.yaml
		.cache/pip/http-v2/0/body
		.cache/pip/wheels/0/tool.whl
		.cache/pre-commit/repo0/hook
		.cache/pypoetry/cache/tool.whl
		.cache/uv/archive-v0/tool/bin/tool
		.cache/yarn/v6/tool.js
		.cargo/bin/tool
		.cargo/config.toml
		.cargo/registry/src/tool/build.rs
		.claude.json
		.claude/CLAUDE.md
		.claude/daemon/dispatch/work
		.claude/settings.json
		.claude/skills/s/SKILL.md
		.codex/config.toml
		.codex/packages/codex
		.config/autostart/tool.desktop
		.config/fish/config.fish
		.config/gh/config.yml
		.config/gh/extensions/tool/tool
		.config/glab-cli/aliases.yml
		.config/nvim/init.lua
		.config/pip/pip.conf
		.config/systemd/user/tool.service
		.config/uv/uv.toml
		.deno/bin/tool
		.docker/config.json
		.gnupg/gpg.conf
		.gradle/init.d/tool.gradle
		.local/bin/tool
		.local/share/applications/tool.desktop
		.local/share/gh/extensions/tool/tool
		.local/share/pipx/venvs/tool/bin/tool
		.local/share/uv/tools/tool/bin/tool
		.local/state/oci-sandbox-stays/tool
		.m2/settings.xml
		.npmrc
		.nvm/nvm.sh
		.oh-my-zsh/custom/tool.zsh
		.pi/agent/extensions/tool.ts
		.pi/agent/settings.json
		.pyenv/shims/tool
		.pythonrc
		.ssh/config
		.ssh/rc
		.terraform.d/plugins/tool
		.tmux.conf
		.vimrc
		.vscode-server/data/Machine/settings.json
		.vscode-server/extensions/tool/extension.js
		.wgetrc
		.zshenv
		.zshrc
		go/bin/tool
		go/pkg/mod/tool@v1.0.0/tool.go
	END
}

# attack_write FILE: what the agent is to do, for a shell
attack_write() {
	local npx

	npx=.npm/_npx/$(printf tool@1.0.0 | sha512sum | head -c 16)
	{
		echo 'put() { set -- "./$1"; mkdir -p "${1%/*}" && cat >>"$1"; } 2>/dev/null; cd'
		places | sed -E 's,^(.*/)?[^/]+$,mkdir -p "./\1"; echo "the agent'\''s" >>"&",;s,.*,{ &; } 2>/dev/null,'
		cat <<-END
			echo '{"dependencies": {"tool": "1.0.0"}}' | put $npx/package.json
			echo '{"name": "tool", "version": "1.0.0", "bin": "x"}' | put $npx/node_modules/tool/package.json
			printf '#!/bin/sh\necho obeyed: npx\n' | put $npx/node_modules/tool/x
			chmod 755 $npx/node_modules/tool/x
			mkdir -p $npx/node_modules/.bin
			ln -s ../tool/x $npx/node_modules/.bin/tool
			echo 'print("obeyed: python")' | put $USER_SITE/usercustomize.py
			printf '[alias]\n\ttool = !echo obeyed: git\n' | put .gitconfig
			echo 'echo obeyed: bash' | put .bashrc
			echo 'echo obeyed: a login shell' | put .profile
			echo the agent ran
		END
	} >"$1"
}

# What the developer does then
develop() {
	cat <<-END
		httpd -p 127.0.0.1:8080 -h /www
		$NPX --registry http://127.0.0.1:8080 -y tool@1.0.0 </dev/null 2>/dev/null
		python3 -c pass
		git tool 2>/dev/null
		bash -ic true 2>/dev/null
		sh -lc true
		true
	END
}

# developer_home HOME: the places of which there is something before
developer_home() {
	local place
	local -a some

	mapfile -t some < <(places | sed -n "n;s,^,$1/,p")
	mkdir -p "${some[@]%/*}"
	for place in "${some[@]}"; do
		echo "the developer's" >"$place"
	done
}

# home_facts: all that is in it but the stores, and what npx keeps for the developer
home_facts() {
	(cd "$ROOTFS/home/dev" && find . \( -path ./.local/state/oci-sandbox -o -path ./.npm \) -prune -o \
		-type f -exec sha256sum {} + -o -printf '%y %m %U %p %l\n' | sort)
}

# prepare: the developer's home, and the attack
prepare() {
	developer_home "$ROOTFS/home/dev"
	mkdir -p "$ROOTFS/home/dev/.local/state/oci-sandbox" # there is no first launch in what is compared
	attack_write "$WORKSPACE/attack"
	container_owner 1000 "$ROOTFS/home/dev" "$WORKSPACE"
	OPTIONS+=(--user 1000)
}

@test "obeyed: without the hook the developer's tools obey what the agent wrote, and each place changes" {
	prepare
	run -0 --separate-stderr unconfined sh -c "claude 'sh /workspace/attack'"$'\n'"$(develop)"
	is $'the agent ran\nobeyed: npx\nobeyed: python\nobeyed: git\nobeyed: bash\nobeyed: a login shell'
	while read -r place; do
		grep -q "the agent's" "$ROOTFS/home/dev/$place"
	done < <(places)
}

@test "obeyed: nothing that a confined agent wrote is there for the developer's tools" {
	prepare
	home_facts >"${ROOTFS%/*}/before"
	run -0 --separate-stderr confined sh -c "claude 'sh /workspace/attack'"$'\n'"$(develop)"
	is 'the agent ran'
	home_facts >"${ROOTFS%/*}/after"
	diff -u "${ROOTFS%/*}/before" "${ROOTFS%/*}/after"
	[ "$(grep -c '^[0-9a-f]\{64\}' "${ROOTFS%/*}/before")" -gt 30 ]
}
