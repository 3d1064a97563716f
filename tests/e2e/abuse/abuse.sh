#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Peers that say nothing or nonsense, users at their limits, a link that comes and goes:
# nobody else is harmed, and nothing is left behind.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

build
whole guest 6.12 rxe -- abuse_test
whole guest 6.12 siw -- abuse_test
finish
