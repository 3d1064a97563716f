// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Maximum rate of a real device, and the rate with kverbs: lists of small operations posted by a
 * bare loop of ib_post_send(), and by the module's bench on the same queue pair. Both use the same
 * completion queue.
 */
#include <linux/ktime.h>

#include "bench.h"
#include "k_conn.h"
#include "live.h"
#include "patience.h"

#define LENGTH		64
#define LIST		32
#define LISTS		2
#define DEPTH		(LIST * LISTS)
/* Times on debug kernels are meaningless. */
#define LOOKS_FOR_BUGS	(IS_ENABLED(CONFIG_KASAN) || IS_ENABLED(CONFIG_PROVE_LOCKING) || \
			 IS_ENABLED(CONFIG_GCOV_KERNEL))
/* The best of this many rounds counts: other work on the machine only makes rounds longer. */
#define ROUNDS		(LOOKS_FOR_BUGS ? 1 : 7)

static unsigned int turns = LOOKS_FOR_BUGS ? 4 : 50;
module_param(turns, uint, 0444);
MODULE_PARM_DESC(turns, "lists in each round; with ten times the default the rates are steadier");

static unsigned int nr_ops(void)
{
	return max(turns, 1U) * LIST;
}

/**
 * struct bare_list - operations of the bare loop that are posted together
 * @cqe: completion handler of the last one
 * @done: all of them have completed
 * @status: status of the last one
 * @wrs: the operations
 */
struct bare_list {
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
	struct ib_rdma_wr wrs[LIST];
};

/**
 * struct bare_recv - a receive of the peer, posted again when it has completed
 * @cqe: its completion handler
 * @wr: its work request
 */
struct bare_recv {
	struct ib_cqe cqe;
	struct ib_recv_wr wr;
};

/**
 * struct rate - two ways to the same queue pair
 * @live: both ends
 * @ib: their device
 * @opcode: enum kverbs_opcode
 * @sge: local buffer of the operations
 * @inbox: buffer of the receives
 * @lists: operations of the bare loop
 * @recvs: receives of the peer
 */
struct rate {
	struct live *live;
	struct ib_device *ib;
	u8 opcode;
	struct ib_sge sge;
	struct ib_sge inbox;
	struct bare_list lists[LISTS];
	struct bare_recv recvs[DEPTH];
};

/* ---- the bare loop ---------------------------------------------------------------- */

static void list_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct bare_list *list = container_of(wc->wr_cqe, struct bare_list, cqe);

	list->status = wc->status;
	complete(&list->done);
}

static enum ib_wr_opcode verb(u8 opcode)
{
	switch (opcode) {
	case KVERBS_OP_WRITE:
		return IB_WR_RDMA_WRITE;
	case KVERBS_OP_READ:
		return IB_WR_RDMA_READ;
	default:
		return IB_WR_SEND;
	}
}

static void fill_list(struct rate *rate, struct bare_list *list)
{
	struct ib_mr *mr = rate->live->export->mrs[0]->ib;
	unsigned int i;

	for (i = 0; i < LIST; i++)
		list->wrs[i] = (struct ib_rdma_wr) {
			.wr.next = i + 1 < LIST ? &list->wrs[i + 1].wr : NULL,
			.wr.wr_cqe = &list->cqe,
			.wr.sg_list = &rate->sge,
			.wr.num_sge = 1,
			.wr.opcode = verb(rate->opcode),
			.wr.send_flags = i + 1 < LIST ? 0 : IB_SEND_SIGNALED,
			.remote_addr = mr->iova,
			.rkey = mr->rkey,
		};
}

static bool await_list(struct bare_list *list)
{
	return live_await(&list->done) && list->status == IB_WC_SUCCESS;
}

static bool bare_turns(struct rate *rate)
{
	struct ib_qp *qp = rate->live->client.conn->qp;
	struct bare_list *list;
	unsigned int i;

	for (i = 0; i < nr_ops() / LIST; i++) {
		list = &rate->lists[i % LISTS];
		if (i >= LISTS && !await_list(list))
			return false;
		fill_list(rate, list);
		if (ib_post_send(qp, &list->wrs[0].wr, NULL))
			return false;
	}
	for (i = 0; i < LISTS; i++)
		if (!await_list(&rate->lists[i]))
			return false;
	return true;
}

/* Picoseconds per operation. */
static u64 bare(struct kunit *test, struct rate *rate)
{
	u64 before = ktime_get_ns();

	KUNIT_ASSERT_TRUE(test, bare_turns(rate));
	return div_u64((ktime_get_ns() - before) * 1000, nr_ops());
}

/* ---- through kverbs ----------------------------------------------------------------- */

static u64 engine(struct kunit *test, struct rate *rate)
{
	struct ib_mr *mr = rate->live->export->mrs[0]->ib;
	struct kverbs_bench_part part = {
		.addr = mr->iova, .length = LENGTH, .rkey = mr->rkey,
	};
	struct kverbs_bench_result result = {};
	struct kverbs_k_conn lent;
	struct kverbs_bench_plan plan = {
		.opcode = rate->opcode,
		.local = { .region = rate->live->client.region, .length = LENGTH },
		.parts = rate->opcode == KVERBS_OP_SEND ? NULL : &part,
		.nr_parts = 1,
		.depth = DEPTH,
		.post_list = LIST,
		.cq_mod = LIST,
		.count = nr_ops(),
		.timeout_ns = FAKE_PATIENCE_NS,
	};

	kverbs_k_conn_lend(&lent, rate->live->client.conn);
	KUNIT_ASSERT_EQ(test, 0, kverbs_bench_run(&lent, &plan, &result));
	KUNIT_ASSERT_EQ(test, 0, result.error);
	KUNIT_EXPECT_EQ(test, nr_ops(), result.ops);
	return div_u64(result.elapsed_ns * 1000, nr_ops());
}

