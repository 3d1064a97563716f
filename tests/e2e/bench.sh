#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kverbs bench, in one host with itself.
set -u
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

for provider in rxe siw; do
	guest 6.12 "$provider" --timeout 900 -- "$TOP/tests/e2e/guest/bench"
done
finish
