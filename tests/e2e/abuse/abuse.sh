#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Silent and misbehaving peers, users at their limits, a flapping link: others are not affected,
# and nothing leaks.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

build
whole guest 6.12 rxe -- abuse_test
whole guest 6.12 siw -- abuse_test
finish
