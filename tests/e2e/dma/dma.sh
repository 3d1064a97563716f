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
whole edu 6.12 --iommu
whole edu 6.1 --iommu
whole edu 6.12
whole edu 6.1
whole edu 6.12 --append swiotlb=force
whole edu 6.1 --append swiotlb=force
# Without an IOMMU, but with a record of all mappings.
whole edu debug
finish
