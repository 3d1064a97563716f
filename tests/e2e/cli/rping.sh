#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kverbs and rdma-core's rping, in both directions.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

core guest 6.12 rxe -- "$TOP/tests/e2e/cli/guest/rping"
every guest 6.12 siw -- "$TOP/tests/e2e/cli/guest/rping"
every guest 6.1 rxe -- "$TOP/tests/e2e/cli/guest/rping"
every guest 6.1 siw -- "$TOP/tests/e2e/cli/guest/rping"
finish
