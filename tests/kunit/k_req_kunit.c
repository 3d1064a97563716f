// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory and requests of another module: posted in atomic context, with nothing allocated. */
#include <linux/bvec.h>
#include <linux/vmalloc.h>

#include "fake_k.h"
#include "fake_qp.h"

static const struct kverbs_k_req_size plain;
static const struct kverbs_k_req_size exposing = { .expose_pages = 4 };
static const struct kverbs_k_req_size reading = { .read_pages = FAKE_K_PAGES };

static struct fake_wr *last_send(struct fake_k *fake)
{
	KUNIT_ASSERT_GT(fake->test, fake->hca->nr_sends, 0);
	return &fake->hca->sends[fake->hca->nr_sends - 1];
}

static u64 dma_address(const void *memory)
{
	return (uintptr_t)memory;
}

/* ---- memory -------------------------------------------------------------- */

static void destroy_region(void *region)
{
	kverbs_k_region_destroy(region);
}

static struct kverbs_region *keep(struct kunit *test, struct kverbs_region *region)
{
	KUNIT_ASSERT_FALSE(test, IS_ERR(region));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, destroy_region, region));
	return region;
}

static void free_vmalloc(void *memory)
{
	vfree(memory);
}

static u8 *vmalloced(struct kunit *test, size_t length)
{
	u8 *memory = vmalloc(length);

	KUNIT_ASSERT_NOT_NULL(test, memory);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_vmalloc, memory));
	return memory;
}

/* No two pages of it are neighbours for the device. */
static struct kverbs_region *backwards(struct fake_k *fake, unsigned int nr, unsigned int length)
{
	struct bio_vec bvecs[FAKE_K_PAGES];
	unsigned int i;

	for (i = 0; i < nr; i++)
		bvecs[i] = (struct bio_vec) {
			.bv_page = virt_to_page(fake->memory + (nr - 1 - i) * PAGE_SIZE),
			.bv_len = length,
		};
	return kverbs_k_region_of_bvecs(bvecs, nr, true, GFP_KERNEL);
}

static void k_region_refuses_what_no_device_may_access(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);
	struct bio_vec empty = { .bv_page = virt_to_page(fake->memory) };
	u8 byte;

	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EINVAL),
			    (void *)kverbs_k_region_of_buffer(&byte, 1, true, GFP_KERNEL));
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EINVAL),
			    (void *)kverbs_k_region_of_buffer(fake->memory, 0, true, GFP_KERNEL));
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EINVAL),
			    (void *)kverbs_k_region_of_bvecs(&empty, 1, true, GFP_KERNEL));
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EINVAL),
			    (void *)kverbs_k_region_of_bvecs(&empty, 0, true, GFP_KERNEL));
}

/* A device without DMA is given the kernel's address of each page. */
static void k_region_of_vmalloc_has_its_pages(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	u8 *memory = vmalloced(test, 2 * PAGE_SIZE);
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_SEND, plain);
	struct kverbs_region *region;

	region = keep(test, kverbs_k_region_of_buffer(memory + 100, PAGE_SIZE, false, GFP_KERNEL));
	KUNIT_ASSERT_EQ(test, 0, kverbs_k_region_map(fake->conn, region));
	req->k->region = region;
	req->k->offset = 11;
	req->k->length = 22;
	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(req));
	KUNIT_EXPECT_EQ(test, dma_address(page_to_virt(vmalloc_to_page(memory))) + 111,
			last_send(fake)->sges[0].addr);
	KUNIT_EXPECT_EQ(test, 22, last_send(fake)->sges[0].length);
	fake_k_succeed(fake, req);
}

static void k_region_that_is_not_mapped_cannot_be_posted(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_SEND, plain);

	req->k->region = keep(test, kverbs_k_region_of_buffer(fake->memory, PAGE_SIZE, true,
							      GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, -ENXIO, fake_k_post_locked(req));
	KUNIT_EXPECT_EQ(test, 0, req->nr_done);
}

