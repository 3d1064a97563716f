#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The contract of uapi/linux/kverbs.h, in particular its errors.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

# The second program exists if the compiler can build 32-bit programs, and runs if the kernel
# supports them.
# shellcheck disable=SC2016 # for the guest's shell
command='contract_test; status=$?
if [[ ! $KVERBS_KERNEL =~ ^(debug|debug-7|uml)$ && -x $(type -P compat32_test) ]]; then
	compat32_test || status=1
fi
exit $status'

build
core guest 6.12 rxe -- "$command"
whole guest 6.12 siw -- "$command"
whole guest 6.1 rxe -- "$command"
for kernel in 6.12-rt 7 debug debug-7; do
	every guest "$kernel" rxe -- "$command"
done
finish
