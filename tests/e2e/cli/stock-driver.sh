#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Basic tests with Debian's own rxe, without the patches of all other guests.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

here=$TOP/tests/e2e/cli/guest

build
for kernel in 6.12 6.1 6.12-rt 7; do
	whole guest "$kernel" rxe --stock-driver -- "$here/stock-driver"
done
finish
