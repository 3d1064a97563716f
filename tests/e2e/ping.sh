#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# kverbs dev and kverbs ping between hosts.
set -u
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

for kernel in 6.12 6.1; do
	for provider in rxe siw; do
		guest "$kernel" "$provider" --hosts 2 --server 'exec kverbs serve' \
			--server-ready 'kverbs ping -q -c 1 a' -- "$TOP/tests/e2e/guest/ping"
	done
done
finish
