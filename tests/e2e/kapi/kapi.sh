#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A module out of the tree, examples/kernel, is built against the exported symbols alone, and moves
# data with them.
set -u
# shellcheck source=tests/e2e/lib/lib.bash
. "$(dirname "$(readlink -f "$0")")/../lib/lib.bash"
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

# build_example KERNEL: build it in $work, with kverbs in $dir
build_example() {
	local kernel arch=()

	kernel=$("$TOP/scripts/kernel" "$1") || return
	[[ ! -e $kernel/bin/make ]] || PATH=$kernel/bin:$PATH
	[[ $1 != uml ]] || arch=(ARCH=um)
	rm -rf "$work"
	mkdir -p "$work"
	cp "$TOP"/examples/kernel/{Kbuild,pull.c} "$work"
	if ! make -C "$kernel/build" M="$work" KVERBS="$dir" W=1 "${arch[@]}" modules \
		>"$work/log" 2>&1; then
		cat "$work/log"
		return 1
	fi
	! grep -E '(^|/)pull\.[a-z.]+:.*warning:|WARNING: modpost' "$work/log"
}

# Print the symbols of kverbs that the example needs.
imports() {
	nm -u "$work/pull.ko" | awk '$2 ~ /^kverbs_/ { print $2 }' | sort
}

uses_namespace_only() {
	local others

	imports | grep -q . || return
	others=$(comm -23 <(imports) \
		<(awk -F '\t' '$5 == "KVERBS" { print $2 }' "$dir/Module.symvers" | sort))
	echo "$others"
	[[ ! $others ]]
}

# kverbs exports nothing else, unless it is built for its tests.
exports_namespace_only() {
	local others

	others=$(awk -F '\t' '$3 ~ /kverbs$/ && $5 != "KVERBS" { print $2 }' "$dir/Module.symvers")
	echo "$others"
	[[ ! $others ]]
}

try() {
	local kernel=$1 provider=$2 work=$TOP/build/kapi/$1 dir

	wanted "$kernel" "$provider" || return 0
	# The module is built for the kernel that is named.
	[[ $kernel = "${KVERBS_INSTEAD:-$kernel}" ]] || return 0
	dir=$("$TOP/scripts/module" "$kernel") || exit 1
	check "$kernel: kverbs exports symbols of its namespace only" exports_namespace_only
	check "$kernel: a module is built with the public header" build_example "$kernel"
	check "$kernel: the module uses symbols of the namespace only" uses_namespace_only
	guest "$kernel" "$provider" -- "$TOP/tests/e2e/kapi/guest" "$work/pull.ko"
}

core try 6.12 rxe
whole try 6.12 siw
whole try 6.1 rxe
every try 6.1 siw
every try uml rxe
every try uml siw
every try debug rxe
every try debug siw
every try 7 rxe
[[ $FAILED -eq 0 ]] || RESULT=1
finish
