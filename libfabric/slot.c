// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Inject slots: registered memory for data that the application may change as soon as the call
 * returns. The kernel copies nothing, so the provider does.
 */
#include <stdlib.h>

#include "fi_kverbs.h"
#include "sys.h"

#define CHUNK_SLOTS 128

struct kvf_chunk {
	struct kvf_chunk *next;
	void *mem;
	size_t size;
	uint32_t region_id;
	struct kvf_slot slots[CHUNK_SLOTS];
};

static int add_chunk(struct kvf_domain *domain)
{
	size_t each = (kvf_param.inject + 63) & ~63ul;
	struct kvf_chunk *chunk;
	unsigned int i;
	int ret;

	chunk = calloc(1, sizeof(*chunk));
	if (!chunk)
		return -FI_ENOMEM;
	chunk->size = (CHUNK_SLOTS * each + 4095) & ~4095ul;
	ret = kverbs_sys_mmap_anon(chunk->size, &chunk->mem);
	if (ret)
		goto out_free_chunk;
	ret = kvf_region_create(domain->fabric->fd, chunk->mem, chunk->size, false,
				&chunk->region_id);
	if (ret)
		goto out_unmap;
	for (i = 0; i < CHUNK_SLOTS; i++) {
		chunk->slots[i].region_id = chunk->region_id;
		chunk->slots[i].offset = i * each;
		chunk->slots[i].data = (char *)chunk->mem + i * each;
		kvf_slot_put(domain, &chunk->slots[i]);
	}
	chunk->next = domain->chunks;
	domain->chunks = chunk;
	return 0;

out_unmap:
	kverbs_sys_munmap(chunk->mem, chunk->size);
out_free_chunk:
	free(chunk);
	return ret;
}

struct kvf_slot *kvf_slot_get(struct kvf_domain *domain)
{
	struct kvf_slot *slot;

	if (!domain->free_slots && add_chunk(domain))
		return NULL;
	slot = domain->free_slots;
	domain->free_slots = slot->next;
	return slot;
}

void kvf_slot_put(struct kvf_domain *domain, struct kvf_slot *slot)
{
	slot->next = domain->free_slots;
	domain->free_slots = slot;
}

void kvf_slots_free(struct kvf_domain *domain)
{
	struct kvf_chunk *chunk;

	while ((chunk = domain->chunks)) {
		domain->chunks = chunk->next;
		kverbs_sys_destroy(domain->fabric->fd, chunk->region_id);
		kverbs_sys_munmap(chunk->mem, chunk->size);
		free(chunk);
	}
	domain->free_slots = NULL;
}
