#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Run the examples as their readers would.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

make --no-print-directory -s -C "$TOP/examples" || exit 1
core guest 6.12 rxe -- "$TOP/tests/e2e/cli/guest/examples"
every guest 6.12 siw -- "$TOP/tests/e2e/cli/guest/examples"
every guest 6.1 rxe -- "$TOP/tests/e2e/cli/guest/examples"
every guest 6.1 siw -- "$TOP/tests/e2e/cli/guest/examples"
finish
