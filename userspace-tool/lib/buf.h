/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_BUF_H
#define KVERBS_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "list.h"

/*
 * @kv: the context
 * @node: in the context's list, under its lock
 * @id: the region
 * @addr: where it starts
 * @size: how long it is, as the caller said
 * @mapped: bytes to unmap at @addr, 0: the memory is the caller's
 * @tracked: registered with KVERBS_REGION_TRACK
 * @stale: the memory has changed; atomic, set under the context's lock
 */
struct kverbs_buf {
	struct kverbs *kv;
	struct list_head node;
	uint32_t id;
	void *addr;
	size_t size;
	size_t mapped;
	bool tracked;
	bool stale;
};

/* Read which regions became stale; under the context's lock. Needs no tracked buffer. */
void kverbs_stale_reap(struct kverbs *kv);
/* Free what tracked buffers have in common, once they are freed. */
void kverbs_stale_close(struct kverbs *kv);

/* Whether @buf, which may be NULL if @length is 0, holds the range for @kv. */
bool kverbs_buf_holds(const struct kverbs_buf *buf, const struct kverbs *kv,
		      uint64_t offset, uint64_t length);

#endif /* KVERBS_BUF_H */
