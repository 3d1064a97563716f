// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KVERBS_REGION_DMABUF: which descriptors and ranges are accepted. Soft-RoCE and Soft-iWARP have no
 * DMA, so here no region of a dma-buf can be used; tests/e2e/dma uses some.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "dmabuf.h"

#define SIZE	(4 * 4096)

static struct pair pair;
static char *memory;

static int try_region(int dmabuf, uint64_t offset, uint64_t length, uint32_t flags)
{
	return dmabuf_try_region(dev_open(), dmabuf, offset, length, flags, NULL);
}

TEST(DMABUF_with_a_descriptor_that_is_not_open_gives_EBADF)
{
	CHECK_ERR(try_region(-1, 0, 4096, 0), EBADF);
	CHECK_ERR(try_region(1000, 0, 4096, 0), EBADF);
}

TEST(DMABUF_with_a_descriptor_of_something_else_gives_EINVAL)
{
	int fd = dev_open();

	CHECK_ERR(dmabuf_try_region(fd, fd, 0, 4096, 0, NULL), EINVAL);
	CHECK_ERR(try_region(STDERR_FILENO, 0, 4096, 0), EINVAL);
}

TEST(DMABUF_with_TRACK_or_FD_gives_EINVAL)
{
	int fd = dmabuf_open(&memory, SIZE);

	CHECK_ERR(try_region(fd, 0, 4096, KVERBS_REGION_TRACK), EINVAL);
	CHECK_ERR(try_region(fd, 0, 4096, KVERBS_REGION_FD), EINVAL);
	CHECK_ERR(try_region(fd, 0, 0, KVERBS_REGION_FD), EINVAL);
}

TEST(DMABUF_with_a_range_beyond_the_buffer_gives_EINVAL)
{
	int fd = dmabuf_open(&memory, SIZE);

	CHECK_OK(try_region(fd, 0, SIZE, 0));
	CHECK_OK(try_region(fd, SIZE - 1, 1, 0));
	CHECK_ERR(try_region(fd, 0, 0, 0), EINVAL);
	CHECK_ERR(try_region(fd, 0, SIZE + 1, 0), EINVAL);
	CHECK_ERR(try_region(fd, SIZE, 1, 0), EINVAL);
	CHECK_ERR(try_region(fd, 1, UINT64_MAX, 0), EINVAL);
	CHECK_ERR(try_region(fd, UINT64_MAX, 1, 0), EINVAL);
}

TEST(a_region_of_a_dmabuf_is_shown_as_one)
{
	int fd = dmabuf_open(&memory, SIZE), file = dev_open();
	uint32_t region = dmabuf_region(file, fd, 100, 4096, KVERBS_REGION_READ_ONLY);

	dev_expect_shown("region", region, "length=4096 pages=2 writable=0 dmabuf=1");
}

/* Both ends have a region of the same dma-buf. */
static uint32_t set_up(void)
{
	int fd = dmabuf_open(&memory, SIZE);
	uint32_t region;

	pair_open(&pair);
	region = dmabuf_region(pair.fd, fd, 0, SIZE, 0);
	close(fd);
	return region;
}

/* ring_put() returns the error of a refused entry's completion. */
TEST(a_device_without_DMA_refuses_a_dmabuf_with_EOPNOTSUPP)
{
	const struct kverbs_segment seg = { .rkey = 0x100 };
	uint32_t region = set_up();
	struct kverbs_segment segs[1];
	struct kverbs_sqe sqe;
	struct kverbs_cmd_export export = {
		.size = sizeof(export),
		.conn_id = pair.server,
		.region_id = region,
		.access = KVERBS_REMOTE_READ,
		.inout_segs_len = 1,
		.length = 4096,
		.segs_uptr = (uintptr_t)segs,
	};

	sqe = sqe_recv(pair.server, region, 0, 4096);
	CHECK_ERR(ring_put(&pair.ring, &sqe), EOPNOTSUPP);
	sqe = sqe_send(pair.client, region, 0, 4096);
	CHECK_ERR(ring_put(&pair.ring, &sqe), EOPNOTSUPP);
	sqe = sqe_rdma(KVERBS_OP_WRITE, pair.client, region, 0, 4096, &seg);
	CHECK_ERR(ring_put(&pair.ring, &sqe), EOPNOTSUPP);
	CHECK_ERR(dev_cmd(pair.fd, KVERBS_EXPORT, &export), EOPNOTSUPP);
	CHECK_EQ(dev_query(pair.fd, pair.client).out_state, KVERBS_CONN_ESTABLISHED);
	CHECK_EQ(dev_query(pair.fd, pair.server).out_state, KVERBS_CONN_ESTABLISHED);
	CHECK_OK(dev_destroy(pair.fd, region));
}

TEST(BENCH_that_receives_into_a_dmabuf_gives_EOPNOTSUPP)
{
	int fd = dmabuf_open(&memory, MEMORY);
	struct kverbs_cmd_bench cmd;

	track_open();
	cmd = good_credit();
	cmd.region_id = dmabuf_region(track.pair.fd, fd, 0, MEMORY, 0);
	CHECK_ERR(dev_cmd(track.pair.fd, KVERBS_BENCH, &cmd), EOPNOTSUPP);
}
