#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Everything goes at any moment - files, processes, peers, devices, modules - and
# leaves nothing behind.
set -u
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

build
guest 6.12 rxe -- teardown_test
guest 6.12 siw -- teardown_test
guest 6.1 rxe -- teardown_test
for provider in rxe siw; do
	guest 6.12 "$provider" --hosts 2 --server twohost_server \
		--server-ready 'pidof twohost_server' -- twohost_test
done
some=(traffic "SIGKILL while writing" "rmmod kverbs")
[[ ! ${KVERBS_WHOLE:-} ]] || some=()
guest debug rxe -- teardown_test "${some[@]}"
finish
