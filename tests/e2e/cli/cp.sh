#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kverbs cp between hosts, into memory and onto disks, and when one end dies.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

here=$TOP/tests/e2e/cli/guest

one_host() {
	guest "$@" --disk 1G --timeout 1200 -- "$here/cp-one"
}

two_hosts() {
	guest "$@" --hosts 2 --timeout 1200 \
		--server 'mkdir /tmp/root; exec kverbs serve --root /tmp/root' \
		--server-ready 'kverbs ping -q -c 1 a' -- "$here/cp-two"
}

two_hosts 6.12 rxe
one_host 6.12 rxe
seldom two_hosts 6.12 siw
whole one_host 6.12 siw
whole two_hosts 6.1 rxe
whole one_host 6.1 rxe
whole two_hosts debug rxe
whole one_host debug rxe
finish
