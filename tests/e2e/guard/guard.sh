#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A server that is guarded: by addresses, a key, limits; how it reads again and ends.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

both() {
	guest "$@" --timeout 1400 -- guard_test
	guest "$@" --timeout 1400 -- "$TOP/tests/e2e/cli/guest/guard"
}

build
both 6.12 rxe
whole both 6.12 siw
whole both 6.1 rxe
whole both 6.1 siw
whole both debug rxe
finish
