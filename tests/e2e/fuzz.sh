#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A minute of the fuzzer; KVERBS_FUZZ_SECONDS= for more, KVERBS_FUZZ_SEED= for another.
# Not on siw, whose listeners it breaks, see Documentation/transports.rst.
set -u
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

wanted debug rxe || finish
if "$TOP/scripts/fuzz" --seconds "${KVERBS_FUZZ_SECONDS:-60}" --seed "${KVERBS_FUZZ_SEED:-1}"; then
	echo "ok 1 - debug rxe: nothing is found by fuzzing"
else
	echo "not ok 1 - debug rxe: nothing is found by fuzzing"
	# shellcheck disable=SC2034 # for finish
	RESULT=1
fi
finish
