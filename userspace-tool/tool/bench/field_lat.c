// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Latency: one operation at a time, each of them timed. */
#include <errno.h>
#include <string.h>

#include "bench/field.h"

static bool is_stopped(const struct field *f)
{
	return f->stop && __atomic_load_n(f->stop, __ATOMIC_RELAXED);
}

static int await(struct field *f, struct kverbs_req *req)
{
	int ret;

	do
		ret = kverbs_wait(req, f->timeout_ms);
	while (ret == -EINTR && !is_stopped(f));
	return ret;
}

static int post_and_await(struct field *f, struct lane *l, struct kverbs_req *req)
{
	int ret = lane_post_wait(l, req, f->timeout_ms);

	return ret == -EINTR && !is_stopped(f) ? await(f, req) : ret;
}

/* Post, and wait for the last byte of the answer; -EPROTO if something else completed. */
static int post_and_watch(struct field *f, struct lane *l)
{
	int ret = lane_post_watch(l, f->timeout_ms);

	while (ret == -EINTR && !is_stopped(f))
		ret = lane_watch(l, f->timeout_ms);
	return !ret && !lane_arrived(l) ? -EPROTO : ret;
}

/* The receive for the peer's answer; NULL: the operation is its own answer. */
static struct kverbs_req *answer_of(struct lane *l, uint64_t seq)
{
	return l->rule->half ? &l->rx[seq % l->nr_rx].req : NULL;
}

static int round_trip(struct field *f, struct lane *l)
{
	uint64_t seq = l->posted;
	struct kverbs_req *req = &l->tx[seq % l->nr_tx].req;
	struct kverbs_req *answer = answer_of(l, seq);
	int ret;

	if (l->param->op == BENCH_WRITE_LAT)
		ret = post_and_watch(f, l);
	else
		ret = post_and_await(f, l, answer ? answer : req);
	if (ret)
		lane_fail(l, answer ? answer : req, ret);
	return ret;
}

/* Leave everything as it was before: a receive posted, a request to be used again. */
static int settle(struct field *f, struct lane *l)
{
	uint64_t seq = l->posted - 1;
	struct kverbs_req *next = &l->tx[l->posted % l->nr_tx].req;
	int ret = 0;

	if (answer_of(l, seq) && l->param->op != BENCH_WRITE_LAT)
		ret = lane_post_recv(l, seq % l->nr_rx);
	if (!ret && l->posted >= l->nr_tx && lane_tells(l, l->posted))
		ret = await(f, next);
	return ret;
}

static void verify(struct lane *l)
{
	const void *got = l->rule->half ? lane_in(l, 0) : lane_out(l, 0);
	uint64_t seq = l->posted - 1, was;

	if (!(l->param->flags & BENCH_F_VERIFY))
		return;
	if (l->param->op == BENCH_ATOMIC_LAT) {
		memcpy(&was, got, sizeof(was));
		l->differed += was != seq;
		return;
	}
	l->differed += lane_differs(l, got, l->param->op == BENCH_READ_LAT ? 0 : seq);
}

static int measure_one(struct field *f, struct lane *l)
{
	uint64_t before, took;
	int ret;

	before = field_now();
	ret = round_trip(f, l);
	f->now = field_now();
	if (ret)
		return ret;
	took = f->now - before;
	verify(l);
	if (f->counts) {
		hist_add(&f->hist, l->rule->half ? took / 2 : took);
		f->done++;
	}
	return settle(f, l);
}

/* As many as that, or until the time is over. */
static int measure(struct field *f, struct lane *l, uint64_t count)
{
	int ret = 0;

	while (count-- && !ret) {
		ret = measure_one(f, l);
		field_maybe_tick(f, f->now);
		if (field_time_is_over(f, f->now) || field_is_warm(f, f->now))
			break;
	}
	return ret;
}

int field_latency(struct field *f)
{
	struct lane *l = &f->lanes[0];
	int ret;

	field_warm_up(f);
	ret = measure(f, l, f->param.warmup);
	if (ret)
		return ret;
	field_begin(f);
	ret = measure(f, l, f->param.duration_ms ? UINT64_MAX : f->param.count);
	field_end(f);
	return ret;
}