/* ---- the peer ------------------------------------------------------------------------- */

/*
 * The sender's completion follows in the same queue: there are receives for all that it may have in
 * flight.
 */
static void recv_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct bare_recv *recv = container_of(wc->wr_cqe, struct bare_recv, cqe);

	if (wc->status == IB_WC_SUCCESS)
		ib_post_recv(wc->qp, &recv->wr, NULL);
}

static void post_recvs(struct kunit *test, struct rate *rate)
{
	struct bare_recv *recv;

	for (recv = rate->recvs; recv < rate->recvs + DEPTH; recv++) {
		recv->cqe.done = recv_done;
		recv->wr.wr_cqe = &recv->cqe;
		recv->wr.sg_list = &rate->inbox;
		recv->wr.num_sge = 1;
		KUNIT_ASSERT_EQ(test, 0, ib_post_recv(rate->live->server.conn->qp, &recv->wr,
						      NULL));
	}
}

/* ---- setup ---------------------------------------------------------------------------- */

static struct ib_sge sge_of(struct kunit *test, struct rate *rate, struct live_end *end,
			    u8 *buffer)
{
	u64 addr = ib_dma_map_single(rate->ib, buffer, LENGTH, DMA_BIDIRECTIONAL);

	KUNIT_ASSERT_EQ(test, 0, ib_dma_mapping_error(rate->ib, addr));
	return (struct ib_sge) {
		.addr = addr,
		.length = LENGTH,
		.lkey = end->conn->qp->pd->local_dma_lkey,
	};
}

static void unmap(void *data)
{
	struct rate *rate = data;

	if (rate->sge.length)
		ib_dma_unmap_single(rate->ib, rate->sge.addr, LENGTH, DMA_BIDIRECTIONAL);
	if (rate->inbox.length)
		ib_dma_unmap_single(rate->ib, rate->inbox.addr, LENGTH, DMA_BIDIRECTIONAL);
}

/* These outlive the connections, whose end completes the receives. */
static struct rate *open_rate(struct kunit *test, u8 opcode)
{
	struct rate *rate = kunit_kzalloc(test, sizeof(*rate), GFP_KERNEL);
	u8 *buffers = kunit_kzalloc(test, 2 * LENGTH, GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, rate);
	KUNIT_ASSERT_NOT_NULL(test, buffers);
	rate->opcode = opcode;
	for (i = 0; i < LISTS; i++) {
		rate->lists[i].cqe.done = list_done;
		init_completion(&rate->lists[i].done);
	}
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, unmap, rate));
	rate->live = live_open(test);
	live_export(rate->live, KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE);
	rate->ib = rate->live->client.conn->qp->device;
	rate->sge = sge_of(test, rate, &rate->live->client, buffers);
	rate->inbox = sge_of(test, rate, &rate->live->server, buffers + LENGTH);
	return rate;
}

/* ---- the comparison -------------------------------------------------------------------- */

/* Print the rates without judging them: their meaning depends on the machine. */
static void compare(struct kunit *test, struct rate *rate, const char *name)
{
	u64 verbs = U64_MAX, kverbs = U64_MAX, percent;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		verbs = min(verbs, bare(test, rate));
		kverbs = min(kverbs, engine(test, rate));
	}
	percent = div64_u64(kverbs * 100, max(verbs, 1ULL));
	kunit_info(test, "%s of %u bytes, lists of %u: verbs %llu ns, kverbs %llu ns, ratio %llu.%02llu",
		   name, LENGTH, LIST, verbs / 1000, kverbs / 1000, percent / 100, percent % 100);
}

static void live_send_rate_is_told_beside_that_of_the_verbs(struct kunit *test)
{
	struct rate *rate = open_rate(test, KVERBS_OP_SEND);

	post_recvs(test, rate);
	compare(test, rate, "SEND");
}

static void live_write_rate_is_told_beside_that_of_the_verbs(struct kunit *test)
{
	compare(test, open_rate(test, KVERBS_OP_WRITE), "WRITE");
}

/* On iWARP a READ response is placed with a key of the buffer, not with local_dma_lkey. */
static void live_read_rate_is_told_beside_that_of_the_verbs(struct kunit *test)
{
	struct rate *rate = open_rate(test, KVERBS_OP_READ);

	if (rate->live->client.conn->transport == KVERBS_TRANSPORT_IWARP)
		return;
	compare(test, rate, "READ");
}

static struct kunit_case live_rate_cases[] = {
	KUNIT_CASE_SLOW(live_send_rate_is_told_beside_that_of_the_verbs),
	KUNIT_CASE_SLOW(live_write_rate_is_told_beside_that_of_the_verbs),
	KUNIT_CASE_SLOW(live_read_rate_is_told_beside_that_of_the_verbs),
	{}
};

static struct kunit_suite live_rate_suite = {
	.name = "kverbs_live_rate",
	.test_cases = live_rate_cases,
};

kunit_test_suite(live_rate_suite);
