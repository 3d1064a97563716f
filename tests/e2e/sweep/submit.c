// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* SUBMIT with one entry. */
#include "world.h"

#define LENGTH	8192
#define LONG	(64 * 4096)
#define WORK	0x30b

static int submit(struct world *w, struct kverbs_sqe sqe)
{
	sqe.user_data = WORK;
	return ring_put(&w->ring, &sqe);
}

int submit_recv(struct world *w)
{
	return submit(w, sqe_recv(w->server, w->region, 1, LENGTH));
}

/* The buffer is so long that it is registered first. */
int submit_long_recv(struct world *w)
{
	return submit(w, sqe_recv(w->server, w->region, 4 * LENGTH, WORLD_MEMORY - 4 * LENGTH));
}

/* The receive completes when a message arrives; if it was lost, the wait times out. */
int settle_recv(struct world *w)
{
	struct kverbs_sqe sqe = sqe_send(w->client, w->region, 2 * LENGTH, LENGTH);
	int ret = ring_put(&w->ring, &sqe);

	return ret ? ret : ring_work(&w->ring, WORK).result;
}

void world_with_recv(struct world *w)
{
	struct kverbs_sqe recv;

	world_with_memory(w);
	recv = sqe_recv(w->server, w->region, 2 * LENGTH, LENGTH);
	CHECK_OK(ring_put(&w->ring, &recv));
}

int submit_send(struct world *w)
{
	return submit(w, sqe_send(w->client, w->region, 0, LENGTH));
}

int submit_write(struct world *w)
{
	return submit(w, sqe_rdma(KVERBS_OP_WRITE, w->client, w->region, LENGTH + 1,
				  LENGTH, &w->seg));
}

int submit_read(struct world *w)
{
	return submit(w, sqe_rdma(KVERBS_OP_READ, w->client, w->region, LENGTH + 1,
				  LENGTH, &w->seg));
}

int submit_list(struct world *w)
{
	const struct kverbs_piece pieces[] = {
		{ .offset = LENGTH, .length = 100, .region_id = w->region },
		{ .offset = 3 * LENGTH, .length = LENGTH, .region_id = w->region },
	};
	struct kverbs_sqe sqe = sqe_rdma(KVERBS_OP_WRITE, w->client, 0,
					 (uintptr_t)pieces, ARRAY_SIZE(pieces), &w->seg);

	sqe.flags |= KVERBS_SQE_LIST;
	return submit(w, sqe);
}

/* The buffer has so many pages that it is registered first. */
int submit_long(struct world *w)
{
	return submit(w, sqe_rdma(KVERBS_OP_WRITE, w->client, w->region,
				  WORLD_MEMORY - LONG, LONG, &w->seg));
}

int settle_work(struct world *w)
{
	return ring_work(&w->ring, WORK).result;
}
