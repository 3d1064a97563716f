#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# In steady state, moving data allocates no kernel memory.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

build
whole guest 6.12 rxe -- steady_test
every guest 6.12 rxe -- 'RING_FLAGS=1 steady_test'
every guest 6.1 rxe -- steady_test
finish
