/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The queue of a context or worker: requests with KVERBS_QUEUE that are complete and wait for
 * kverbs_poll(). No connection counts them, so that it can be freed before they are taken.
 */
#ifndef KVERBS_QUEUE_H
#define KVERBS_QUEUE_H

#include <stdbool.h>

#include <kverbs.h>

/* Whether a request goes to the queue, once it is complete. */
static inline bool kverbs_is_queued(const struct kverbs_req *req)
{
	return req->done == KVERBS_QUEUE;
}

/* Put a request that is due into the queue; under kv->lock. */
void kverbs_queue_add(struct kverbs *kv, struct kverbs_req *req);
/* Return all requests in the queue to the caller, which closes the context. */
void kverbs_queue_clear(struct kverbs *kv);

#endif /* KVERBS_QUEUE_H */
