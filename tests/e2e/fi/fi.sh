#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The provider of libfabric with programs of libfabric, and with its verbs provider as a peer.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

build
make --no-print-directory -s -C "$TOP/libfabric" || exit 1
make --no-print-directory -s -C "$TOP/examples" || exit 1
[[ -e $TOP/libfabric/build/libkverbs-fi.so ]] || { echo "1..0 # SKIP libfabric is not installed"; exit 4; }
whole guest 6.12 rxe -- "$TOP/tests/e2e/fi/guest/fi"
whole guest 6.12 rxe -- fi_test
whole guest uml rxe -- fi_test
whole guest uml siw -- fi_test
whole guest uml rxe -- fi_cache_test
whole guest uml rxe -- "$TOP/tests/e2e/fi/guest/rpc" 400
every guest uml rxe --timeout 3000 -- "$TOP/tests/e2e/fi/guest/rpc" 2000
if [[ -e $TOP/tests/e2e/build/fi_mpi ]]; then
	whole guest uml rxe -- "$TOP/tests/e2e/fi/guest/mpi"
	every guest uml rxe --timeout 3000 -- "$TOP/tests/e2e/fi/guest/mpi" whole
else
	echo "# no tests of MPI: OpenMPI is not installed"
fi
finish
