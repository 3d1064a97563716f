/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A receive pool as user space has it, and connections that receive into it. */
#ifndef KVERBS_FAKE_POOL_H
#define KVERBS_FAKE_POOL_H

#include <kunit/test.h>

#include "conn_cmd.h"
#include "fake_device.h"
#include "fake_file.h"
#include "pool_obj.h"
#include "region_cmd.h"

#define FAKE_POOL_ENTRIES	8
#define FAKE_POOL_BUF		256
#define FAKE_POOL_MEM		(4 * PAGE_SIZE)
/* The user_data of each connection */
#define FAKE_POOL_DATA		0x1234

/**
 * struct fake_pool - a file with a ring, a pool and a region on a device
 * @test: the test, at whose end the file is closed
 * @hca: the device
 * @file: the file
 * @ring: the ring of all connections
 * @pool: the pool
 * @addr: FAKE_POOL_MEM bytes of user memory, and a page for parameters
 * @region: region of the first FAKE_POOL_MEM bytes
 * @nr_read: completions read
 * @group_id: group of the connections that are started, or 0
 */
struct fake_pool {
	struct kunit *test;
	struct fake_hca *hca;
	struct kverbs_file *file;
	struct kverbs_ring *ring;
	struct kverbs_pool_obj *pool;
	unsigned long addr;
	struct kverbs_region_obj *region;
	u32 nr_read;
	u32 group_id;
};

struct kverbs_region_obj *fake_pool_region(struct fake_pool *p, u32 flags);
int fake_pool_try_create(struct fake_pool *p, struct kverbs_cmd_pool_create *cmd);
struct fake_pool *fake_pool_create(struct kunit *test, struct fake_hca *hca,
				   u32 cq_entries);
struct kverbs_pool_user *fake_pool_user(struct fake_pool *p);
struct kverbs_pool_kernel *fake_pool_kernel(struct fake_pool *p);
u32 fake_pool_flags(struct fake_pool *p);
bool fake_pool_is_waiting(struct fake_pool *p);
void fake_pool_put(struct fake_pool *p, const struct kverbs_pool_buf *buf);
void fake_pool_add(struct fake_pool *p, u16 first, unsigned int nr);
int fake_pool_wake(struct fake_pool *p);
struct kverbs_cqe fake_pool_cqe(struct fake_pool *p);
void fake_pool_expect_event(struct fake_pool *p, enum kverbs_cqe_type type);
void fake_pool_settle(struct kverbs_conn *conn);
struct kverbs_conn_obj *fake_pool_connect(struct fake_pool *p, unsigned int depth);
struct kverbs_conn_obj *fake_pool_start(struct fake_pool *p, unsigned int depth);
struct kverbs_conn_obj *fake_pool_establish(struct fake_pool *p, unsigned int depth);
void fake_pool_expect_flushed(struct fake_pool *p, u16 id);
long fake_pool_uses(struct fake_pool *p);

#endif /* KVERBS_FAKE_POOL_H */
