// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Bandwidth: as many operations in flight as were asked for, on all lanes. */
#include <errno.h>
#include <stdlib.h>

#include "bench/field.h"
#include "cli/util.h"

/* The best stretch is of so many times what may be in flight. */
#define PEAK_DEPTHS 4

static int alloc_window(struct field *f)
{
	const struct bench_param *p = &f->param;
	uint64_t all = p->duration_ms ? UINT64_MAX : p->count * p->lanes;

	f->window_len = min((uint64_t)PEAK_DEPTHS * p->tx_depth * p->lanes, all);
	free(f->window);
	f->window = calloc(f->window_len, sizeof(*f->window));
	return f->window ? 0 : -ENOMEM;
}

/* From when the first of a stretch was posted until its last was complete. */
static void note_peak(struct field *f)
{
	uint64_t took = f->now - f->window[(f->done + 1) % f->window_len], rate;

	if (f->done + 1 < f->window_len || !took)
		return;
	rate = f->window_len * f->param.size * 1000000000. / took;
	f->result.peak_Bps = max(f->result.peak_Bps, rate);
}

/* Completions of one poll share a timestamp. */
static void on_complete(struct lane *l, const struct lane_op *op)
{
	struct field *f = l->data;

	if (!f->counts || l->error)
		return;
	if (!f->now)
		f->now = field_now();
	f->window[f->done % f->window_len] = op->at;
	note_peak(f);
	f->done++;
}

/* Look only at a lane that has news: of a thousand lanes few have any at a time. */
static void on_stirred(struct lane *l)
{
	struct field *f = l->data;

	if (l->waits || !l->drives)
		return;
	l->waits = true;
	l->next = f->stirred;
	f->stirred = l;
}

static void set_goals(struct field *f, uint64_t count)
{
	struct lane *l;

	for (l = f->lanes; l < f->lanes + f->nr_lanes; l++) {
		l->data = f;
		l->complete = on_complete;
		l->stirred = on_stirred;
		l->goal = count == UINT64_MAX ? count : l->posted + count;
		on_stirred(l);
	}
}

static void end_goals(struct field *f)
{
	struct lane *l;

	for (l = f->lanes; l < f->lanes + f->nr_lanes; l++) {
		lane_end_goal(l);
		on_stirred(l);
	}
}

static int push(struct field *f, struct lane *l, uint64_t now)
{
	int ret = lane_push(l, now);
	bool busy;

	if (ret) {
		lane_fail(l, NULL, ret);
		return ret;
	}
	busy = lane_busy(l);
	if (busy != l->counted)
		f->busy += busy ? 1 : -1;
	l->counted = busy;
	return 0;
}

/* 1: there is more to do. */
static int push_stirred(struct field *f, uint64_t now)
{
	struct lane *l;
	int ret;

	while ((l = f->stirred)) {
		f->stirred = l->next;
		l->waits = false;
		ret = push(f, l, now);
		if (ret)
			return ret;
	}
	return f->busy > 0;
}

static int drive(struct field *f, uint64_t count)
{
	uint64_t now;
	int ret;

	set_goals(f, count);
	for (;;) {
		now = field_now();
		field_maybe_tick(f, now);
		/* Keep the operations in flight: full queues are what warm-up is for. */
		if (field_is_warm(f, now))
			return 0;
		if (field_time_is_over(f, now)) {
			/* Operations in flight do not count, unless they are to be verified. */
			if (f->done && !(f->param.flags & BENCH_F_VERIFY))
				return 0;
			end_goals(f);
		}
		ret = push_stirred(f, now);
		if (ret <= 0)
			return ret;
		ret = field_wait(f, f->timeout_ms);
		if (!ret)
			ret = field_look(f, now);
		if (ret)
			return ret;
	}
}

int field_bandwidth(struct field *f)
{
	int ret = alloc_window(f);

	field_warm_up(f);
	if (!ret)
		ret = drive(f, f->param.warmup);
	if (ret)
		return ret;
	field_begin(f);
	ret = drive(f, f->param.duration_ms ? UINT64_MAX : f->param.count);
	field_end(f);
	return ret;
}
