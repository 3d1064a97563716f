#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The module of Python on a device, and its examples as their readers would run them.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

make --no-print-directory -s -C "$TOP/userspace-tool" build/libkverbs.so || exit 1
whole guest 6.12 rxe -- "$TOP/tests/e2e/python/guest/python"
whole guest uml rxe -- "$TOP/tests/e2e/python/guest/python"
every guest 6.12 siw -- "$TOP/tests/e2e/python/guest/python"
finish
