#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kverbs and a test program that uses librdmacm and libibverbs like any other program.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

build
core guest 6.12 rxe -- rdmacm_test
whole guest 6.12 siw -- rdmacm_test
whole guest 6.1 rxe -- rdmacm_test
finish
