#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A host connected to itself: every opcode, every sort of memory, every byte.
set -u
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

build
RECORD=$(mktemp)
trap 'rm -f "$RECORD"' EXIT
guest 6.12 rxe -- data_test
guest 6.12 siw -- data_test
guest 6.1 rxe -- data_test
whole guest 6.1 siw -- data_test
if [[ ${KVERBS_WHOLE:-} ]]; then
	guest debug rxe -- data_test
	guest debug siw -- data_test
else
	guest debug rxe -- data_test "one byte" "100 scattered pages" "a private file mapping"
fi
awk -f "$TOP/tests/e2e/table.awk" "$RECORD"
finish
