// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receive pools: what is refused, and what a pool that lies does. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pool.h"

#define RW	(PROT_READ | PROT_WRITE)

static char memory[4096] __aligned(4096);
static struct pair pair;
static struct pool pool;

static int try_map(uint64_t offset, uint64_t size, int prot, int flags)
{
	return mmap(NULL, size, prot, flags, pool.fd, offset) == MAP_FAILED ? -errno : 0;
}

TEST(a_pool_has_two_areas_and_one_of_them_is_only_read)
{
	const struct kverbs_cmd_pool_create *made = &pool.made;

	pool_open(&pool, dev_open(), 256);
	CHECK_EQ(pool.kernel->entries, 256);
	CHECK_ERR(try_map(made->out_kernel_offset, made->out_kernel_size, RW, MAP_SHARED),
		  EPERM);
	CHECK_ERR(try_map(made->out_user_offset, made->out_user_size, RW, MAP_PRIVATE), EINVAL);
	CHECK_ERR(try_map(made->out_user_offset, made->out_user_size + 4096, RW, MAP_SHARED),
		  EINVAL);
	CHECK_ERR(try_map(made->out_user_offset, made->out_user_size, RW | PROT_EXEC,
			  MAP_SHARED), EPERM);
	CHECK_ERR(try_map(made->out_kernel_offset + (1ULL << 28), 4096, PROT_READ, MAP_SHARED),
		  EINVAL);
}

TEST(a_mapping_outlives_its_pool)
{
	pool_open(&pool, dev_open(), 4);
	CHECK_OK(dev_destroy(pool.fd, pool.id));
	pool.user->tail = 0x12345678;
	CHECK_EQ(pool.user->tail, 0x12345678);
	CHECK_ERR(try_map(pool.made.out_user_offset, pool.made.out_user_size, RW, MAP_SHARED),
		  EINVAL);
	CHECK_ERR(dev_destroy(pool.fd, pool.id), ENOENT);
}

TEST(INFO_tells_the_limits_of_pools_and_they_hold)
{
	struct kverbs_cmd_info info = { .size = sizeof(info) };
	struct kverbs_cmd_pool_create cmd = { .size = sizeof(cmd) };
	int fd = dev_open();
	uint32_t i;

	CHECK_OK(dev_cmd(fd, KVERBS_INFO, &info));
	CHECK(info.out_features & KVERBS_FEATURE_POOL);
	CHECK(info.out_max_pools && info.out_max_pool_entries);
	cmd.entries = info.out_max_pool_entries;
	CHECK_OK(dev_cmd(fd, KVERBS_POOL_CREATE, &cmd));
	cmd.entries = 2 * info.out_max_pool_entries;
	CHECK_ERR(dev_cmd(fd, KVERBS_POOL_CREATE, &cmd), EINVAL);
	cmd.entries = 1;
	for (i = 1; i < info.out_max_pools; i++)
		CHECK_OK(dev_cmd(fd, KVERBS_POOL_CREATE, &cmd));
	CHECK_ERR(dev_cmd(fd, KVERBS_POOL_CREATE, &cmd), ENOMEM);
}

TEST(a_pool_of_another_file_does_not_exist)
{
	struct kverbs_cmd_connect cmd = { .size = sizeof(cmd), .dst = addr_of("a", 1) };
	struct ring ring;

	pool_open(&pool, dev_open(), 4);
	ring_open(&ring, dev_open(), 8, 32);
	cmd.ring_id = ring.id;
	/* Ids of different files may be the same. */
	cmd.pool_id = pool.id == ring.id ? pool.id + 1 : pool.id;
	CHECK_ERR(dev_cmd(ring.fd, KVERBS_CONNECT, &cmd), ENOENT);
	cmd.pool_id = ring.id;
	CHECK_ERR(dev_cmd(ring.fd, KVERBS_CONNECT, &cmd), ENOENT);
}

TEST(a_failed_CONNECT_does_not_keep_the_pool)
{
	struct kverbs_cmd_connect cmd = { .size = sizeof(cmd), .dst = addr_of("a", 1) };
	int fd = dev_open();
	struct ring ring;

	pool_open(&pool, fd, 4);
	/* A connection needs two slots. */
	ring_open(&ring, fd, 1, 1);
	cmd.ring_id = ring.id;
	cmd.pool_id = pool.id;
	CHECK_ERR(dev_cmd(fd, KVERBS_CONNECT, &cmd), EAGAIN);
	CHECK_OK(dev_destroy(fd, pool.id));
}

static uint32_t join(uint32_t rq_depth)
{
	uint32_t client, server;

	pair_open(&pair);
	pool_open(&pool, pair.fd, 4);
	pool_join(&pool, &pair, rq_depth, &client, &server);
	return server;
}

TEST(RECV_is_refused_on_a_connection_with_a_pool)
{
	struct kverbs_sqe sqe = sqe_recv(join(4), 0, 0, 0);

	CHECK_ERR(ring_put(&pair.ring, &sqe), EINVAL);
}

