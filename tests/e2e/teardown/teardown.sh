#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Files, processes, devices and modules go away at any moment and leave nothing behind.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

build
# On the other kernels, only cases that depend on the context of completions and on the
# provider.
some=(traffic meanwhile "SIGKILL while writing" "rmmod kverbs")
[[ $LEVEL != every ]] || some=()
core guest 6.12 rxe -- teardown_test
whole guest 6.12 siw -- teardown_test
whole guest 6.1 rxe -- teardown_test "${some[@]}"
whole guest debug rxe -- teardown_test "${some[@]}"
for kernel in 6.12-rt 7 debug-7; do
	every guest "$kernel" rxe -- teardown_test
done
finish