static void k_region_with_gaps_is_sent_but_not_exposed(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct kverbs_region *region = keep(test, backwards(fake, 2, 100));
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_SEND,
					    (struct kverbs_k_req_size) { 2, 2, 0 });
	struct kverbs_k_segment segment;
	unsigned int nr = 1;

	KUNIT_ASSERT_EQ(test, 0, kverbs_k_region_map(fake->conn, region));
	KUNIT_EXPECT_EQ(test, -EINVAL, kverbs_k_expose(req->k, region, 0, 200,
						       KVERBS_K_REMOTE_READ, &segment));
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EINVAL),
			    (void *)kverbs_k_export_create(fake->conn, region, 0, 200,
							   KVERBS_K_REMOTE_READ, &segment, &nr));
	req->k->region = region;
	req->k->offset = 50;
	req->k->length = 100;
	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(req));
	KUNIT_EXPECT_EQ(test, 2, last_send(fake)->num_sge);
	KUNIT_EXPECT_EQ(test, dma_address(fake->memory) + PAGE_SIZE + 50,
			last_send(fake)->sges[0].addr);
	KUNIT_EXPECT_EQ(test, dma_address(fake->memory), last_send(fake)->sges[1].addr);
	fake_k_succeed(fake, req);
}

static void k_region_is_read_across_its_pages(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);
	struct kverbs_region *region = keep(test, backwards(fake, 2, PAGE_SIZE));
	u8 bytes[2];

	fake->memory[2 * PAGE_SIZE - 1] = 1;
	fake->memory[0] = 2;
	kverbs_k_region_read(region, PAGE_SIZE - 1, bytes, sizeof(bytes));
	KUNIT_EXPECT_EQ(test, 1, bytes[0]);
	KUNIT_EXPECT_EQ(test, 2, bytes[1]);
	KUNIT_EXPECT_PTR_EQ(test, fake->memory + 5, kverbs_k_region_byte(region, PAGE_SIZE + 5));
}

/* ---- posting ------------------------------------------------------------- */

static void k_req_completes_in_softirq_context_on_demand(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);
	struct fake_k_req *req;

	fake->param.softirq = true;
	fake_k_make(fake);
	fake_k_ask(fake);
	fake_iw_answer(fake->hca, 0, NULL, 0);
	KUNIT_ASSERT_TRUE(test, fake_k_await(&fake->up));
	req = fake_k_req(fake, KVERBS_K_SEND, plain);
	req->k->length = 0;
	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(req));
	fake_k_succeed(fake, req);
	KUNIT_EXPECT_TRUE(test, req->in_softirq);
}

static void k_req_needs_an_established_connection(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);
	struct fake_k_req *req;

	fake_k_make(fake);
	req = fake_k_req(fake, KVERBS_K_SEND, plain);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, fake_k_post_locked(req));
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-ENOTCONN),
			    (void *)kverbs_k_req_alloc(fake->conn, &exposing, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, kverbs_k_region_map(fake->conn, fake->region));
}

static void k_req_waits_for_no_slot(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct fake_k_req *reqs[FAKE_K_DEPTH + 1];
	int i;

	for (i = 0; i <= FAKE_K_DEPTH; i++)
		reqs[i] = fake_k_req(fake, KVERBS_K_SEND, plain);
	for (i = 0; i < FAKE_K_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(reqs[i]));
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_k_post_locked(reqs[i]));
	fake_k_succeed(fake, reqs[i - 1]);
	KUNIT_EXPECT_EQ(test, 0, fake_k_post_locked(reqs[i]));
	fake_k_succeed(fake, reqs[i]);
}

