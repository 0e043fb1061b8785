# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What both benches print.

# report_line NAME MEDIAN FASTEST BASE: microseconds; the ratio is that of the medians
report_line() {
	awk -v name="$1" -v median="$2" -v fastest="$3" -v base="$4" 'BEGIN {
		printf "  %-44s %9.2f ms %9.2f ms %8.2f x\n", name, median / 1000, fastest / 1000, median / base }'
}

report_head() {
	printf '%-46s %12s %12s %10s\n' "$1" median fastest ratio
}

# report_file FILE: median and fastest of the numbers in it
report_file() {
	sort -n "$1" | awk '{ value[NR] = $1 } END { print value[int(NR / 2) + 1], value[1] }'
}
