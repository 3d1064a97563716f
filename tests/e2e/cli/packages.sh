#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Debian packages, from build to purge, on a Debian system that boots with them.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

KERNELS=()
choose() {
	! wanted "$1" rxe || KERNELS+=("$1")
}

[[ $(id -u) = 0 ]] || { echo "1..0 # SKIP packages are installed in a chroot, which wants root"; exit 4; }
whole choose 6.12
every choose 6.1
[[ ${#KERNELS[@]} -eq 0 ]] || "$TOP/scripts/package-test" "${KERNELS[@]}" || RESULT=1
finish