TEST(BENCH_is_refused_on_a_connection_with_a_pool)
{
	uint32_t server = join(4);
	struct kverbs_cmd_bench cmd = {
		.size = sizeof(cmd),
		.conn_id = server,
		.region_id = dev_region(pair.fd, memory, sizeof(memory), 0),
		.length = 1,
		.opcode = KVERBS_OP_SEND,
		.depth = 1,
		.post_list = 1,
		.iterations = 1,
	};

	CHECK_ERR(dev_cmd(pair.fd, KVERBS_BENCH, &cmd), EBUSY);
}

TEST(a_used_pool_is_busy_until_the_connection_is_destroyed)
{
	uint32_t server = join(4);

	CHECK_ERR(dev_destroy(pair.fd, pool.id), EBUSY);
	CHECK_OK(dev_disconnect(pair.fd, server));
	ring_end_of(&pair.ring, server);
	CHECK_ERR(dev_destroy(pair.fd, pool.id), EBUSY);
	CHECK_OK(dev_destroy(pair.fd, server));
	CHECK_OK(dev_destroy(pair.fd, pool.id));
}

TEST(debugfs_shows_a_pool_and_how_much_of_it_is_posted)
{
	uint32_t server = join(2);

	pool_add(&pool, dev_region(pair.fd, memory, sizeof(memory), 0), 0, 4096, 1);
	CHECK_OK(pool_wake(&pool, &pair.ring));
	pool_await_posted(&pair.ring, server, 1);
	dev_expect_shown("pool", pool.id, "entries=4 taken=1 users=1");
	dev_expect_shown("conn", server, "state=ESTABLISHED rq=1/2");
}

TEST(debugfs_shows_the_receives_that_connections_of_a_group_share)
{
	uint32_t client, server;

	if (dev_is_iwarp())
		test_skip("connections on iWARP share no receives");
	pair_open(&pair);
	pair.group = dev_group(pair.fd);
	pool_open(&pool, pair.fd, 4);
	pool_join(&pool, &pair, 2, &client, &server);
	pool_add(&pool, dev_region(pair.fd, memory, sizeof(memory), 0), 0, 4096, 1);
	CHECK_OK(pool_wake(&pool, &pair.ring));
	pool_await_posted(&pair.ring, server, 1);
	dev_expect_shown("conn", server, "state=ESTABLISHED srq=1/4");
}

TEST(a_bad_buffer_completes_with_its_error_and_the_next_one_is_taken)
{
	uint32_t server = join(1), region = dev_region(pair.fd, memory, sizeof(memory), 0);
	struct kverbs_cqe cqe;

	pool_add(&pool, region + 100, 0, 1, 1);
	pool_add(&pool, region, 4096, 1, 2);
	pool_add(&pool, region, 0, 4096, 3);
	CHECK_OK(pool_wake(&pool, &pair.ring));
	cqe = ring_work(&pair.ring, 0x5e7e);
	CHECK_EQ(cqe.id, server);
	CHECK_EQ(cqe.result, -ENOENT);
	CHECK_EQ(cqe.buf_id, 1);
	CHECK_EQ(cqe.flags, KVERBS_CQE_F_RECV | KVERBS_CQE_F_BUFFER | KVERBS_CQE_F_MORE);
	cqe = ring_work(&pair.ring, 0x5e7e);
	CHECK_EQ(cqe.result, -EINVAL);
	CHECK_EQ(cqe.buf_id, 2);
	pool_await_posted(&pair.ring, server, 1);
	CHECK_ERR(dev_destroy(pair.fd, region), EBUSY);
}

TEST(a_wrong_index_gives_no_buffer_and_is_told)
{
	uint32_t server = join(4), region = dev_region(pair.fd, memory, sizeof(memory), 0);
	struct pool other;

	pool_add(&pool, region, 0, 4096, 0);
	pool.user->tail = 0x80000000;
	CHECK_OK(pool_wake(&pool, &pair.ring));
	/* Another pool of the file is not concerned. */
	pool_open(&other, pair.fd, 4);
	CHECK_EQ(other.kernel->flags, 0);
	CHECK_EQ(dev_query(pair.fd, server).out_rq_used, 0);
	pool.user->tail = 1;
	CHECK_OK(pool_wake(&pool, &pair.ring));
	pool_await_posted(&pair.ring, server, 1);
	CHECK_EQ(pool.kernel->head, 1);
}

TEST(closing_the_file_ends_connections_that_receive_into_a_pool)
{
	uint32_t region;

	join(4);
	region = dev_region(pair.fd, memory, sizeof(memory), 0);
	pool_add(&pool, region, 0, 4096, 0);
	CHECK_OK(pool_wake(&pool, &pair.ring));
	ring_unmap(&pair.ring);
	pool_unmap(&pool);
	CHECK_EQ(close(pair.fd), 0);
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
}
