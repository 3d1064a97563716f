/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A batch: the operations of one call, on their way into the ring.
 */
#ifndef KVERBS_BATCH_H
#define KVERBS_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <kverbs.h>

struct kverbs_ring_watch;

/*
 * struct kverbs_batch_wait - a wait that follows posting, so that one SUBMIT does both
 * @req: the request that is waited for: one that is complete already is not; NULL: none
 * @deadline: when the wait ends
 * @watch: a byte whose change ends it as well, NULL: none
 * @early: set if the wait ended without a completion: by @deadline, or by a signal
 */
struct kverbs_batch_wait {
	const struct kverbs_req *req;
	uint64_t deadline;
	const struct kverbs_ring_watch *watch;
	bool early;
};

/*
 * @conn: the connection
 * @ops: the operations
 * @nr: how many
 * @wait: for the only one, NULL: no
 * @slot: slot of the data of the only one, set to 0 when its request takes it over; NULL: none
 * @nowait: post what there is room for now
 * @deadline: else when the wait for room ends, 0: never
 */
struct kverbs_batch {
	struct kverbs_conn *conn;
	const struct kverbs_op *ops;
	size_t nr;
	struct kverbs_batch_wait *wait;
	unsigned int *slot;
	bool nowait;
	uint64_t deadline;
};

/* How many of them were posted, or -errno why the first one was not. */
int kverbs_batch_post(const struct kverbs_batch *batch);

#endif /* KVERBS_BATCH_H */
