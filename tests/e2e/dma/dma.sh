#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Addresses that a device uses: its bytes arrive, and when access has ended an IOMMU refuses them.
set -u
# shellcheck source=tests/e2e/lib/lib.sh
. "$(dirname "$(readlink -f "$0")")/../lib/lib.sh"

# Half of the memory is beyond 4 GiB.
edu() {
	# shellcheck disable=SC2016 # for the guest's shell
	guest "$1" none --hca --mem 4G "${@:2}" -- \
		'insmod $KVERBS_MODULES/tests/hca/edu_hca.ko && dma_test'
}

build
every edu 6.12 --iommu
every edu 6.1 --iommu
every edu 6.12
every edu 6.1
every edu 6.12 --append swiotlb=force
every edu 6.1 --append swiotlb=force
# Without an IOMMU, but with a record of all mappings.
every edu debug
finish
