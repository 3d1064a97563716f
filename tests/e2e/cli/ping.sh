#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kverbs dev and kverbs ping between hosts.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

two_hosts() {
	guest "$@" --hosts 2 --server 'exec kverbs serve' \
		--server-ready 'kverbs ping -q -c 1 a' -- "$TOP/tests/e2e/cli/guest/ping"
}

core two_hosts 6.12 rxe
whole two_hosts 6.12 siw
every two_hosts 6.1 rxe
every two_hosts 6.1 siw
finish
