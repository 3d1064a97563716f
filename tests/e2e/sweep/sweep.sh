#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Every command survives each possible fault, on the kernels that can inject faults: user-mode
# Linux, which is fast, and the emulated debug kernel. Words select cases by their names.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

build
RECORD=$(mktemp)
trap 'rm -f "$RECORD"' EXIT
whole guest uml rxe --timeout 900 -- sweep_test "$@"
every guest debug rxe --timeout 3600 -- sweep_test "$@"
sed -nE 's/^# swept (.*), (.*): ([0-9]+) faults$/\1|\2|\3/p' "$RECORD" |
	awk -F'|' '
		{ faults[$1, $2] = $3 }
		!seen[$1]++ { names[++rows] = $1 }
		END {
			for (each in faults)
				total += faults[each]
			printf "#| %-28s %8s %8s\n", "command", "memory", "verbs"
			for (i = 1; i <= rows; i++)
				printf "#| %-28s %8d %8d\n", names[i],
					faults[names[i], "memory"], faults[names[i], "verbs"]
			printf "#| %d faults survived\n", total
		}'
finish
