#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Storage over the same path, between two hosts with Debian's kernel: NVMe over Fabrics, iSER, SRP
# and NFS over RDMA each move 64 MiB, and kverbs doctor --for finds what stops them.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

for program in nvme iscsid rpc.nfsd; do
	PATH=$PATH:/usr/sbin type -P "$program" >/dev/null ||
		{ echo "1..0 # SKIP $program is not installed"; exit 4; }
done

build
two_hosts() {
	guest "$@" --hosts 2 --server "$TOP/tests/e2e/storage/guest/target" \
		--server-ready 'test -e /tmp/ready && kverbs ping -q -c 1 a' \
		-- "$TOP/tests/e2e/storage/guest/initiator"
}

whole two_hosts 6.12 rxe
finish
