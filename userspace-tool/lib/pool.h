/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Receive pools: buffers that no connection has yet, each with the request that it completes.
 */
#ifndef KVERBS_POOL_H
#define KVERBS_POOL_H

#include <stdbool.h>

#include <kverbs.h>

#include "list.h"

/*
 * @kv: the context; its lock covers what follows
 * @node: in the context's list
 * @id: the object
 * @entries: size of the ring, and of @reqs and @free_ids
 * @user, @bufs, @kernel: the ring
 * @user_size, @kernel_size: of the mappings
 * @tail: buffers added
 * @reqs: by the id of a buffer
 * @free_ids: ids that no buffer has, a stack
 * @nr_free: length of @free_ids
 */
struct kverbs_pool {
	struct kverbs *kv;
	struct list_head node;
	uint32_t id;
	uint32_t entries;
	struct kverbs_pool_user *user;
	struct kverbs_pool_buf *bufs;
	const struct kverbs_pool_kernel *kernel;
	size_t user_size, kernel_size;
	uint32_t tail;
	struct kverbs_req **reqs;
	uint16_t *free_ids;
	uint32_t nr_free;
};

/* These are called with kv->lock held. */

/* The request of a buffer that has completed on @conn, which owns it now; NULL: a wrong id. */
struct kverbs_req *kverbs_pool_take(struct kverbs_conn *conn, uint16_t id);
/* Let the kernel look at the pools that connections wait at, after completions were read. */
void kverbs_pools_wake(struct kverbs *kv);

/* Free all pools of a context that is being closed, without connections. */
void kverbs_pools_free(struct kverbs *kv);

#endif /* KVERBS_POOL_H */
