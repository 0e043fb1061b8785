# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What programs write as JSON, and the schemas in docs/ that say how.

# schema_python: one that has jsonschema; what is first in PATH may be somebody's own
schema_python() {
	local python

	for python in python3 /usr/bin/python3; do
		if "$python" -c 'import jsonschema' 2>/dev/null; then
			printf '%s\n' "$python"
			return
		fi
	done
	return 1
}

# schema_fits NAME JSON: it is as docs/NAME.schema.json has it, which nobody can tell without
# python3-jsonschema
schema_fits() {
	local python

	python=$(schema_python) || return 0
	"$python" -c 'import json, sys, jsonschema
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(sys.stdin))' \
		"$SRCDIR/docs/$1.schema.json" <<<"$2"
}
