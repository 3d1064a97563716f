#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Two hosts with a bad network between them.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

two_hosts() {
	guest "$@" --hosts 2 --timeout 1200 \
		--server 'mkdir /tmp/root; exec kverbs serve --root /tmp/root' \
		--server-ready 'kverbs ping -q -c 1 a' -- "$TOP/tests/e2e/cli/guest/netem"
}

whole two_hosts 6.12 rxe
every two_hosts 6.12 siw
finish
