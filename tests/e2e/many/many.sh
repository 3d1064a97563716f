#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A thousand connections at a time: their cost, and leaks.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

build
rounds=3
[[ $LEVEL != every ]] || rounds=10
whole guest 6.12 rxe --mem 4G -- env MANY_ROUNDS="$rounds" many_test
every guest 6.12 siw --mem 4G -- env MANY_ROUNDS="$rounds" many_test
finish
