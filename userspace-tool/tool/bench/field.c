// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench/field.h"
#include "bench/host.h"
#include "cli/util.h"

#define NSEC_PER_SEC 1000000000ull

/* How often a server asks whether it is to go on. */
#define LOOK_MS 500

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

uint64_t field_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

int field_init(struct field *f, struct kverbs *kv, const struct bench_param *param,
	       bool drives)
{
	unsigned int i, nr = param->lanes;
	int ret = 0;

	f->kv = kv;
	f->param = *param;
	if (param->flags & BENCH_F_BOTH_WAYS)
		nr *= 2;
	f->lanes = calloc(nr, sizeof(*f->lanes));
	if (!f->lanes)
		return -ENOMEM;
	for (i = 0; i < nr && !ret; i++) {
		f->nr_lanes++;
		ret = lane_init(&f->lanes[i], kv, &f->param, i,
				i < param->lanes ? drives : !drives);
	}
	return ret;
}

void field_free(struct field *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_lanes; i++)
		lane_free(&f->lanes[i]);
	free(f->lanes);
	free(f->window);
	f->lanes = NULL;
	f->stirred = NULL;
	f->busy = 0;
	f->window = NULL;
	f->nr_lanes = 0;
}

const struct lane *field_broken(const struct field *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_lanes; i++)
		if (f->lanes[i].drives && f->lanes[i].error)
			return &f->lanes[i];
	return NULL;
}

static bool stopped(const struct field *f)
{
	return f->stop && __atomic_load_n(f->stop, __ATOMIC_RELAXED);
}

int field_wait(struct field *f, int timeout_ms)
{
	int ret;

	f->now = 0;
	if (stopped(f))
		return -EINTR;
	ret = kverbs_process(f->kv, timeout_ms);
	if (ret > 0 || (ret == -EINTR && !stopped(f)))
		return 0;
	return ret ? ret : -ETIMEDOUT;
}

/* Add the CPU time and context switches of this thread, which measures. */
static void add_cost(struct bench_result *r, int sign)
{
	struct rusage usage;

	r->cpu_ns += sign * clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (getrusage(RUSAGE_THREAD, &usage))
		return;
	r->sleeps += sign * usage.ru_nvcsw;
	r->preempted += sign * usage.ru_nivcsw;
}

/* Cost of the whole host: interrupt and kernel threads do much of an operation. */
static void add_host_cost(struct bench_result *r, int sign)
{
	struct host_work w;

	host_read(&w);
	r->host_cpu_ns += sign * w.cpu_ns;
	r->host_interrupts += sign * w.interrupts;
	r->host_switches += sign * w.switches;
}

void field_begin(struct field *f)
{
	memset(&f->result, 0, sizeof(f->result));
	memset(&f->hist, 0, sizeof(f->hist));
	f->done = 0;
	f->counts = true;
	add_host_cost(&f->result, -1);
	add_cost(&f->result, -1);
	f->start = field_now();
	field_restart_ticks(f, f->start);
}

void field_end(struct field *f)
{
	f->result.elapsed_ns = field_now() - f->start;
	add_cost(&f->result, 1);
	add_host_cost(&f->result, 1);
	f->counts = false;
	f->result.ops = f->done;
	f->result.bytes = f->done * f->param.size;
}

void field_sum(struct field *f)
{
	unsigned int i;

	f->result.differed = 0;
	f->result.received = 0;
	for (i = 0; i < f->nr_lanes; i++) {
		f->result.differed += f->lanes[i].differed;
		if (!f->lanes[i].drives)
			f->result.received += f->lanes[i].received;
	}
}

uint64_t field_posted(const struct field *f)
{
	uint64_t posted = 0;
	unsigned int i;

	for (i = 0; i < f->nr_lanes; i++)
		if (f->lanes[i].drives)
			posted += f->lanes[i].posted;
	return posted;
}

uint64_t field_completed(const struct field *f)
{
	uint64_t completed = 0;
	unsigned int i;

	for (i = 0; i < f->nr_lanes; i++)
		if (f->lanes[i].drives)
			completed += f->lanes[i].completed;
	return completed;
}

void field_warm_up(struct field *f)
{
	f->counts = false;
	f->start = field_now();
}

bool field_is_warm(const struct field *f, uint64_t now)
{
	return !f->counts && f->param.duration_ms &&
	       now - f->start >= f->param.duration_ms * 100000ull;
}

bool field_time_is_over(const struct field *f, uint64_t now)
{
	return f->counts && f->param.duration_ms &&
	       now - f->start >= f->param.duration_ms * 1000000ull;
}

int field_look(struct field *f, uint64_t now)
{
	if (!f->alive || now - f->looked < LOOK_MS * 1000000ull)
		return 0;
	f->looked = now;
	return f->alive(f);
}

void field_restart_ticks(struct field *f, uint64_t now)
{
	f->last_tick = now;
	f->next_tick = now + FIELD_TICK_NS;
}

/* Call ->tick() once, however many seconds are over since the last call. */
void field_maybe_tick(struct field *f, uint64_t now)
{
	if (!f->counts || !f->tick || now < f->next_tick)
		return;
	while (f->next_tick <= now)
		f->next_tick += FIELD_TICK_NS;
	f->tick_ns = now - f->last_tick;
	f->last_tick = now;
	f->tick(f);
}

static bool all_over(const struct field *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_lanes; i++)
		if (!f->lanes[i].drives && !lane_over(&f->lanes[i]))
			return false;
	return true;
}

/* A WRITE is told by nothing but its last byte. */
static int watch(struct field *f, struct lane *l)
{
	int watch_ms = min(f->timeout_ms, LOOK_MS), ret;

	if (lane_arrived(l))
		ret = lane_answer(l, f->timeout_ms, watch_ms);
	else
		ret = lane_watch(l, watch_ms);
	if (ret && ret != -ETIMEDOUT && ret != -EINTR && !lane_over(l))
		return ret;
	f->now = 0;
	return 0;
}

int field_serve(struct field *f)
{
	int ret = 0;

	while (!ret && !all_over(f)) {
		if (f->param.op == BENCH_WRITE_LAT)
			ret = watch(f, &f->lanes[0]);
		else
			ret = field_wait(f, min(f->timeout_ms, LOOK_MS));
		if (ret == -ETIMEDOUT)
			ret = 0;
		if (!ret)
			ret = field_look(f, field_now());
	}
	return ret;
}

void field_leave(struct field *f)
{
	unsigned int i;

	for (i = 0; i < f->nr_lanes; i++)
		if (f->lanes[i].drives && f->lanes[i].conn)
			kverbs_disconnect(f->lanes[i].conn);
}
