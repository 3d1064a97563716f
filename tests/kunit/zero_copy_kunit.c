// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Zero copy: the device gets the pages of the user's buffer. */
#include <linux/mm.h>

#include "fake_conn.h"

/**
 * struct flow - an operation
 * @what: name of the operation and its buffer
 * @opcode: the opcode
 * @offset: offset of the buffer
 * @length: length of the buffer
 */
struct flow {
	const char *what;
	u8 opcode;
	u64 offset;
	u64 length;
};

static const struct flow flows[] = {
	{ "SEND of a byte", KVERBS_OP_SEND, 17, 1 },
	{ "SEND across a border", KVERBS_OP_SEND, PAGE_SIZE - 3, 100 },
	{ "SEND of a page", KVERBS_OP_SEND, PAGE_SIZE, PAGE_SIZE },
	{ "SEND of many pages", KVERBS_OP_SEND, 5, 10 * PAGE_SIZE },
	{ "SEND of it all", KVERBS_OP_SEND, 0, FAKE_MEM },
	{ "WRITE of a byte", KVERBS_OP_WRITE, 17, 1 },
	{ "WRITE across a border", KVERBS_OP_WRITE, PAGE_SIZE - 3, 100 },
	{ "WRITE of many pages", KVERBS_OP_WRITE, 5, 10 * PAGE_SIZE },
	{ "WRITE of it all", KVERBS_OP_WRITE, 0, FAKE_MEM },
	{ "READ of a byte", KVERBS_OP_READ, 17, 1 },
	{ "READ across a border", KVERBS_OP_READ, PAGE_SIZE - 3, 100 },
	{ "READ of many pages", KVERBS_OP_READ, 5, 10 * PAGE_SIZE },
	{ "READ of it all", KVERBS_OP_READ, 0, FAKE_MEM },
	{ "RECV of a byte", KVERBS_OP_RECV, 17, 1 },
	{ "RECV across a border", KVERBS_OP_RECV, PAGE_SIZE - 3, 100 },
	{ "RECV of many pages", KVERBS_OP_RECV, 5, 10 * PAGE_SIZE },
	{ "RECV of it all", KVERBS_OP_RECV, 0, FAKE_MEM },
};

KUNIT_ARRAY_PARAM_DESC(flows, flows, what);

/* Address of a user's byte as this device addresses memory. */
static u64 place_of(struct kunit *test, unsigned long addr)
{
	struct page *page;
	u64 place;

	KUNIT_ASSERT_EQ(test, 1, get_user_pages_fast(addr, 1, 0, &page));
	place = (unsigned long)page_address(page) + offset_in_page(addr);
	put_page(page);
	return place;
}

static const struct fake_mr *mr_of(struct fake_hca *hca, u32 lkey)
{
	unsigned int i;

	for (i = 0; i < hca->nr_sends; i++)
		if (hca->sends[i].opcode == IB_WR_REG_MR && hca->sends[i].mr->lkey == lkey)
			return to_fake_mr(hca->sends[i].mr);
	return NULL;
}

/* Address that the device accesses for a byte of an entry. */
static u64 seen_place(struct fake_conn *fake, const struct ib_sge *sge, u32 offset)
{
	u64 addr = sge->addr + offset;
	const struct fake_mr *mr;

	if (sge->lkey == FAKE_LKEY)
		return addr;
	mr = mr_of(fake->hca, sge->lkey);
	KUNIT_ASSERT_NOT_NULL(fake->test, mr);
	addr -= mr->ib.iova & PAGE_MASK;
	KUNIT_ASSERT_LT(fake->test, addr >> PAGE_SHIFT, mr->nr_pages);
	return mr->pages[addr >> PAGE_SHIFT] + offset_in_page(addr);
}

/* Check the first and last byte of each page of the entry. */
static void expect_entry(struct fake_conn *fake, const struct ib_sge *sge,
			 unsigned long addr)
{
	struct kunit *test = fake->test;
	u32 offset = 0, part;

	while (offset < sge->length) {
		part = min_t(u32, sge->length - offset,
			     PAGE_SIZE - offset_in_page(addr + offset));
		KUNIT_EXPECT_EQ(test, place_of(test, addr + offset),
				seen_place(fake, sge, offset));
		KUNIT_EXPECT_EQ(test, place_of(test, addr + offset + part - 1),
				seen_place(fake, sge, offset + part - 1));
		offset += part;
	}
}

static unsigned long expect_request(struct fake_conn *fake, const struct fake_wr *wr,
				    unsigned long addr)
{
	int i;

	KUNIT_EXPECT_FALSE(fake->test, wr->send_flags & IB_SEND_INLINE);
	for (i = 0; i < wr->num_sge; i++) {
		expect_entry(fake, &wr->sges[i], addr);
		addr += wr->sges[i].length;
	}
	return addr;
}

static void device_is_given_the_pages_of_the_user(struct kunit *test)
{
	const struct flow *flow = test->param_value;
	struct fake_hca *hca = fake_device_create(test);
	struct fake_conn *fake = fake_conn_at(test, hca, FAKE_UP);
	unsigned long addr = fake->addr + flow->offset;
	unsigned int i;

	/* A receive waits until its registration has completed. */
	hca->work_queued = true;
	fake_conn_post(fake, flow->opcode, flow->offset, flow->length);
	for (i = 0; i < hca->nr_recvs; i++)
		addr = expect_request(fake, &hca->recvs[i], addr);
	for (i = 0; i < hca->nr_sends; i++)
		if (hca->sends[i].opcode != IB_WR_REG_MR)
			addr = expect_request(fake, &hca->sends[i], addr);
	KUNIT_EXPECT_EQ(test, fake->addr + flow->offset + flow->length, addr);
}

static struct kunit_case zero_copy_cases[] = {
	KUNIT_CASE_PARAM(device_is_given_the_pages_of_the_user, flows_gen_params),
	{}
};

static struct kunit_suite zero_copy_suite = {
	.name = "kverbs_zero_copy",
	.test_cases = zero_copy_cases,
};

kunit_test_suite(zero_copy_suite);
