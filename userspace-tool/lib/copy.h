/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Registered memory of a context or worker for the data of kverbs_send_copy(), in slots. A
 * request has the slot of its data from kverbs_req_begin() until it is complete or aborted.
 */
#ifndef KVERBS_COPY_H
#define KVERBS_COPY_H

struct kverbs;
struct kverbs_req;

/* Take back the slot of @req, if it has one; under kv->lock. */
void kverbs_copy_put(struct kverbs *kv, struct kverbs_req *req);
/* Free the slots of a context or worker that is being closed, without connections. */
void kverbs_copies_free(struct kverbs *kv);

#endif /* KVERBS_COPY_H */
