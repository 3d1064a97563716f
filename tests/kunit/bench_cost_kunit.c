// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Cost of kverbs on top of the verbs: small WRITEs through a submission ring, compared with a bare
 * loop of ib_post_send() and ib_poll_cq() on the same device. The devices are the fake one, which
 * stores work requests as an HCA would, and one that does almost nothing, so that its times are
 * those of the software alone.
 */
#include <linux/ktime.h>

#include "conn_cmd.h"
#include "fake_file.h"
#include "fake_queue.h"
#include "fake_region.h"
#include "region_cmd.h"
#include "submit.h"
#include "verbs.h"

#define BATCH		32
#define LENGTH		64
#define RKEY		7
/* The best of this many rounds counts: other work on the machine only makes rounds longer. */
#define ROUNDS		7
/* Times on debug kernels are meaningless. */
#define LOOKS_FOR_BUGS	(IS_ENABLED(CONFIG_KASAN) || IS_ENABLED(CONFIG_PROVE_LOCKING) || \
			 IS_ENABLED(CONFIG_GCOV_KERNEL))

static unsigned int batches = LOOKS_FOR_BUGS ? 20 : 500;
module_param(batches, uint, 0444);
MODULE_PARM_DESC(batches, "batches in each round; with ten times the default the costs are steadier");

/**
 * struct quick_wqe - a work request as stored by the device
 * @cqe: its completion handler
 * @remote_addr: its remote address
 * @sge: its local buffer
 * @rkey: key of the peer's memory
 * @opcode: its opcode
 */
struct quick_wqe {
	struct ib_cqe *cqe;
	u64 remote_addr;
	struct ib_sge sge;
	u32 rkey;
	u32 opcode;
};

/**
 * struct quick - a device that completes each work request at once
 * @wqes: posted work requests
 * @head: number of completions polled
 * @tail: number of work requests posted
 */
struct quick {
	struct quick_wqe wqes[2 * BATCH];
	unsigned int head;
	unsigned int tail;
};

static struct quick quick;

static int quick_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			   const struct ib_send_wr **bad)
{
	for (; wr; wr = wr->next) {
		struct quick_wqe *wqe = &quick.wqes[quick.tail++ % ARRAY_SIZE(quick.wqes)];

		wqe->cqe = wr->send_flags & IB_SEND_SIGNALED ? wr->wr_cqe : NULL;
		wqe->remote_addr = rdma_wr(wr)->remote_addr;
		wqe->rkey = rdma_wr(wr)->rkey;
		wqe->opcode = wr->opcode;
		wqe->sge = wr->sg_list[0];
	}
	return 0;
}

static int quick_poll_cq(struct ib_cq *cq, int room, struct ib_wc *wcs)
{
	int nr = 0;

	while (nr < room && quick.head != quick.tail) {
		struct quick_wqe *wqe = &quick.wqes[quick.head++ % ARRAY_SIZE(quick.wqes)];

		if (!wqe->cqe)
			continue;
		wcs[nr].wr_cqe = wqe->cqe;
		wcs[nr].status = IB_WC_SUCCESS;
		wcs[nr].opcode = IB_WC_RDMA_WRITE;
		wcs[nr++].byte_len = wqe->sge.length;
	}
	return nr;
}

/* The fake device's own post_send. */
static int (*fake_post_send)(struct ib_qp *qp, const struct ib_send_wr *wr,
			     const struct ib_send_wr **bad);

/* Completes each work request when it is posted. */
static int prompt_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			    const struct ib_send_wr **bad)
{
	struct fake_hca *hca = to_fake_hca(qp->device);
	unsigned int i;
	int ret;

	if (hca->nr_sends >= BATCH)
		hca->nr_sends = 0;
	i = hca->nr_sends;
	ret = fake_post_send(qp, wr, bad);
	for (; i < hca->nr_sends; i++)
		if (hca->sends[i].send_flags & IB_SEND_SIGNALED)
			fake_wr_complete(&hca->sends[i], IB_WC_SUCCESS);
	return ret;
}

/**
 * struct bare - an operation of the bare loop
 * @cqe: its completion handler
 * @wr: its work request
 * @sge: its buffer
 * @done: number of completions
 */
struct bare {
	struct ib_cqe cqe;
	struct ib_rdma_wr wr;
	struct ib_sge sge;
	unsigned int done;
};

/**
 * struct cost - two ways to the same device
 * @hca: the device
 * @bare: operations of the bare loop
 * @conn: connection of kverbs, established
 * @conn_obj: its object
 * @region: source of the WRITEs
 * @region_obj: its object
 * @file: the file
 * @ring: the connection's ring
 * @cq: completion queue of both ways
 * @submit: submits a batch and waits for it
 */
