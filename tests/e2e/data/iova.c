// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Exports at a remote address that the caller chooses. */
#include "buf.h"

#define SIZE		(5 * MIB)
#define START		(PAGE + 100)
#define LENGTH		(SIZE - 2 * PAGE)
#define MOST_SEGS	64
#define READ_WRITE	(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE)

static struct pair pair;
static struct buf local, remote;
static struct kverbs_segment segs[MOST_SEGS];
static uint32_t nr;

static void set_up(void)
{
	pair_open(&pair);
	buf_open(&local, pair.fd, BUF_ANON, SIZE);
	buf_open(&remote, pair.fd, BUF_SCATTERED, SIZE);
}

static int export_at(uint64_t iova, uint32_t flags, uint32_t *id)
{
	struct kverbs_cmd_export cmd = {
		.size = sizeof(cmd),
		.flags = flags,
		.conn_id = pair.server,
		.region_id = remote.region,
		.access = READ_WRITE,
		.inout_segs_len = MOST_SEGS,
		.offset = START,
		.length = LENGTH,
		.segs_uptr = (uintptr_t)segs,
		.iova = iova,
	};
	int ret = dev_cmd(pair.fd, KVERBS_EXPORT, &cmd);

	nr = cmd.inout_segs_len;
	*id = cmd.out_id;
	return ret;
}

/* Move all bytes of all segments, which follow each other without gaps. */
static void move_all(uint8_t opcode, uint64_t iova)
{
	uint64_t done = 0;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		CHECK_EQ(segs[i].addr, iova + done);
		CHECK_DONE(ring_do(&pair.ring, sqe_rdma(opcode, pair.client, local.region, done,
							segs[i].length, &segs[i])));
		done += segs[i].length;
	}
	CHECK_EQ(done, LENGTH);
}

static void check_at(uint64_t iova)
{
	uint32_t export;

	CHECK_OK(export_at(iova, KVERBS_EXPORT_IOVA, &export));
	CHECK(nr > 1);
	buf_fill(&local, 1);
	buf_poison(&remote);
	move_all(KVERBS_OP_WRITE, iova);
	buf_check_moved(&remote, START, &local, 0, LENGTH);
	buf_poison(&local);
	move_all(KVERBS_OP_READ, iova);
	buf_check_moved(&local, 0, &remote, START, LENGTH);
	CHECK_OK(dev_destroy(pair.fd, export));
}

TEST(memory_is_exported_at_its_virtual_address)
{
	set_up();
	check_at((uintptr_t)remote.addr + START);
}

TEST(memory_is_exported_from_the_lowest_to_the_highest_address)
{
	set_up();
	check_at(START % PAGE);
	check_at(0x7f0000000000 + START % PAGE);
	check_at(-(8ULL * MIB) + START % PAGE);
}

TEST(an_address_before_that_of_the_export_is_refused)
{
	uint32_t export;

	set_up();
	CHECK_OK(export_at((uintptr_t)remote.addr + START, KVERBS_EXPORT_IOVA, &export));
	segs[0].addr = START % PAGE;
	CHECK_EQ(ring_do(&pair.ring, sqe_rdma(KVERBS_OP_READ, pair.client, local.region, 0, 64,
					      &segs[0])).result, -EIO);
}

TEST(an_address_with_another_offset_in_its_page_gives_EINVAL)
{
	uint32_t export;

	set_up();
	CHECK_ERR(export_at(0, KVERBS_EXPORT_IOVA, &export), EINVAL);
	CHECK_ERR(export_at(START % PAGE + 1, KVERBS_EXPORT_IOVA, &export), EINVAL);
	CHECK_ERR(export_at(START % PAGE + 8 * PAGE - 1, KVERBS_EXPORT_IOVA, &export), EINVAL);
	CHECK_OK(export_at(START % PAGE + 8 * PAGE, KVERBS_EXPORT_IOVA, &export));
}

TEST(an_export_that_would_wrap_gives_EINVAL)
{
	uint32_t export;

	set_up();
	CHECK_ERR(export_at(-PAGE + START % PAGE, KVERBS_EXPORT_IOVA, &export), EINVAL);
	CHECK_ERR(export_at(-(4ULL * MIB) + START % PAGE, KVERBS_EXPORT_IOVA, &export), EINVAL);
}

TEST(an_address_without_the_flag_gives_EINVAL)
{
	uint32_t export;

	set_up();
	CHECK_ERR(export_at(START % PAGE, 0, &export), EINVAL);
	CHECK_OK(export_at(0, 0, &export));
}
