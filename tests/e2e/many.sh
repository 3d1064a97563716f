#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A thousand connections at a time: what they cost, and that they leave nothing.
set -u
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

build
for provider in rxe siw; do
	guest 6.12 "$provider" --mem 4G -- many_test
done
finish
