#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A host connected to itself: every opcode, every kind of memory, every byte.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

build
RECORD=$(mktemp)
trap 'rm -f "$RECORD"' EXIT
core guest 6.12 rxe -- data_test
whole guest 6.12 siw -- data_test
# Completions in softirqs, as storage drivers often use them.
for kernel in 6.12 6.1 debug; do
	RECORD="" every guest "$kernel" rxe -- env RING_FLAGS=4 data_test
done
for kernel in 6.1 debug; do
	every guest "$kernel" rxe -- data_test
	every guest "$kernel" siw -- data_test
done
for kernel in 6.12-rt 7 debug-7; do
	every guest "$kernel" rxe -- data_test
done
awk -f "$TOP/tests/e2e/lib/table.awk" "$RECORD"
finish
