#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A peer on another host is kept alive, dies, or is cut off.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

build
# Its tests wait for intervals of keepalive, that is for minutes, and do little meanwhile.
two_hosts() {
	guest "$1" "$2" --idle --hosts 2 --server twohost_server \
		--server-ready 'pidof twohost_server' -- twohost_test
}

core two_hosts 6.12 rxe
every two_hosts 6.12 siw
finish
