#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kverbs cp onto disks, within one host, and when one end dies or a disk fails.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

here=$TOP/tests/e2e/cli/guest

one_host() {
	guest "$@" --disk 1G --timeout 1200 -- "$here/cp-one"
}

disturbed() {
	guest "$@" --disk 1G --timeout 1200 -- "$here/power" 2
}

core one_host 6.12 rxe
every one_host 6.12 siw
whole disturbed 6.12 rxe
every disturbed 6.12 siw
every disturbed debug rxe
for kernel in 6.1 6.12-rt 7 debug debug-7; do
	every one_host "$kernel" rxe
done
finish
