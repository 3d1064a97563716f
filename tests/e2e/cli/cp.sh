#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kverbs cp between hosts.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

here=$TOP/tests/e2e/cli/guest

two_hosts() {
	guest "$@" --hosts 2 --timeout 1200 \
		--server 'mkdir /tmp/root; exec kverbs serve -v --root /tmp/root --super' \
		--server-ready 'kverbs ping -q -c 1 a' -- "$here/cp-two"
}

core two_hosts 6.12 rxe
whole two_hosts 6.12 siw
for kernel in 6.1 6.12-rt 7 debug debug-7; do
	every two_hosts "$kernel" rxe
done
finish