struct cost {
	struct fake_hca *hca;
	struct bare bare[BATCH];
	struct kverbs_conn conn;
	struct kverbs_conn_obj conn_obj;
	struct fake_region *region;
	struct kverbs_region_obj region_obj;
	struct kverbs_file *file;
	struct kverbs_ring *ring;
	struct kverbs_cq *cq;
	struct kverbs_cmd_submit submit;
};

/* ---- the bare loop ------------------------------------------------------------- */

static void bare_done(struct ib_cq *cq, struct ib_wc *wc)
{
	container_of(wc->wr_cqe, struct bare, cqe)->done++;
}

static void bare_fill(struct bare *bare, struct bare *next)
{
	bare->cqe.done = bare_done;
	bare->sge = (struct ib_sge) { .addr = 0x10000, .length = LENGTH, .lkey = FAKE_LKEY };
	bare->wr = (struct ib_rdma_wr) {
		.wr.next = next ? &next->wr.wr : NULL,
		.wr.wr_cqe = &bare->cqe,
		.wr.sg_list = &bare->sge,
		.wr.num_sge = 1,
		.wr.opcode = IB_WR_RDMA_WRITE,
		.wr.send_flags = IB_SEND_SIGNALED,
		.remote_addr = 0x20000,
		.rkey = RKEY,
	};
}

static void bare_batch(struct kunit *test, struct cost *cost)
{
	struct ib_wc wcs[16];
	int i, nr, left = BATCH;

	for (i = 0; i < BATCH; i++)
		bare_fill(&cost->bare[i], i + 1 < BATCH ? &cost->bare[i + 1] : NULL);
	if (ib_post_send(&cost->hca->qp, &cost->bare[0].wr.wr, NULL))
		KUNIT_FAIL(test, "the device refused");
	while (left > 0) {
		nr = ib_poll_cq(cost->cq->ib, ARRAY_SIZE(wcs), wcs);
		for (i = 0; i < nr; i++)
			wcs[i].wr_cqe->done(cost->cq->ib, &wcs[i]);
		left -= nr;
	}
}

/* ---- through kverbs ---------------------------------------------------------------- */

static void fill_sqe(struct cost *cost, struct kverbs_sqe *sqe, u64 user_data)
{
	*sqe = (struct kverbs_sqe) {
		.opcode = KVERBS_OP_WRITE,
		.flags = KVERBS_SQE_SIGNAL,
		.conn_id = cost->conn_obj.obj.id,
		.user_data = user_data,
		.remote_addr = 0x20000,
		.rkey = RKEY,
		.region_id = cost->region_obj.obj.id,
		.length = LENGTH,
	};
}

/* This includes the library's part in user space. */
static void ring_batch(struct kunit *test, struct cost *cost)
{
	struct kverbs_ucmd ucmd = { .file = cost->file, .cmd = &cost->submit };
	struct kverbs_ring_user *user = fake_ring_user(cost->ring);
	struct kverbs_ring_kernel *kernel = fake_ring_kernel(cost->ring);
	struct kverbs_sqe *sqes = cost->ring->sq.addr;
	unsigned int i;

	for (i = 0; i < BATCH; i++)
		fill_sqe(cost, &sqes[(user->sq_tail + i) % BATCH], i);
	/* Publish the entries. */
	smp_store_release(&user->sq_tail, user->sq_tail + BATCH);
	if (kverbs_cmd_submit(&ucmd) || cost->submit.out_taken != BATCH)
		KUNIT_FAIL(test, "SUBMIT took %u", cost->submit.out_taken);
	/* Read the completions. */
	while (user->cq_head != smp_load_acquire(&kernel->cq_tail)) {
		if (fake_ring_cqe(cost->ring, user->cq_head)->result)
			KUNIT_FAIL(test, "a WRITE failed");
		/* Release the slot. */
		smp_store_release(&user->cq_head, user->cq_head + 1);
	}
}

/* ---- setup ------------------------------------------------------------------------ */

static int destroy(struct kverbs_object *obj)
{
	return 0;
}

static const struct kverbs_object_ops object_ops = {
	.shutdown = kverbs_rings_forget,
	.destroy = destroy,
};

static void publish(struct kunit *test, struct cost *cost, struct kverbs_object *obj,
		    enum kverbs_object_type type)
{
	KUNIT_ASSERT_EQ(test, 0, kverbs_object_reserve(cost->file, obj, type, &object_ops));
	kverbs_object_publish(obj);
}

