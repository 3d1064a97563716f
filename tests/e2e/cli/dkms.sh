#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# DKMS builds the module for each kernel that is installed, and removes it with the kernel.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

[[ $(id -u) = 0 ]] || { echo "1..0 # SKIP packages are installed in a chroot, which wants root"; exit 4; }
try() {
	! wanted "$1" rxe || "$TOP/scripts/package-test" --dkms "$1" || RESULT=1
}

for kernel in 6.1 6.12 7; do
	every try "$kernel"
done
finish
