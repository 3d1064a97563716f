#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Peers that say nothing or nonsense, users at their limits, a link that comes and goes:
# nobody else is harmed, and nothing is left behind.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

build
# A process that has too little memory is meant to be killed.
oom="Memory cgroup out of memory"
whole guest 6.12 rxe --ignore "$oom" -- abuse_test
whole guest 6.12 siw --ignore "$oom" -- abuse_test
finish
