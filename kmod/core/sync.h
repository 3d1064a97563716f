/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_SYNC_H
#define KVERBS_SYNC_H

#include <linux/completion.h>
#include <rdma/ib_verbs.h>

struct kverbs_cq_set;
struct kverbs_queue;

/* Send slots that only kverbs_sync_post() uses, so that operations cannot starve it. */
#define KVERBS_SYNC_WRS	16

/**
 * struct kverbs_sync - synchronous chains of registrations and invalidations
 * @queue: where the chains are posted
 * @last: completion of a chain's last work request
 * @part: completions of the work requests before it, which come only on failure
 * @done: the chain has completed
 * @busy: the chain has not completed, even if its waiter was killed
 * @timeout: jiffies without progress after which the connection ends
 * @status: of the first work request that failed
 *
 * One chain at a time; the caller of kverbs_sync_post() excludes others.
 */
struct kverbs_sync {
	struct kverbs_queue *queue;
	struct ib_cqe last;
	struct ib_cqe part;
	struct completion done;
	bool busy;
	unsigned long timeout;
	enum ib_wc_status status;
};

void kverbs_sync_init(struct kverbs_sync *sync, struct kverbs_queue *queue);
int kverbs_sync_post(struct kverbs_sync *sync, struct kverbs_cq_set *cqs,
		     struct ib_send_wr *first, struct ib_send_wr *last);
void kverbs_sync_abort(struct kverbs_sync *sync);

#endif /* KVERBS_SYNC_H */
