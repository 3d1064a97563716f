#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Basic tests with Debian's own rxe, without the patches of all other guests.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

here=$TOP/tests/e2e/cli/guest

build
whole guest 6.12 rxe --stock-driver -- "$here/stock-driver"
whole guest 6.1 rxe --stock-driver -- "$here/stock-driver"
finish
