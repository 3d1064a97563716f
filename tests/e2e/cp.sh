#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kverbs cp between hosts, into memory and onto disks, and when one end dies.
set -u
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

here=$TOP/tests/e2e/guest
for kernel in 6.12 6.1 debug; do
	guest "$kernel" rxe --hosts 2 --timeout 1200 \
		--server 'mkdir /tmp/root; exec kverbs serve --root /tmp/root' \
		--server-ready 'kverbs ping -q -c 1 a' -- "$here/cp-two"
	guest "$kernel" rxe --disk 1G --timeout 1200 -- "$here/cp-one"
done
guest 6.12 siw --hosts 2 --timeout 900 \
	--server 'mkdir /tmp/root; exec kverbs serve --root /tmp/root' \
	--server-ready 'kverbs ping -q -c 1 a' -- "$here/cp-two"
guest 6.12 siw --disk 1G --timeout 900 -- "$here/cp-one"
finish
