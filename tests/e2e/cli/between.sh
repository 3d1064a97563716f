#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kverbs cp from one server to another.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

one_host() {
	guest "$@" --disk 1G --timeout 1200 -- "$TOP/tests/e2e/cli/guest/between"
}

whole one_host 6.12 rxe
every one_host 6.12 siw
every one_host 6.1 rxe
every one_host debug rxe
finish
