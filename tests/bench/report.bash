# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the benches print.

# report_line NAME BASE MEDIAN FASTEST KIB: microseconds; the ratio is that of the medians
report_line() {
	awk -v name="$1" -v base="$2" -v median="$3" -v fastest="$4" -v kib="$5" 'BEGIN {
		printf "  %-44s %9.2f ms %9.2f ms %8.2f x %7.1f MiB\n", name, median / 1000, fastest / 1000,
			median / base, kib / 1024 }'
}

report_head() {
	printf '%-46s %12s %12s %10s %11s\n' "$1" median fastest ratio memory
}

# report_file FILE: median and fastest of its first numbers, and the largest of its second
report_file() {
	sort -n "$1" | awk '{ value[NR] = $1; if ($2 > most) most = $2 }
		END { print value[int(NR / 2) + 1], value[1], most + 0 }'
}

# report_addresses N PREFIX: N addresses that are no neighbours, each behind PREFIX
report_addresses() {
	awk -v n="$1" -v prefix="$2" 'BEGIN { for (i = 0; i < n; i++)
		printf "%s10.%d.%d.%d\n", prefix, i / 32768, i / 128 % 256, i % 128 * 2 }'
}
