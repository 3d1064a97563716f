#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Five minutes of the fuzzer: on user-mode Linux, which is the fastest, on the debug kernel,
# which detects most on two CPUs, and on a distribution kernel. KVERBS_FUZZ_SECONDS= sets
# another time, KVERBS_FUZZ_SEED= another seed. Not on siw, whose listeners the fuzzer breaks,
# see Documentation/dev/driver-quirks.rst.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

seconds=${KVERBS_FUZZ_SECONDS:-300}

# fuzz_on KERNEL: the last lines of its output show the number of operations.
fuzz_on() {
	local kernel=$1 name="$1 rxe: nothing is found by fuzzing" out status

	wanted "$kernel" rxe || return 0
	out=$(mktemp)
	"$TOP/tests/devfuzz/run" --seconds $((seconds / 3)) --seed "${KVERBS_FUZZ_SEED:-1}" \
		--kernel "$kernel" >"$out" 2>"$out.err"
	status=$?
	cat "$out"
	cat "$out.err" >&2
	tail -n 4 "$out" | sed "s/^/#| $kernel: /"
	[[ $status -ne 0 ]] || echo "ok - $name"
	[[ $status -eq 0 ]] || echo "not ok - $name # status $status: $(why "$out.err" | paste -sd ';')"
	rm -f "$out" "$out.err"
	# shellcheck disable=SC2034 # for finish
	[[ $status -eq 0 ]] || RESULT=1
}

whole fuzz_on uml
whole fuzz_on debug
whole fuzz_on 6.12
finish
