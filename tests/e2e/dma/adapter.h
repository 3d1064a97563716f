/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The adapter of tests/hca: the bus addresses that it was given, its DMA engine, its removal. */
#ifndef DMA_ADAPTER_H
#define DMA_ADAPTER_H

#include "dev.h"

#define ADDRESSES	512
/* The byte that adapter_write() writes */
#define STRANGE_BYTE	0xee

/**
 * struct address - an address in a work request
 * @what: "send" or "recv" in an entry, "page" of a registered MR
 * @addr: the address
 * @length: bytes
 */
struct address {
	char what[8];
	uint64_t addr;
	uint64_t length;
};

/**
 * struct addresses - all addresses, in the order of posting
 * @nr: their number
 * @list: the addresses
 */
struct addresses {
	size_t nr;
	struct address list[ADDRESSES];
};

void adapter_forget(void);
void adapter_addresses(struct addresses *addresses);
uint64_t adapter_address(const char *what);
size_t adapter_count(const char *what);
void adapter_write(uint64_t addr, size_t length);
void adapter_read(uint64_t addr, void *bytes, size_t length);

bool adapter_has_iommu(void);
bool adapter_bounces(void);
size_t adapter_mappings(void);
long adapter_faults(void);
void adapter_expect_write_fault(uint64_t addr);
void adapter_expect_read_fault(uint64_t addr);
void adapter_expect_zeros(uint64_t addr);
void adapter_expect_no_access(uint64_t addr, const char *memory);

void adapter_unbind(void);
void adapter_bind(void);
void adapter_set(const char *parameter, const char *value);
bool adapter_can_be_unplugged(void);
void adapter_unplug(void);
void adapter_plug(void);

#endif /* DMA_ADAPTER_H */
