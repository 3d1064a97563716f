#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kverbs hosts: two hosts that announce servers, and a simulated InfiniBand subnet.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

for program in avahi-daemon dbus-daemon ibsim opensm; do
	PATH=$PATH:/usr/sbin command -v "$program" >/dev/null ||
		{ echo "1..0 # SKIP there is no $program"; exit 4; }
done
here=$TOP/tests/e2e/cli/guest

two_hosts() {
	guest "$@" --hosts 2 --server "$here/hosts a" --server-ready 'kverbs ping -q -c 1 a' -- "$here/hosts"
}

whole two_hosts 6.12 rxe
every two_hosts 6.12 siw
finish
