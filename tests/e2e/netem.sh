#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Two hosts with a bad network between them.
set -u
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

for provider in rxe siw; do
	guest 6.12 "$provider" --hosts 2 --timeout 1200 \
		--server 'mkdir /tmp/root; exec kverbs serve --root /tmp/root' \
		--server-ready 'kverbs ping -q -c 1 a' -- "$TOP/tests/e2e/guest/netem"
done
finish
