#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The commands of the page about containers, in a guest.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

command -v bwrap >/dev/null || { echo "1..0 # SKIP there is no bwrap"; exit 4; }
mkdir -p "$TOP/build/containers"
"$TOP/tests/e2e/cli/doc_commands" | sed -n 's|^guide/containers\.rst:[0-9]*\t||p' \
	>"$TOP/build/containers/commands"
whole guest 6.12 rxe -- "$TOP/tests/e2e/cli/guest/containers" "$TOP/build/containers/commands"
every guest 6.1 rxe -- "$TOP/tests/e2e/cli/guest/containers" "$TOP/build/containers/commands"
finish