/* Four entries a work request, so three of them. */
static void k_req_of_many_pages_takes_several_work_requests(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct kverbs_region *region = keep(test, backwards(fake, 10, PAGE_SIZE));
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_WRITE,
					    (struct kverbs_k_req_size) { .sges = 10 });
	struct fake_wr *wrs;
	int i;

	KUNIT_ASSERT_EQ(test, 0, kverbs_k_region_map(fake->conn, region));
	req->k->region = region;
	req->k->length = 10 * PAGE_SIZE;
	req->k->remote_addr = 0x7000;
	req->k->rkey = 0x77;
	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(req));
	KUNIT_ASSERT_EQ(test, 3, fake->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, 1, fake->hca->nr_doorbells);
	wrs = fake->hca->sends;
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE, wrs[i].opcode);
		KUNIT_EXPECT_EQ(test, i < 2 ? 4 : 2, wrs[i].num_sge);
		KUNIT_EXPECT_EQ(test, 0x7000 + i * 4 * PAGE_SIZE, wrs[i].remote_addr);
		KUNIT_EXPECT_EQ(test, dma_address(fake->memory) + (9 - 4 * i) * PAGE_SIZE,
				wrs[i].sges[0].addr);
	}
	fake_k_succeed(fake, req);
	KUNIT_EXPECT_EQ(test, 10 * PAGE_SIZE, req->k->byte_len);
	KUNIT_EXPECT_EQ(test, 1, req->nr_done);
}

static void k_req_that_is_a_message_has_one_work_request(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct kverbs_region *region = keep(test, backwards(fake, 5, PAGE_SIZE));
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_SEND,
					    (struct kverbs_k_req_size) { .sges = 5 });

	KUNIT_ASSERT_EQ(test, 0, kverbs_k_region_map(fake->conn, region));
	req->k->region = region;
	req->k->length = 5 * PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, fake_k_post_locked(req));
	req->k->length = 4 * PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, 0, fake_k_post_locked(req));
	fake_k_succeed(fake, req);
}

static void k_req_is_checked(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_SEND, plain);
	struct kverbs_region *constant;

	req->k->length = FAKE_K_BYTES + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_k_post_locked(req));
	req->k->length = PAGE_SIZE;
	req->k->flags = BIT(3);
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_k_post_locked(req));
	req->k->flags = 0;
	req->k->opcode = KVERBS_K_FETCH_ADD + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_k_post_locked(req));
	req->k->opcode = KVERBS_K_FETCH_ADD;
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_k_post_locked(req));
	req->k->length = 8;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, fake_k_post_locked(req));
	constant = keep(test, kverbs_k_region_of_buffer(fake->memory, PAGE_SIZE, false,
							GFP_KERNEL));
	KUNIT_ASSERT_EQ(test, 0, kverbs_k_region_map(fake->conn, constant));
	req->k->region = constant;
	req->k->opcode = KVERBS_K_RECV;
	KUNIT_EXPECT_EQ(test, -EINVAL, fake_k_post_locked(req));
	KUNIT_EXPECT_EQ(test, 0, req->nr_done);
}

static void k_req_ends_with_its_connection(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct fake_k_req *send = fake_k_req(fake, KVERBS_K_SEND, plain);
	struct fake_k_req *recv = fake_k_req(fake, KVERBS_K_RECV, plain);

	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(send));
	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(recv));
	kverbs_k_conn_close(fake->conn);
	KUNIT_EXPECT_EQ(test, 1, send->nr_done);
	KUNIT_EXPECT_EQ(test, -EIO, send->k->result);
	KUNIT_EXPECT_EQ(test, IB_WC_WR_FLUSH_ERR, send->k->wc_status);
	KUNIT_EXPECT_EQ(test, 1, recv->nr_done);
	KUNIT_EXPECT_EQ(test, -ENOTCONN, fake_k_post_locked(send));
	KUNIT_EXPECT_EQ(test, -ENOTCONN, fake_k_post_locked(recv));
}

/* ---- receives ------------------------------------------------------------ */

static void k_recv_is_with_the_device_at_once(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_RECV, plain);

	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(req));
	KUNIT_ASSERT_EQ(test, 1, fake->hca->nr_recvs);
	KUNIT_EXPECT_EQ(test, dma_address(fake->memory), fake->hca->recvs[0].sges[0].addr);
	fake_wr_end(&fake->hca->recvs[0], (struct ib_wc) {
		.byte_len = 100,
		.wc_flags = IB_WC_WITH_IMM,
		.ex.imm_data = cpu_to_be32(77),
	});
	KUNIT_ASSERT_TRUE(test, fake_k_await(&req->done));
	KUNIT_EXPECT_EQ(test, 100, req->k->byte_len);
	KUNIT_EXPECT_EQ(test, KVERBS_K_HAS_IMM, req->k->out_flags);
	KUNIT_EXPECT_EQ(test, 77, be32_to_cpu(req->k->out_imm));
}

