// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What the two sides of a lane do, each time something is complete. */
#include <errno.h>

#include "bench/lane.h"
#include "bench/lane_note.h"
#include "bench/pattern.h"
#include "cli/util.h"

static bool verifies(const struct lane *l)
{
	return l->param->flags & BENCH_F_VERIFY;
}

static void stir(struct lane *l)
{
	if (l->stirred)
		l->stirred(l);
}

void lane_fail(struct lane *l, const struct kverbs_req *req, int err)
{
	if (l->error)
		return;
	l->error = err;
	l->wc_status = req ? req->wc_status : 0;
	stir(l);
}

bool lane_over(const struct lane *l)
{
	return !l->conn || kverbs_conn_error(l->conn);
}

static unsigned int index_of(const struct lane *l, const struct kverbs_req *req)
{
	return (const struct lane_op *)req - l->rx;
}

static void repost(struct lane *l, const struct kverbs_req *req)
{
	int ret = lane_post_recv(l, index_of(l, req));

	if (ret)
		lane_fail(l, NULL, ret);
}

/* The last byte of a WRITE that is looked for: another one than before, and not 0. */
static uint8_t mark_of(uint64_t seq)
{
	return seq % 255 + 1;
}

static size_t patterned(const struct lane *l)
{
	return l->param->size - (l->param->op == BENCH_WRITE_LAT);
}

bool lane_differs(const struct lane *l, const void *mem, uint64_t seq)
{
	return pattern_differs(mem, patterned(l), seq);
}

static const uint8_t *last_in(const struct lane *l)
{
	return (const uint8_t *)lane_in(l, 0) + l->param->size - 1;
}

static uint8_t last_now(const struct lane *l)
{
	return __atomic_load_n(last_in(l), __ATOMIC_ACQUIRE);
}

bool lane_arrived(const struct lane *l)
{
	return last_now(l) == mark_of(l->drives ? l->posted - 1 : l->received);
}

int lane_watch(struct lane *l, int timeout_ms)
{
	uint8_t old = last_now(l);

	return lane_arrived(l) ? 0 : kverbs_watch(l->conn, last_in(l), old, timeout_ms);
}

/* ---- operations ---------------------------------------------------------------- */

/* A slot is free once the operation that had it before is complete. */
static void fill(struct lane *l, uint64_t seq)
{
	uint8_t *last = (uint8_t *)lane_out(l, seq) + l->param->size - 1;

	if (l->param->op == BENCH_WRITE_LAT)
		*last = mark_of(seq);
	if (!verifies(l))
		return;
	if (l->rule->access == KVERBS_REMOTE_READ)
		pattern_fill(lane_out(l, seq), l->param->size, UINT64_MAX / 2);
	else if (l->rule->access != KVERBS_REMOTE_ATOMIC)
		pattern_fill(lane_out(l, seq), patterned(l), seq);
}

static uint64_t remote_offset(const struct lane *l, uint64_t seq)
{
	if (!verifies(l) || l->rule->kind != BENCH_BANDWIDTH)
		return 0;
	return seq % l->param->tx_depth * l->stride;
}

unsigned int lane_opcode(const struct lane *l)
{
	switch (l->rule->access) {
	case KVERBS_REMOTE_WRITE:
		return l->param->op == BENCH_IMM_LAT ? KVERBS_OP_WRITE_IMM : KVERBS_OP_WRITE;
	case KVERBS_REMOTE_READ:
		return KVERBS_OP_READ;
	case KVERBS_REMOTE_ATOMIC:
		return KVERBS_OP_FETCH_ADD;
	default:
		return KVERBS_OP_SEND;
	}
}

/* What the peer has answered has arrived, and who waits should not wake for it as well. */
bool lane_tells(const struct lane *l, uint64_t seq)
{
	return l->rule->kind == BENCH_BANDWIDTH || !l->rule->half || !((seq + 1) % l->nr_tx);
}

static void fill_op(struct lane *l, uint64_t seq, struct kverbs_op *op)
{
	fill(l, seq);
	*op = (struct kverbs_op){
		.opcode = lane_opcode(l),
		.imm = seq,
		.buf = l->mem,
		.offset = lane_offset(l, lane_out(l, seq)),
		.length = l->param->size,
		.token = &l->theirs,
		.remote_offset = remote_offset(l, seq),
		.operand = 1,
		.req = lane_tells(l, seq) ? &l->tx[seq % l->nr_tx].req : NULL,
	};
}

