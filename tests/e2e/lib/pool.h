/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Receive pools: add buffers, and connections that receive into them. */
#ifndef E2E_POOL_H
#define E2E_POOL_H

#include "dev.h"

/**
 * struct pool - a mapped receive pool
 * @fd: the file
 * @id: id of the pool
 * @made: answer of POOL_CREATE
 * @user: this process's index
 * @bufs: the buffers
 * @kernel: the kernel's index and flags
 */
struct pool {
	int fd;
	uint32_t id;
	struct kverbs_cmd_pool_create made;
	struct kverbs_pool_user *user;
	struct kverbs_pool_buf *bufs;
	struct kverbs_pool_kernel *kernel;
};

void pool_open(struct pool *pool, int fd, uint32_t entries);
void pool_unmap(struct pool *pool);
void pool_put(struct pool *pool, const struct kverbs_pool_buf *buf);
void pool_add(struct pool *pool, uint32_t region, uint64_t offset, uint32_t length,
	      uint16_t id);
bool pool_is_waiting(const struct pool *pool);
int pool_wake(const struct pool *pool, const struct ring *ring);
/* Connect over @pair's listener; the passive side, of @pair's group, receives into the pool. */
void pool_join(const struct pool *pool, struct pair *pair, uint32_t rq_depth,
	       uint32_t *client, uint32_t *server);
/* Wait until the connection has so many receives posted. */
void pool_await_posted(struct ring *ring, uint32_t conn, uint32_t nr);

#endif /* E2E_POOL_H */
