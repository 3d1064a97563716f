#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kverbs doctor on a host with a server as its peer: it finds exactly the injected problems, and
# its remedies fix them.
set -u
# shellcheck source=tests/e2e/lib/lib.bash
. "$(dirname "$(readlink -f "$0")")/../lib/lib.bash"
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

# A kernel's modules together with kverbs.ko, as after an installation.
install_module() {
	local kernel=$1 dir=$TOP/build/doctor/$1 source built release

	source=$("$TOP/scripts/kernel" "$kernel") && built=$("$TOP/scripts/module" "$kernel") ||
		return
	release=$(cat "$source/release")
	rm -rf "$dir"
	mkdir -p "$dir/modules" "$dir/all/lib" && ln -s "$dir/modules" "$dir/all/lib/modules" &&
		cp -rs "$source/lib/modules/$release" "$dir/modules/" &&
		install -D -m 644 "$built/kmod/kverbs.ko" "$dir/modules/$release/updates/kverbs.ko" &&
		depmod -b "$dir/all" "$release" &&
		find "$dir/modules" -type l -delete
}

# A peer with a smaller MTU than this host supports.
two_hosts() {
	local kernel=$1 provider=$2

	wanted "$kernel" "$provider" || return 0
	check "$kernel: the module can be installed" install_module "$kernel"
	guest "$kernel" "$provider" --hosts 2 \
		--server 'ip link set eth0 mtu 1500; exec kverbs serve' \
		--server-ready 'kverbs ping -q -c 1 a' \
		-- "$TOP/tests/e2e/cli/guest/doctor" "$TOP/build/doctor/$kernel/modules"
}

build
whole two_hosts 6.12 rxe
whole guest 6.12 rxe -- "$TOP/tests/e2e/cli/guest/doctor-ib"
every two_hosts 6.12 siw
every two_hosts 6.1 rxe
every two_hosts 6.1 siw
[[ $FAILED -eq 0 ]] || RESULT=1
finish
