#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A guarded server: addresses, keys, limits, reloading, shutdown.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

both() {
	guest "$@" --timeout 1400 -- guard_test
	guest "$@" --timeout 1400 -- "$TOP/tests/e2e/cli/guest/guard"
}

build
whole both 6.12 rxe
every both 6.12 siw
every both 6.1 rxe
every both 6.1 siw
every both debug rxe
finish
