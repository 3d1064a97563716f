#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Rights and limits of users, and that the kernel reveals no more than they may know.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

build
core guest 6.12 rxe --disk 512M -- rights_test
every guest 6.12 siw -- rights_test
whole guest 6.1 rxe --disk 512M -- rights_test
every guest debug rxe -- rights_test
# Only some CPUs have protection keys.
whole guest 6.12 rxe --pku -- rights_test "protection key"
whole guest 6.1 rxe --pku -- rights_test "protection key"
finish
