/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A batch: the operations of one call, on their way into the ring.
 */
#ifndef KVERBS_BATCH_H
#define KVERBS_BATCH_H

#include <kverbs.h>

/*
 * @conn: the connection
 * @ops: the operations
 * @nr: how many
 * @pieces: the local buffer of the only one, if that is a list; it has no other then
 * @nr_pieces: how many
 */
struct kverbs_batch {
	struct kverbs_conn *conn;
	const struct kverbs_op *ops;
	size_t nr;
	const struct kverbs_piece *pieces;
	size_t nr_pieces;
};

/* How many of them were posted, or -errno why the first one was not. */
int kverbs_batch_post(const struct kverbs_batch *batch);

#endif /* KVERBS_BATCH_H */
