/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* All lanes of a measurement on one side, and what is measured of them. */
#ifndef KVERBS_TOOL_FIELD_H
#define KVERBS_TOOL_FIELD_H

#include "bench/lane.h"
#include "bench/param.h"
#include "cli/hist.h"

#define FIELD_TICK_NS 1000000000u

/**
 * struct field - one side of a measurement
 * @kv: the context
 * @param: what is measured
 * @lanes: those that the client drives, then those that the server does
 * @nr_lanes: how many
 * @timeout_ms: how long nothing may happen
 * @stop: ends it when it becomes non-zero, or NULL
 * @alive: asked now and then whether to go on, or NULL
 * @tick: called each second of what counts, or NULL
 * @looked: when @alive was asked last
 * @data: for those
 * @start: when what counts began, or before that the warm-up, ns
 * @next_tick: when to call @tick
 * @last_tick: when that was, or what counts began
 * @tick_ns: time that this call of @tick is about
 * @counts: warm-up is over
 * @now: the time of the completions that are looked at, 0: not known yet
 * @done: operations complete
 * @stirred: lanes to look at, the last one that something came for first
 * @busy: lanes that are not through with their goal
 * @window: when each of the last operations was posted, in order of completion
 * @window_len: how many of them
 * @result: what came of it
 * @hist: times of a latency
 */
struct field {
	struct kverbs *kv;
	struct bench_param param;
	struct lane *lanes;
	unsigned int nr_lanes;
	int timeout_ms;
	const int *stop;
	int (*alive)(struct field *f);
	void (*tick)(struct field *f);
	uint64_t looked;
	void *data;
	uint64_t start;
	uint64_t next_tick;
	uint64_t last_tick;
	uint64_t tick_ns;
	bool counts;
	uint64_t now;
	uint64_t done;
	struct lane *stirred;
	unsigned int busy;
	uint64_t *window;
	uint64_t window_len;
	struct bench_result result;
	struct hist hist;
};

uint64_t field_now(void);

/* Lanes without connections; @drives: what this side does with the first ones. */
int field_init(struct field *f, struct kverbs *kv, const struct bench_param *param,
	       bool drives);
void field_free(struct field *f);

/* Look for completions once. */
int field_wait(struct field *f, int timeout_ms);
/* Start and end of what counts. */
void field_begin(struct field *f);
void field_end(struct field *f);
/* Once all lanes are over: what was wrong, and what came in, warm-up and all. */
void field_sum(struct field *f);
/* Operations posted, and completed, including warm-up. */
uint64_t field_posted(const struct field *f);
uint64_t field_completed(const struct field *f);
/* Begin to warm up; and whether a tenth of a limit in time has gone with it. */
void field_warm_up(struct field *f);
bool field_is_warm(const struct field *f, uint64_t now);
/* Whether a limit in time is over. */
bool field_time_is_over(const struct field *f, uint64_t now);
/* 0, or why not to go on. */
int field_look(struct field *f, uint64_t now);
/* The first second begins. */
void field_restart_ticks(struct field *f, uint64_t now);
void field_maybe_tick(struct field *f, uint64_t now);

/* Drive this side's lanes. Each returns 0 or why it could not go on. */
int field_bandwidth(struct field *f);
int field_latency(struct field *f);
/* Answer until the peer has ended all lanes that it drives. */
int field_serve(struct field *f);
/* End the lanes that this side drives. */
void field_leave(struct field *f);

/* The first lane that broke, or NULL. */
const struct lane *field_broken(const struct field *f);

#endif /* KVERBS_TOOL_FIELD_H */
