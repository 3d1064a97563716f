#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Who may do what, and how much of it; and that nobody is told more than he may know.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

build
core guest 6.12 rxe -- rights_test
every guest 6.12 siw -- rights_test
whole guest 6.1 rxe -- rights_test
every guest debug rxe -- rights_test
finish
