// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The same contract for a 32-bit process under a 64-bit kernel. */
#include <string.h>

#include "dev.h"

static char page[4096] __aligned(4096);

TEST(INFO_answers_a_32_bit_process)
{
	struct kverbs_cmd_info info = { .size = sizeof(info) };

	CHECK_EQ(sizeof(void *), 4);
	CHECK_OK(dev_cmd(dev_open(), KVERBS_INFO, &info));
	CHECK_EQ(info.out_abi, KVERBS_ABI_VERSION);
}

TEST(a_32_bit_process_makes_and_maps_a_ring)
{
	struct ring ring;

	ring_open(&ring, dev_open(), 8, 32);
	CHECK_EQ(ring.kernel->sq_entries, 8);
	CHECK_EQ(ring.kernel->cq_entries, 32);
	CHECK_OK(ring_wait(&ring, 0, 0));
}

TEST(a_32_bit_process_registers_memory)
{
	long pinned = test_status_kb(0, "VmPin");
	int fd = dev_open();
	uint32_t id = dev_region(fd, page, sizeof(page), 0);

	CHECK_EQ(test_status_kb(0, "VmPin"), pinned + 4);
	CHECK_OK(dev_destroy(fd, id));
}

TEST(an_address_beyond_32_bits_is_refused)
{
	struct kverbs_cmd_region_create cmd = {
		.size = sizeof(cmd),
		.addr = 1ULL << 32 | (uintptr_t)page,
		.length = sizeof(page),
	};

	CHECK_ERR(dev_cmd(dev_open(), KVERBS_REGION_CREATE, &cmd), EFAULT);
}

TEST(a_32_bit_process_sends_to_itself)
{
	struct kverbs_sqe recv;
	struct pair pair;
	uint32_t region;

	pair_open(&pair);
	memset(page, 'x', 16);
	region = dev_region(pair.fd, page, sizeof(page), 0);
	recv = sqe_recv(pair.server, region, 64, 64);
	recv.user_data = UINT64_MAX;
	CHECK_OK(ring_put(&pair.ring, &recv));
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, region, 0, 16)));
	CHECK_EQ(ring_work(&pair.ring, UINT64_MAX).byte_len, 16);
	CHECK(!memcmp(page, page + 64, 16));
}