static void k_recv_may_be_posted_before_the_connection_is_started(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);
	struct fake_k_req *req;

	fake_k_make(fake);
	req = fake_k_req(fake, KVERBS_K_RECV, plain);
	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(req));
	KUNIT_EXPECT_EQ(test, 0, fake->hca->nr_recvs);
	fake_k_ask(fake);
	KUNIT_EXPECT_EQ(test, 1, fake->hca->nr_recvs);
}

static void k_recv_refused_by_the_device_is_the_modules(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_RECV, plain);
	int i;

	fake_hca_refuse(fake->hca, 0, -ENOMEM);
	for (i = 0; i <= FAKE_K_DEPTH; i++)
		KUNIT_EXPECT_EQ(test, -ENOMEM, fake_k_post_locked(req));
	fake_hca_refuse(fake->hca, UINT_MAX, 0);
	KUNIT_EXPECT_EQ(test, 0, fake_k_post_locked(req));
	KUNIT_EXPECT_EQ(test, 0, req->nr_done);
}

static void k_recv_with_too_many_pieces_is_not_registered(struct kunit *test)
{
	struct fake_k *fake = fake_k_create(test);
	struct kverbs_region *region = keep(test, backwards(fake, 5, PAGE_SIZE));
	struct fake_k_req *early, *late;

	fake_k_make(fake);
	early = fake_k_req(fake, KVERBS_K_RECV, (struct kverbs_k_req_size) { .sges = 5 });
	early->k->region = region;
	early->k->length = 5 * PAGE_SIZE;
	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(early));
	fake_k_ask(fake);
	KUNIT_ASSERT_TRUE(test, fake_k_await(&early->done));
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, early->k->result);
	fake_iw_answer(fake->hca, 0, NULL, 0);
	KUNIT_ASSERT_TRUE(test, fake_k_await(&fake->up));
	late = fake_k_req(fake, KVERBS_K_RECV, (struct kverbs_k_req_size) { .sges = 5 });
	late->k->region = region;
	late->k->length = 5 * PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, -EMSGSIZE, fake_k_post_locked(late));
}

/* ---- exposing ------------------------------------------------------------ */

static void expose(struct fake_k *fake, struct fake_k_req *req, struct kverbs_k_segment *segment)
{
	KUNIT_ASSERT_EQ(fake->test, 0,
			kverbs_k_expose(req->k, fake->region, PAGE_SIZE + 7, 2 * PAGE_SIZE,
					KVERBS_K_REMOTE_READ, segment));
}

static void k_expose_registers_with_the_message_that_tells_of_it(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_SEND, exposing);
	struct kverbs_k_segment segment;
	struct fake_wr *wrs = fake->hca->sends;

	expose(fake, req, &segment);
	KUNIT_EXPECT_EQ(test, 0, fake->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, 2 * PAGE_SIZE, segment.length);
	KUNIT_EXPECT_EQ(test, 7, offset_in_page(segment.addr));
	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(req));
	KUNIT_EXPECT_EQ(test, 1, fake->hca->nr_doorbells);
	KUNIT_ASSERT_EQ(test, 2, fake->hca->nr_sends);
	KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, wrs[0].opcode);
	KUNIT_EXPECT_EQ(test, segment.rkey, wrs[0].key);
	KUNIT_EXPECT_EQ(test, IB_ACCESS_REMOTE_READ, wrs[0].access);
	KUNIT_EXPECT_EQ(test, IB_WR_SEND, wrs[1].opcode);
	fake_k_succeed(fake, req);
}

