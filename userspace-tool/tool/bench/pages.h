/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory of a kind of pages, all of them there before anything is measured. */
#ifndef KVERBS_TOOL_PAGES_H
#define KVERBS_TOOL_PAGES_H

#include <stddef.h>

enum pages_kind {
	PAGES_BASE,	/* the smallest that the machine has */
	PAGES_HUGE,
	PAGES_KINDS,
};

/**
 * struct pages - some memory
 * @addr: its start, where a page starts
 * @mapped: what there is from there on, bytes
 */
struct pages {
	void *addr;
	size_t mapped;
};

/* Bytes of a page. */
size_t pages_bytes(enum pages_kind kind);
/* 0, -ENOMEM, or -ENODATA: there are no huge pages to be had. */
int pages_alloc(struct pages *p, enum pages_kind kind, size_t size);
void pages_free(struct pages *p);

#endif /* KVERBS_TOOL_PAGES_H */
