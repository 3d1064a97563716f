#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Observability for operators: trace events, and objects in debugfs.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

whole guest 6.12 rxe -- "$TOP/tests/e2e/cli/guest/observe"
whole guest 6.1 rxe -- "$TOP/tests/e2e/cli/guest/observe"
every guest 6.12 siw -- "$TOP/tests/e2e/cli/guest/observe"
every guest debug rxe -- "$TOP/tests/e2e/cli/guest/observe"
finish