static void k_expose_lasts_until_it_is_concealed(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_SEND, exposing);
	struct kverbs_k_segment segment, again;

	expose(fake, req, &segment);
	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(req));
	fake_k_succeed(fake, req);
	KUNIT_EXPECT_EQ(test, -EBUSY, kverbs_k_expose(req->k, fake->region, 0, 1,
						      KVERBS_K_REMOTE_READ, &again));
	reinit_completion(&req->done);
	KUNIT_ASSERT_EQ(test, 0, kverbs_k_conceal(req->k));
	KUNIT_EXPECT_EQ(test, IB_WR_LOCAL_INV, last_send(fake)->opcode);
	KUNIT_EXPECT_EQ(test, segment.rkey, last_send(fake)->imm);
	fake_k_succeed(fake, req);
	KUNIT_EXPECT_EQ(test, -EINVAL, kverbs_k_conceal(req->k));
	expose(fake, req, &again);
	KUNIT_EXPECT_NE(test, segment.rkey, again.rkey);
	KUNIT_EXPECT_EQ(test, 1, kverbs_k_conceal(req->k));
}

static void k_expose_ends_when_the_peer_revokes_the_key(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_SEND, exposing);
	struct fake_k_req *answer = fake_k_req(fake, KVERBS_K_RECV, plain);
	struct kverbs_k_segment segment;
	unsigned int nr_sends;

	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(answer));
	expose(fake, req, &segment);
	KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(req));
	fake_k_succeed(fake, req);
	fake_wr_end(&fake->hca->recvs[0], (struct ib_wc) {
		.wc_flags = IB_WC_WITH_INVALIDATE,
		.ex.invalidate_rkey = segment.rkey,
	});
	KUNIT_ASSERT_TRUE(test, fake_k_await(&answer->done));
	KUNIT_EXPECT_EQ(test, KVERBS_K_HAS_REVOKED, answer->k->out_flags);
	KUNIT_EXPECT_EQ(test, segment.rkey, answer->k->out_revoked);
	nr_sends = fake->hca->nr_sends;
	KUNIT_EXPECT_EQ(test, 1, kverbs_k_conceal(req->k));
	KUNIT_EXPECT_EQ(test, nr_sends, fake->hca->nr_sends);
	expose(fake, req, &segment);
}

static void k_expose_is_checked(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct fake_k_req *bare = fake_k_req(fake, KVERBS_K_SEND, plain);
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_SEND, exposing);
	struct kverbs_k_segment segment;

	KUNIT_EXPECT_EQ(test, -EINVAL, kverbs_k_expose(bare->k, fake->region, 0, 1,
						       KVERBS_K_REMOTE_READ, &segment));
	KUNIT_EXPECT_EQ(test, -EINVAL, kverbs_k_expose(req->k, fake->region, 0, 0,
						       KVERBS_K_REMOTE_READ, &segment));
	KUNIT_EXPECT_EQ(test, -EINVAL, kverbs_k_expose(req->k, fake->region, 0, 1, 0, &segment));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			kverbs_k_expose(req->k, fake->region, 0, 8, KVERBS_K_REMOTE_ATOMIC,
					&segment));
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EINVAL),
			    (void *)kverbs_k_req_alloc(fake->conn, &(struct kverbs_k_req_size) {
				    .expose_pages = FAKE_MR_ROOM + 1 }, GFP_KERNEL));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&fake->hca->nr_mrs));
}

/* ---- reading, which on iWARP takes a registration ------------------------ */

static void k_read_registers_its_buffer_where_it_must(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_READ, reading);
	struct fake_wr *wrs = fake->hca->sends;
	int i;

	req->k->length = FAKE_K_BYTES;
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, 0, fake_k_post_locked(req));
		KUNIT_ASSERT_EQ(test, 2 * i + 2, fake->hca->nr_sends);
		KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, wrs[2 * i].opcode);
		KUNIT_EXPECT_EQ(test, IB_WR_RDMA_READ_WITH_INV, wrs[2 * i + 1].opcode);
		KUNIT_EXPECT_EQ(test, wrs[2 * i].key, wrs[2 * i + 1].imm);
		fake_k_succeed(fake, req);
		KUNIT_EXPECT_EQ(test, FAKE_K_BYTES, req->k->byte_len);
	}
	KUNIT_EXPECT_EQ(test, 1, fake->hca->nr_allocs);
}