int lane_post_wait(struct lane *l, struct kverbs_req *req, int timeout_ms)
{
	struct kverbs_op op;

	fill_op(l, l->posted++, &op);
	return kverbs_post_wait(l->conn, &op, req, timeout_ms);
}

int lane_post_watch(struct lane *l, int timeout_ms)
{
	uint8_t old = last_now(l);
	struct kverbs_op op;

	fill_op(l, l->posted++, &op);
	return kverbs_post_watch(l->conn, &op, last_in(l), old, timeout_ms);
}

/* The peer has its operations one after another when those of a round are done. */
static bool asks(const struct lane *l)
{
	return verifies(l) && l->param->op == BENCH_WRITE_BW;
}

/* Where it stops for the time being, though there is room for more. */
static uint64_t next_stop(const struct lane *l)
{
	return asks(l) ? min(l->goal, l->granted) : l->goal;
}

/*
 * One of so many completes by itself; so does what nothing follows for now, and what
 * must, lest there be no room for the list that comes next.
 */
static bool is_signalled(const struct lane *l, uint64_t seq, uint64_t signalled, uint64_t end)
{
	uint64_t silent = seq + 1 - signalled;

	if (silent >= l->param->cq_mod || seq + 1 == next_stop(l))
		return true;
	return seq + 1 == end && silent + l->param->post_list > l->nr_tx;
}

static void fill_list(struct lane *l, unsigned int nr, uint64_t now)
{
	uint64_t seq, signalled = l->signalled, end = l->posted + nr;
	struct kverbs_op *op = l->ops;

	for (seq = l->posted; seq < end; seq++, op++) {
		l->tx[seq % l->nr_tx].at = now;
		fill_op(l, seq, op);
		if (is_signalled(l, seq, signalled, end))
			signalled = seq + 1;
		else
			op->req = NULL;
	}
}

static void note_signals(struct lane *l, uint64_t first, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (l->ops[i].req)
			l->signalled = first + i + 1;
}

/* The peer may answer the first while the call waits for room for the last. */
static int post_list(struct lane *l, unsigned int nr, uint64_t now)
{
	uint64_t first = l->posted;
	int ret;

	fill_list(l, nr, now);
	l->posted += nr;
	ret = kverbs_post(l->conn, l->ops, nr);
	nr = max(ret, 0);
	l->posted = first + nr;
	note_signals(l, first, nr);
	return min(ret, 0);
}

/* ---- the side that does not drive --------------------------------------------- */

/* Operations up to @number are in their slots: look at them. */
static void verify_up_to(struct lane *l, uint64_t number)
{
	if (number < l->received || number - l->received > l->param->tx_depth) {
		lane_fail(l, NULL, -EPROTO);
		return;
	}
	for (; l->received < number; l->received++)
		l->differed += pattern_differs(lane_in(l, l->received), l->param->size,
					       l->received);
	note_send(l, number);
}

static void on_question(struct kverbs_req *req)
{
	struct lane *l = ((struct lane_op *)req)->lane;
	uint64_t number;
	int ret;

	ret = req->result ? req->result : note_read(l, req, &number);
	if (ret) {
		lane_fail(l, req, ret);
		return;
	}
	repost(l, req);
	verify_up_to(l, number);
}

static void check_payload(struct lane *l, const struct kverbs_req *req)
{
	if (req->byte_len != l->param->size)
		l->differed++;
	else if (verifies(l) &&
		 pattern_differs(lane_in(l, l->received), l->param->size, l->received))
		l->differed++;
	l->received++;
}

/* Receives are posted again as operations are: by lists. */
static void repost_list(struct lane *l)
{
	unsigned int i, nr = l->recv_list;
	int ret;

	if (l->received - l->reposted < nr)
		return;
	for (i = 0; i < nr; i++)
		lane_recv_op(l, (l->reposted + i) % l->nr_rx, &l->ops[i]);
	ret = kverbs_post(l->conn, l->ops, nr);
	if (ret > 0)
		l->reposted += ret;
	if (ret < (int)nr)
		lane_fail(l, NULL, ret < 0 ? ret : -EAGAIN);
}

/* Credit is given back a quarter at a time: seldom, but before there is none. */
static void on_payload(struct kverbs_req *req)
{
	struct lane *l = ((struct lane_op *)req)->lane;

	if (req->result) {
		lane_fail(l, req, req->result);
		return;
	}
	check_payload(l, req);
	repost_list(l);
	if (l->reposted - l->noted >= max(l->nr_rx / 4, 1u))
		note_send(l, l->reposted);
}

static void take_question(struct lane *l)
{
	if (verifies(l))
		l->differed += lane_differs(l, lane_in(l, 0), l->received);
	l->received++;
}

