#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Connections and operations that fail, each for another reason: the reason is the first cause that
# the library, the commands and the log of the server name.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

build
two_hosts() {
	guest "$@" --hosts 2 \
		--server 'explain_server & exec kverbs serve -v' \
		--server-ready 'kverbs ping -q -c 1 a && pidof explain_server' \
		-- "$TOP/tests/e2e/explain/guest/explain"
}

whole two_hosts 6.12 rxe
finish
