#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kverbs bench on a host connected to itself.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

whole guest 6.12 rxe --timeout 900 -- "$TOP/tests/e2e/cli/guest/bench"
every guest 6.12 siw --timeout 900 -- "$TOP/tests/e2e/cli/guest/bench"
finish
