#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A host whose RDMA subsystem is replaced as by DOCA-OFED: the module is built for the
# replacement, or not at all.
set -u
# shellcheck source=tests/e2e/lib/lib.bash
. "$(dirname "$(readlink -f "$0")")/../lib/lib.bash"
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

kernel=6.12-ofed
here=$TOP/tests/e2e/cli/guest
work=$TOP/build/ofed

# on_host MODULES HEADERS [MAKE-ARGUMENT...]: compile the file that tells what the module is
# built for, on a host with this /lib/modules and this /usr/src/ofa_kernel
on_host() {
	local modules=$1 headers=$2
	shift 2

	rm -rf "$work/source" && mkdir -p "$work/source" &&
		cp -r "$TOP"/{Kbuild,include,kmod,uapi} "$work/source" &&
		bwrap --dev-bind / / --bind "$modules" /lib/modules --tmpfs /usr/src \
			--bind "$headers" /usr/src/ofa_kernel \
			make -C "$dir/build" M="$work/source" "$@" kmod/core/ib_core.o
}

# is_built_for WHAT MODULES HEADERS [MAKE-ARGUMENT...]
is_built_for() {
	local what=$1
	shift

	on_host "$@" && strings "$work/source/kmod/core/ib_core.o" | grep -x "ib_core=$what"
}

says_so() {
	on_host "$dir/lib/modules" "$dir/ofa_kernel" |
		grep -x 'kverbs: building for the RDMA subsystem of /usr/src/ofa_kernel/x86_64/.*'
}

is_refused() {
	local why=$1
	shift

	! on_host "$@" >"$work/log" 2>&1 && says "$why" cat "$work/log"
}

# The headers of another kernel, as a kernel upgrade leaves them before DKMS has run.
of_another_kernel() {
	mkdir -p "$work/another/x86_64" &&
		cp -r "$dir/ofa_kernel/default/." "$work/another/x86_64/6.0.0" &&
		ln -s x86_64/6.0.0 "$work/another/default" &&
		echo KVERSION=6.0.0 >"$work/another/default/configure.mk.kernel"
}

# A kernel's modules together with a kverbs.ko for the RDMA subsystem that was replaced.
install_wrong() {
	local release

	release=$(cat "$dir/release") && mkdir -p "$work/modules" "$work/all/lib" &&
		ln -s "$work/modules" "$work/all/lib/modules" &&
		cp -rs "$dir/lib/modules/$release" "$work/modules/" &&
		install -m 644 "$wrong/kmod/kverbs.ko" "$work/modules/$release/updates/kverbs.ko" &&
		depmod -b "$work/all" "$release" 2>/dev/null && find "$work/modules" -type l -delete
}

build_tests() {
	dir=$("$TOP/scripts/kernel" "$kernel") && plain=$("$TOP/scripts/kernel" 6.12) &&
		wrong=$("$TOP/scripts/module" 6.12) && right=$("$TOP/scripts/module" "$kernel") ||
		exit 1
	rm -rf "$work"
	mkdir -p "$work/none"
	check "headers are found" is_built_for replaced "$dir/lib/modules" "$dir/ofa_kernel"
	check "the build says so" says_so
	check "without headers nothing is built" is_refused 'its headers are not in' \
		"$dir/lib/modules" "$work/none"
	check "headers of another kernel can be made" of_another_kernel
	check "with headers of another kernel nothing is built" is_refused 'are of kernel 6.0.0' \
		"$dir/lib/modules" "$work/another"
	check "KVERBS_OFED=DIR names the headers" is_built_for replaced \
		"$plain/lib/modules" "$work/none" KVERBS_OFED="$dir/ofa_kernel/default"
	check "KVERBS_OFED=n builds for the kernel's own" is_built_for kernel \
		"$dir/lib/modules" "$dir/ofa_kernel" KVERBS_OFED=n
	check "headers alone make no replacement" is_built_for kernel \
		"$plain/lib/modules" "$dir/ofa_kernel"
	check "a wrong module can be installed" install_wrong
}

guests() {
	wanted "$kernel" rxe || return 0
	build_tests
	guest "$kernel" rxe --no-module -- "$here/ofed" "$work/modules" "$right/kmod/kverbs.ko"
	guest "$kernel" rxe -- data_test
}

build
every guests
[[ $FAILED -eq 0 ]] || RESULT=1
finish
