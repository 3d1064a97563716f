#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Two hosts with two links between them, of which one is cut during a copy.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

two_links() {
	guest "$@" --hosts 2 --links 2 --timeout 1200 \
		--server 'mkdir /tmp/root; exec kverbs serve --root /tmp/root' \
		--server-ready 'kverbs ping -q -c 1 a && kverbs ping -q -c 1 a.2' \
		-- "$TOP/tests/e2e/cli/guest/paths"
}

whole two_links 6.12 rxe
every two_links 6.12 siw
finish