static void k_read_without_room_for_that_is_refused(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_READ, plain);

	KUNIT_EXPECT_EQ(test, -EMSGSIZE, fake_k_post_locked(req));
	KUNIT_EXPECT_EQ(test, 0, req->nr_done);
}

static void k_read_finds_memory_exposed(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct fake_k_req *req = fake_k_req(fake, KVERBS_K_READ, exposing);
	struct kverbs_k_segment segment;

	expose(fake, req, &segment);
	KUNIT_EXPECT_EQ(test, -EBUSY, fake_k_post_locked(req));
	KUNIT_EXPECT_EQ(test, 1, kverbs_k_conceal(req->k));
	KUNIT_EXPECT_EQ(test, 0, fake_k_post_locked(req));
	fake_k_succeed(fake, req);
}

/* ---- exports ------------------------------------------------------------- */

static void k_export_tells_its_segments(struct kunit *test)
{
	struct fake_k *fake = fake_k_up(test);
	struct kverbs_k_segment segment;
	struct kverbs_export *export;
	unsigned int nr = 0;

	fake->hca->work_queued = true;
	export = kverbs_k_export_create(fake->conn, fake->region, 5, 2 * PAGE_SIZE,
					KVERBS_K_REMOTE_WRITE, &segment, &nr);
	KUNIT_EXPECT_PTR_EQ(test, ERR_PTR(-EMSGSIZE), (void *)export);
	KUNIT_ASSERT_EQ(test, 1, nr);
	export = kverbs_k_export_create(fake->conn, fake->region, 5, 2 * PAGE_SIZE,
					KVERBS_K_REMOTE_WRITE, &segment, &nr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(export));
	KUNIT_EXPECT_EQ(test, 5, offset_in_page(segment.addr));
	KUNIT_EXPECT_EQ(test, 2 * PAGE_SIZE, segment.length);
	KUNIT_EXPECT_EQ(test, last_send(fake)->key, segment.rkey);
	KUNIT_EXPECT_EQ(test, 0, kverbs_k_export_destroy(export));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(k_region_refuses_what_no_device_may_access),
	KUNIT_CASE(k_region_of_vmalloc_has_its_pages),
	KUNIT_CASE(k_region_that_is_not_mapped_cannot_be_posted),
	KUNIT_CASE(k_region_with_gaps_is_sent_but_not_exposed),
	KUNIT_CASE(k_region_is_read_across_its_pages),
	KUNIT_CASE(k_req_completes_in_softirq_context_on_demand),
	KUNIT_CASE(k_req_needs_an_established_connection),
	KUNIT_CASE(k_req_waits_for_no_slot),
	KUNIT_CASE(k_req_of_many_pages_takes_several_work_requests),
	KUNIT_CASE(k_req_that_is_a_message_has_one_work_request),
	KUNIT_CASE(k_req_is_checked),
	KUNIT_CASE(k_req_ends_with_its_connection),
	KUNIT_CASE(k_recv_is_with_the_device_at_once),
	KUNIT_CASE(k_recv_may_be_posted_before_the_connection_is_started),
	KUNIT_CASE(k_recv_refused_by_the_device_is_the_modules),
	KUNIT_CASE(k_recv_with_too_many_pieces_is_not_registered),
	KUNIT_CASE(k_expose_registers_with_the_message_that_tells_of_it),
	KUNIT_CASE(k_expose_lasts_until_it_is_concealed),
	KUNIT_CASE(k_expose_ends_when_the_peer_revokes_the_key),
	KUNIT_CASE(k_expose_is_checked),
	KUNIT_CASE(k_read_registers_its_buffer_where_it_must),
	KUNIT_CASE(k_read_without_room_for_that_is_refused),
	KUNIT_CASE(k_read_finds_memory_exposed),
	KUNIT_CASE(k_export_tells_its_segments),
	{}
};

static struct kunit_suite suite = {
	.name		= "kverbs_k_req",
	.test_cases	= cases,
};

kunit_test_suite(suite);
