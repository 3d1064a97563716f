#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A host connected to itself: every opcode, every sort of memory, every byte.
set -u
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

build
RECORD=$(mktemp)
trap 'rm -f "$RECORD"' EXIT
for kernel in 6.12 6.1; do
	for provider in rxe siw; do
		guest "$kernel" "$provider" -- data_test
	done
done
for provider in rxe siw; do
	guest debug "$provider" -- data_test
done
awk -f "$TOP/tests/e2e/table.awk" "$RECORD"
finish
