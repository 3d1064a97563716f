/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests in the order of completion, linked by their priv.next.
 */
#ifndef KVERBS_FIFO_H
#define KVERBS_FIFO_H

#include <stddef.h>

#include <kverbs.h>

struct kverbs_fifo {
	struct kverbs_req *first, *last;
};

static inline void fifo_add(struct kverbs_fifo *fifo, struct kverbs_req *req)
{
	req->priv.next = NULL;
	if (fifo->last)
		fifo->last->priv.next = req;
	else
		fifo->first = req;
	fifo->last = req;
}

/* NULL: there is none. */
static inline struct kverbs_req *fifo_pop(struct kverbs_fifo *fifo)
{
	struct kverbs_req *req = fifo->first;

	if (!req)
		return NULL;
	fifo->first = req->priv.next;
	if (!fifo->first)
		fifo->last = NULL;
	return req;
}

#endif /* KVERBS_FIFO_H */
