/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A queue over the fake device, with an owner that records the queue's callbacks. */
#ifndef KVERBS_FAKE_QUEUE_H
#define KVERBS_FAKE_QUEUE_H

#include <linux/kverbs.h>

#include "conn_io.h"
#include "fake_hca.h"
#include "queue.h"

/**
 * struct fake_queue - the queue and its owner
 * @hca: its device
 * @queue: the queue
 * @chain: memory to build a chain in
 * @broken: how often the owner was told that the queue is broken
 * @status: the last status reported with that
 * @revoked: the last key that the peer revoked
 * @kicks: how often the owner was kicked
 */
struct fake_queue {
	struct fake_hca *hca;
	struct kverbs_queue queue;
	struct kverbs_chain *chain;
	unsigned int broken;
	enum ib_wc_status status;
	u32 revoked;
	unsigned int kicks;
};

/**
 * struct fake_op - an operation
 * @req: the operation
 * @done: how often its completion was reported
 */
struct fake_op {
	struct kverbs_req req;
	unsigned int done;
};

struct fake_queue *fake_queue_create(struct kunit *test, unsigned int sq_depth,
				     unsigned int rq_depth);
struct fake_queue *fake_queue_up(struct kunit *test, unsigned int sq_depth,
				 unsigned int rq_depth);
void fake_queue_conn(struct kverbs_conn *conn, struct fake_hca *hca, unsigned int depth);
struct fake_op *fake_op_create(struct kunit *test, u8 opcode, u64 length);
int fake_queue_post(struct fake_queue *fake, struct fake_op *op, unsigned int nr_wrs);
struct fake_op *fake_queue_send(struct kunit *test, struct fake_queue *fake,
				unsigned int nr_wrs);
int fake_queue_try_park(struct fake_queue *fake, struct fake_op *op);
struct fake_op *fake_queue_park(struct kunit *test, struct fake_queue *fake);
struct kverbs_req *fake_queue_first_deferred(struct kverbs_queue *queue);
int fake_queue_post_parked(struct fake_queue *fake);

#endif /* KVERBS_FAKE_QUEUE_H */