static const struct kverbs_cq_need batch = { .nr = BATCH };

static void put_cq(void *data)
{
	struct cost *cost = data;

	kverbs_cq_put(&cost->ring->cqs, cost->cq, &batch);
}

static void make_ring(struct kunit *test, struct cost *cost)
{
	struct kverbs_cmd_ring_create cmd = {
		.flags = KVERBS_RING_BUSY_POLL, .sq_entries = BATCH, .cq_entries = 2 * BATCH,
	};
	struct kverbs_cq *cq;

	cost->file = fake_file_create(test);
	KUNIT_ASSERT_EQ(test, 0, fake_ring_try_create(cost->file, &cmd, &cost->ring));
	cq = kverbs_cq_get(&cost->ring->cqs, &cost->hca->ib, &batch);
	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	cost->cq = cq;
	cost->hca->qp.send_cq = cq->ib;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, put_cq, cost));
}

static void use_device(struct fake_hca *hca, bool prompt)
{
	fake_post_send = hca->ib.ops.post_send;
	hca->ib.ops.post_send = prompt ? prompt_post_send : quick_post_send;
	if (!prompt)
		hca->ib.ops.poll_cq = quick_poll_cq;
}

static struct cost *make_cost(struct kunit *test, bool prompt)
{
	struct cost *cost = kunit_kzalloc(test, sizeof(*cost), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cost);
	cost->hca = fake_hca_create(test);
	cost->hca->ib.attrs.max_cqe = 4096;
	use_device(cost->hca, prompt);
	cost->region = fake_region_create(test, &cost->hca->ib, 0, PAGE_SIZE);
	fake_region_add_span(test, cost->region, 0x10000, PAGE_SIZE);
	fake_queue_conn(&cost->conn, cost->hca, BATCH);
	make_ring(test, cost);
	cost->conn_obj.conn = &cost->conn;
	cost->conn_obj.ring = cost->ring;
	cost->region_obj.region = &cost->region->region;
	publish(test, cost, &cost->conn_obj.obj, KVERBS_OBJ_CONN);
	publish(test, cost, &cost->region_obj.obj, KVERBS_OBJ_REGION);
	cost->submit.ring_id = cost->ring->obj.id;
	cost->submit.to_submit = BATCH;
	cost->submit.min_complete = BATCH;
	return cost;
}

/* ---- the comparison ------------------------------------------------------------------ */

/* Picoseconds per operation. */
static u64 time_of(struct kunit *test, struct cost *cost,
		   void (*batch)(struct kunit *test, struct cost *cost))
{
	unsigned int i, nr = max(batches, 1U);
	u64 before = ktime_get_ns();

	for (i = 0; i < nr; i++)
		batch(test, cost);
	return div_u64((ktime_get_ns() - before) * 1000, nr * BATCH);
}

/* Print the times without judging them: their meaning depends on the machine. */
static void compare(struct kunit *test, struct cost *cost)
{
	u64 bare = U64_MAX, ring = U64_MAX, percent;
	unsigned int i;

	/* As a build for use would be. */
	static_branch_disable(&kverbs_checks);
	for (i = 0; i < ROUNDS; i++) {
		bare = min(bare, time_of(test, cost, bare_batch));
		ring = min(ring, time_of(test, cost, ring_batch));
		cond_resched();
	}
	static_branch_enable(&kverbs_checks);
	percent = div64_u64(ring * 100, max(bare, 1ULL));
	kunit_info(test, "WRITE of %u bytes, batch %u: verbs %llu.%llu ns, kverbs %llu.%llu ns, ratio %llu.%02llu",
		   LENGTH, BATCH, bare / 1000, bare / 100 % 10, ring / 1000, ring / 100 % 10,
		   percent / 100, percent % 100);
}

static void cost_is_told_of_a_device_that_remembers(struct kunit *test)
{
	compare(test, make_cost(test, true));
}

static void cost_is_told_of_a_device_that_does_nothing(struct kunit *test)
{
	compare(test, make_cost(test, false));
}

static struct kunit_case bench_cost_cases[] = {
	KUNIT_CASE_SLOW(cost_is_told_of_a_device_that_remembers),
	KUNIT_CASE_SLOW(cost_is_told_of_a_device_that_does_nothing),
	{}
};

static struct kunit_suite bench_cost_suite = {
	.name = "kverbs_bench_cost",
	.test_cases = bench_cost_cases,
};

kunit_test_suite(bench_cost_suite);
