#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# scripts/vm reports how its guests end: every other end-to-end test relies on that.
set -u
# shellcheck source=tests/e2e/lib/lib.bash
. "$(dirname "$(readlink -f "$0")")/../lib/lib.bash"
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

# ends STATUS PATTERN VM-OPTION...: check the exit status of scripts/vm and what it prints
ends() {
	local wanted=$1 pattern=$2 out got
	shift 2

	out=$("$TOP/scripts/vm" --no-kmemleak "$@" 2>&1)
	got=$?
	echo "$out"
	[[ $got -eq $wanted ]] || { echo "status $got, not $wanted"; return 1; }
	grep -qE -e "$pattern" <<<"$out" || { echo "no line like: $pattern"; return 1; }
}

all_guests() {
	check "a command's status is that of the run" ends 5 '^said$' --kernel uml -- 'echo said; exit 5'
	check "a bug that a kernel reports fails the run" ends 70 'BUG: of a test' --kernel uml -- \
		'echo "BUG: of a test" >/dev/kmsg'
	check "a message that --ignore names does not" ends 0 '^$' --kernel uml --ignore 'of a test' -- \
		'echo "BUG: of a test" >/dev/kmsg'
	check "a command that hangs ends at its time" ends 124 'sleep 1234' --kernel uml --timeout 5 -- \
		'sleep 1234'
	check "a guest that dies fails the run" ends 71 'Kernel panic' --kernel 6.12 -- \
		'echo c >/proc/sysrq-trigger'
	check "files are put into each of two hosts" ends 0 '^b has b$' --kernel 6.12 --hosts 2 \
		--put "$0:a:/tmp/for-a" --put "$0:b:/tmp/for-b" --server 'exec sleep infinity' \
		--server-ready 'test -s /tmp/for-a -a ! -e /tmp/for-b' -- \
		'test -s /tmp/for-b -a ! -e /tmp/for-a && echo "b has b"'
	check "a guest whose clock is too fast fails the run" ends 70 'the clock of host a is .* times too fast' \
		--kernel 6.12 --append tsc_early_khz=500000 -- 'sleep 15'
}

wanted 6.12 rxe || exit 4
whole all_guests
[[ $FAILED -eq 0 ]] || RESULT=1
finish
