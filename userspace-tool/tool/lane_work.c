// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What the two sides of a lane do, each time something is complete. */
#include <errno.h>

#include "lane.h"
#include "lane_note.h"
#include "pattern.h"
#include "util.h"

static bool verifies(const struct lane *l)
{
	return l->param->flags & BENCH_F_VERIFY;
}

void lane_fail(struct lane *l, const struct kverbs_req *req, int err)
{
	if (l->error)
		return;
	l->error = err;
	l->wc_status = req ? req->wc_status : 0;
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

bool lane_arrived(const struct lane *l)
{
	const uint8_t *last = (const uint8_t *)lane_in(l, 0) + l->param->size - 1;
	uint64_t seq = l->drives ? l->posted - 1 : l->received;

	return __atomic_load_n(last, __ATOMIC_ACQUIRE) == mark_of(seq);
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

/* Credit is given back a quarter at a time: seldom, but before there is none. */
static void on_payload(struct kverbs_req *req)
{
	struct lane *l = ((struct lane_op *)req)->lane;

	if (req->result) {
		lane_fail(l, req, req->result);
		return;
	}
	check_payload(l, req);
	repost(l, req);
	if (l->received - l->noted >= max(l->nr_rx / 4, 1u))
		note_send(l, l->received);
}

static int answer(struct lane *l)
{
	if (verifies(l))
		l->differed += lane_differs(l, lane_in(l, 0), l->received);
	l->received++;
	return lane_post(l);
}

void lane_answer(struct lane *l, int timeout_ms)
{
	struct kverbs_req *req = &l->tx[l->posted % l->nr_tx].req;
	int ret = 0;

	if (l->posted >= l->nr_tx)
		ret = kverbs_wait(req, timeout_ms);
	if (!ret)
		ret = answer(l);
	if (ret)
		lane_fail(l, req, ret);
}

/* The answer goes out before anything else is done. */
static void on_ping(struct kverbs_req *req)
{
	struct lane *l = ((struct lane_op *)req)->lane;
	int ret;

	if (req->result) {
		lane_fail(l, req, req->result);
		return;
	}
	ret = answer(l);
	if (ret)
		lane_fail(l, NULL, ret);
	repost(l, req);
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
}

static void on_complete(struct kverbs_req *req)
{
	struct lane_op *op = (struct lane_op *)req;
	struct lane *l = op->lane;

	if (req->result)
		lane_fail(l, req, req->result);
	else if (verifies(l) && l->param->op == BENCH_READ_BW)
		l->differed += pattern_differs(lane_out(l, l->completed), l->param->size,
					       l->completed % l->param->tx_depth);
	l->completed++;
	l->complete(l, op);
}

/* The peer has its operations one after another when those of a round are done. */
static bool asks(const struct lane *l)
{
	return verifies(l) && l->param->op == BENCH_WRITE_BW;
}

static bool may_post(const struct lane *l)
{
	if (l->posted >= l->goal || l->posted - l->completed >= l->nr_tx)
		return false;
	if (l->rule->receives || asks(l))
		return l->posted < l->granted;
	return true;
}

static bool round_is_over(const struct lane *l)
{
	return asks(l) && l->completed == l->posted && l->noted < l->posted &&
	       (l->posted == l->granted || l->posted >= l->goal);
}

int lane_push(struct lane *l, uint64_t now)
{
	int ret = l->error;

	while (!ret && may_post(l)) {
		l->tx[l->posted % l->nr_tx].at = now;
		ret = lane_post(l);
	}
	if (!ret && round_is_over(l))
		note_send(l, l->posted);
	return ret ? ret : l->error;
}

bool lane_busy(const struct lane *l)
{
	return l->posted < l->goal || l->completed < l->posted ||
	       (asks(l) && l->told < l->posted);
}

/* ---- operations ---------------------------------------------------------------- */

/* A slot is free once the operation that had it before is complete. */
static void fill(struct lane *l)
{
	uint8_t *last = (uint8_t *)lane_out(l, l->posted) + l->param->size - 1;

	if (l->param->op == BENCH_WRITE_LAT)
		*last = mark_of(l->posted);
	if (!verifies(l))
		return;
	if (l->rule->access == KVERBS_REMOTE_READ)
		pattern_fill(lane_out(l, l->posted), l->param->size, UINT64_MAX / 2);
	else if (l->rule->access != KVERBS_REMOTE_ATOMIC)
		pattern_fill(lane_out(l, l->posted), patterned(l), l->posted);
}

static uint64_t remote_offset(const struct lane *l)
{
	if (!verifies(l) || l->rule->kind != BENCH_BANDWIDTH)
		return 0;
	return l->posted % l->param->tx_depth * l->stride;
}

int lane_post(struct lane *l)
{
	struct kverbs_req *req = &l->tx[l->posted % l->nr_tx].req;
	size_t at, size = l->param->size;
	int ret;

	fill(l);
	at = lane_offset(l, lane_out(l, l->posted));
	switch (l->rule->access) {
	case KVERBS_REMOTE_WRITE:
		if (l->param->op == BENCH_IMM_LAT)
			ret = kverbs_write_imm(l->conn, l->mem, at, size, &l->theirs, 0,
					       l->posted, req);
		else
			ret = kverbs_write(l->conn, l->mem, at, size, &l->theirs,
					   remote_offset(l), req);
		break;
	case KVERBS_REMOTE_READ:
		ret = kverbs_read(l->conn, l->mem, at, size, &l->theirs,
				  remote_offset(l), req);
		break;
	case KVERBS_REMOTE_ATOMIC:
		ret = kverbs_fetch_add(l->conn, l->mem, at, &l->theirs, 0, 1, req);
		break;
	default:
		ret = kverbs_send(l->conn, l->mem, at, size, req);
		break;
	}
	l->posted += !ret;
	return ret;
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