/* The answer first, then the receive for the next question. */
static int answer_and_repost(struct lane *l, unsigned int i)
{
	struct kverbs_op ops[2];
	int ret;

	take_question(l);
	fill_op(l, l->posted, &ops[0]);
	lane_recv_op(l, i, &ops[1]);
	ret = kverbs_post(l->conn, ops, 2);
	if (ret < 0)
		return ret;
	l->posted++;
	return ret == 2 ? 0 : lane_post_recv(l, i);
}

int lane_answer(struct lane *l, int timeout_ms, int watch_ms)
{
	struct kverbs_req *req = &l->tx[l->posted % l->nr_tx].req;
	int ret = 0;

	if (l->posted >= l->nr_tx && lane_tells(l, l->posted))
		ret = kverbs_wait(req, timeout_ms);
	if (ret) {
		lane_fail(l, req, ret);
		return ret;
	}
	take_question(l);
	return lane_post_watch(l, watch_ms);
}

static void on_ping(struct kverbs_req *req)
{
	struct lane *l = ((struct lane_op *)req)->lane;
	int ret;

	if (req->result) {
		lane_fail(l, req, req->result);
		return;
	}
	ret = answer_and_repost(l, index_of(l, req));
	if (ret)
		lane_fail(l, NULL, ret);
}

/* ---- the side that drives ------------------------------------------------------ */

static void on_credit(struct kverbs_req *req)
{
	struct lane *l = ((struct lane_op *)req)->lane;
	uint64_t number;
	int ret;

	ret = req->result ? req->result : note_read(l, req, &number);
	if (!ret && (number > l->posted || number < l->told))
		ret = -EPROTO;
	if (ret) {
		lane_fail(l, req, ret);
		return;
	}
	l->told = number;
	l->granted = number + (l->rule->receives ? l->param->rx_depth : l->param->tx_depth);
	repost(l, req);
	stir(l);
}

static void count_complete(struct lane *l, const struct lane_op *op)
{
	if (verifies(l) && l->param->op == BENCH_READ_BW)
		l->differed += pattern_differs(lane_out(l, l->completed), l->param->size,
					       l->completed % l->param->tx_depth);
	l->completed++;
	l->complete(l, op);
}

/* With it those are complete that were posted before it and tell nothing themselves. */
static void on_complete(struct kverbs_req *req)
{
	const struct lane_op *op = (struct lane_op *)req, *each;
	struct lane *l = op->lane;

	if (req->result) {
		lane_fail(l, req, req->result);
		return;
	}
	do {
		each = &l->tx[l->completed % l->nr_tx];
		count_complete(l, each);
	} while (each != op);
	stir(l);
}

/* A whole list is posted, or what is left, as soon as there is room for it; else 0. */
static unsigned int next_list(const struct lane *l)
{
	uint64_t stop = next_stop(l), room = l->nr_tx - (l->posted - l->completed), nr;

	if (l->posted >= stop)
		return 0;
	nr = min(stop - l->posted, (uint64_t)l->param->post_list);
	if (l->rule->receives)
		room = min(room, l->granted - l->posted);
	return nr <= room ? nr : 0;
}

static bool round_is_over(const struct lane *l)
{
	return asks(l) && l->completed == l->posted && l->noted < l->posted &&
	       (l->posted == l->granted || l->posted >= l->goal);
}

int lane_push(struct lane *l, uint64_t now)
{
	int ret = l->error;
	unsigned int nr;

	while (!ret && (nr = next_list(l)))
		ret = post_list(l, nr, now);
	if (!ret && round_is_over(l))
		note_send(l, l->posted);
	return ret ? ret : l->error;
}

void lane_end_goal(struct lane *l)
{
	l->goal = min(l->goal, l->posted + (l->signalled < l->posted));
}

bool lane_busy(const struct lane *l)
{
	return l->posted < l->goal || l->completed < l->posted ||
	       (asks(l) && l->told < l->posted);
}

static kverbs_done_fn rx_callback(const struct lane *l)
{
	if (l->rule->kind == BENCH_LATENCY)
		return l->drives ? NULL : on_ping;
	if (l->drives)
		return on_credit;
	return l->rule->receives ? on_payload : on_question;
}

void lane_set_callbacks(struct lane *l)
{
	unsigned int i;

	for (i = 0; i < l->nr_rx; i++)
		l->rx[i].req.done = rx_callback(l);
	for (i = 0; i < l->nr_tx && l->rule->kind == BENCH_BANDWIDTH; i++)
		l->tx[i].req.done = on_complete;
}
