// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel engine: one KVERBS_BENCH does the operations of each lane that this side
 * drives, in a thread of its own. The server need not know. With -b this thread serves
 * the server's lanes in the meantime.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/lane.h"
#include "cli/err.h"
#include "cli/signals.h"
#include "cli/util.h"

static const char *const engines[] = {
	[BENCH_ENGINE_USER] = "user",
	[BENCH_ENGINE_KERNEL] = "kernel",
};

static const char *const polls[] = {
	[BENCH_POLL_SOFTIRQ] = "softirq",
	[BENCH_POLL_WORKQUEUE] = "workqueue",
	[BENCH_POLL_DIRECT] = "direct",
};

static int find(const char *const *names, unsigned int nr, const char *name)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (names[i] && !strcmp(names[i], name))
			return i;
	return -EINVAL;
}

static int choose_poll(struct bench *b)
{
	int i = b->poll_name ? find(polls, ARRAY_SIZE(polls), b->poll_name) :
			       BENCH_POLL_DEFAULT;

	if (i < 0) {
		err_usage("--poll must be softirq, workqueue or direct");
		return i;
	}
	if (i && b->engine != BENCH_ENGINE_KERNEL) {
		err_usage("--poll requires --engine kernel");
		return -EINVAL;
	}
	if (i == BENCH_POLL_DIRECT && b->events) {
		err_usage("-e and --poll direct exclude each other");
		return -EINVAL;
	}
	b->poll = i;
	return 0;
}

int bench_choose_engine(struct bench *b)
{
	int i = b->engine_name ? find(engines, ARRAY_SIZE(engines), b->engine_name) :
				 BENCH_ENGINE_USER;

	if (i < 0) {
		err_usage("--engine must be user or kernel");
		return i;
	}
	b->engine = i;
	i = choose_poll(b);
	if (i)
		return i;
	if (b->poll == BENCH_POLL_DEFAULT)
		b->poll = b->events ? BENCH_POLL_WORKQUEUE : BENCH_POLL_DIRECT;
	return 0;
}

const char *bench_engine_name(const struct bench *b)
{
	return engines[b->engine];
}

const char *bench_poll_name(const struct bench *b)
{
	return polls[b->poll];
}

int bench_engine_can(const struct bench *b)
{
	if (b->engine == BENCH_ENGINE_USER || !b->verify)
		return EXIT_OK;
	return err_report(ERR_ENGINE, -EOPNOTSUPP, "--verify by the kernel engine");
}

/* How often it looks whether a lane is through, and what has been done so far. */
#define LOOK_MS 100

_Static_assert(HIST_BUCKETS == KVERBS_BENCH_BUCKETS && HIST_BITS == KVERBS_BENCH_BUCKET_BITS &&
	       HIST_TOP_BIT == KVERBS_BENCH_TOP_BIT, "both count times in the same buckets");

/**
 * struct runner - a lane that the kernel drives
 * @lane: the lane
 * @opts: what it is to do
 * @hist: where times are counted, or NULL
 * @thread: waits for it
 * @started: there is such a thread
 * @result: what came of it
 * @end: when it was there
 * @ret: 0 or -errno
 */
struct runner {
	struct lane *lane;
	struct kverbs_bench_opts opts;
	uint64_t *hist;
	pthread_t thread;
	bool started;
	struct kverbs_cmd_bench result;
	uint64_t end;
	int ret;
};

static void set_receives(const struct lane *l, struct kverbs_bench_opts *o)
{
	bool notes = l->rule->kind == BENCH_BANDWIDTH || !l->rule->receives;

	o->recvs = l->nr_rx;
	o->recv_offset = lane_offset(l, notes ? note_in(l, 0) : lane_in(l, 0));
	o->recv_length = notes ? NOTE_LEN : l->param->size;
	o->recv_stride = notes ? NOTE_STRIDE : 0;
}

static void set_answers(const struct lane *l, struct kverbs_bench_opts *o)
{
	if (l->param->op == BENCH_WRITE_LAT) {
		o->recv_offset = lane_offset(l, lane_in(l, 0));
		o->recv_length = l->param->size;
		return;
	}
	if (l->rule->receives || l->param->op == BENCH_IMM_LAT)
		set_receives(l, o);
	if (l->rule->kind == BENCH_BANDWIDTH && l->rule->receives)
		o->credit = l->param->rx_depth;
}

static void set_opts(const struct bench *b, const struct lane *l, struct kverbs_bench_opts *o)
{
	const struct bench_param *p = l->param;

	*o = (struct kverbs_bench_opts){
		.sz = sizeof(*o),
		.opcode = lane_opcode(l),
		.buf = l->mem,
		.offset = lane_offset(l, lane_out(l, 0)),
		.length = p->size,
		.token = l->rule->access ? &l->theirs : NULL,
		.depth = l->nr_tx,
		.post_list = p->post_list,
		.cq_mod = p->cq_mod,
		.warm_up = p->warmup,
		.iterations = p->duration_ms ? 0 : p->count,
		.duration_ms = p->duration_ms,
		.timeout_ms = b->to.timeout_ms,
	};
	if (l->rule->kind == BENCH_LATENCY)
		o->flags = KVERBS_BENCH_LATENCY | (l->rule->half ? KVERBS_BENCH_HALF : 0);
	set_answers(l, o);
}

/* A bucket's times are somewhere in it; the mean and both ends are known. */
static void fill_hist(struct hist *h, const struct kverbs_cmd_bench *r, const uint64_t *buckets)
{
	unsigned int i;
	double off;

	h->rtt.count = r->out_ops;
	h->rtt.min = r->out_min_ns;
	h->rtt.max = r->out_max_ns;
	h->rtt.mean = r->out_ops ? (double)r->out_sum_ns / r->out_ops : 0;
	for (i = 0; i < HIST_BUCKETS; i++) {
		h->buckets[i] = buckets[i];
		off = hist_middle(i) - h->rtt.mean;
		h->rtt.m2 += buckets[i] ? buckets[i] * off * off : 0;
	}
}

static void add_result(struct bench *b, const struct runner *r)
{
	struct bench_result *sum = &b->f.result;

	r->lane->posted = r->result.out_sent;
	r->lane->completed = r->result.out_sent;
	b->f.done += r->result.out_ops;
	sum->cpu_ns += r->result.out_cpu_ns;
}

/* They do not all run at the same time: from when the first began until the last ended. */
static uint64_t elapsed(const struct runner *runners, unsigned int nr)
{
	uint64_t began = UINT64_MAX, ended = 0;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		began = min(began, runners[i].end - runners[i].result.out_elapsed_ns);
		ended = max(ended, runners[i].end);
	}
	return ended - began;
}

/*
 * Results come from the kernel, except for those that it does not know: cost of the
 * host, and operations of the server's lanes.
 */
static int sum_up(struct bench *b, const struct runner *runners, unsigned int nr)
{
	unsigned int i;
	int ret = 0;

	field_end(&b->f);
	b->f.done = 0;
	b->f.result.elapsed_ns = elapsed(runners, nr);
	if (!b->both)
		b->f.result.cpu_ns = 0;
	for (i = 0; i < nr; i++) {
		add_result(b, &runners[i]);
		lane_fail(runners[i].lane, NULL, runners[i].ret);
		runners[i].lane->wc_status = runners[i].result.out_wc_status;
		ret = ret ? ret : runners[i].ret;
	}
	b->f.result.ops = b->f.done;
	b->f.result.bytes = b->f.done * b->f.param.size;
	return ret;
}

static void *run(void *arg)
{
	struct runner *r = arg;

	r->ret = kverbs_bench(r->lane->conn, &r->opts, &r->result, sizeof(r->result),
			      r->hist);
	r->end = field_now();
	return NULL;
}

/* Counts of this moment, for the line of a second. */
static void look(struct bench *b, const struct runner *runners, unsigned int nr)
{
	struct kverbs_cmd_conn_query q;
	uint64_t bytes = 0, warm_up;
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!kverbs_conn_query(runners[i].lane->conn, &q, sizeof(q)))
			bytes += b->rule->access == KVERBS_REMOTE_READ ? q.out_bytes_in :
									 q.out_bytes_out;
	warm_up = b->f.param.warmup * nr;
	b->f.done = bytes / b->f.param.size;
	b->f.done -= min(b->f.done, warm_up);
	/* The first second begins when it is warm. */
	if (!b->f.done)
		field_restart_ticks(&b->f, field_now());
	field_maybe_tick(&b->f, field_now());
}

/* A WRITE or READ of the server needs no work here. */
static bool serves(const struct bench *b)
{
	return b->both && b->rule->receives;
}

/* Serve the server's lanes for LOOK_MS. 1: @r's thread has ended; 0 or -errno. */
static int serve_a_while(struct bench *b, const struct runner *r)
{
	uint64_t until = field_now() + LOOK_MS * 1000000ull;
	int ret;

	do {
		ret = field_wait(&b->f, LOOK_MS);
		if (ret && ret != -ETIMEDOUT)
			return ret;
		if (!pthread_tryjoin_np(r->thread, NULL))
			return 1;
	} while (field_now() < until);
	return 0;
}

/* 1: the thread has ended. */
static int wait_a_while(const struct runner *r)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += LOOK_MS * 1000000;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	return !pthread_timedjoin_np(r->thread, NULL, &at);
}

static void stop_all(const struct runner *runners, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		kverbs_disconnect(runners[i].lane->conn);
}

/* Ends them if the user wants that, which is -EINTR then, or if it cannot serve. */
static int await(struct bench *b, struct runner *runners, unsigned int nr)
{
	unsigned int i = 0;
	int ret = 0, ended;

	while (i < nr && runners[i].started) {
		ended = serves(b) && !ret ? serve_a_while(b, &runners[i]) :
					    wait_a_while(&runners[i]);
		if (ended > 0) {
			i++;
			continue;
		}
		look(b, runners, nr);
		if (ret || (!ended && !signals_seen(&b->interrupted)))
			continue;
		ret = ended ? ended : -EINTR;
		stop_all(runners, nr);
	}
	/* The last second ends with them. */
	if (!ret)
		look(b, runners, nr);
	return ret;
}

static int start(struct runner *runners, unsigned int nr)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr && !err; i++) {
		err = pthread_create(&runners[i].thread, NULL, run, &runners[i]);
		runners[i].started = !err;
	}
	if (err)
		stop_all(runners, nr);
	return -err;
}

static int drive(struct bench *b, struct runner *runners, unsigned int nr)
{
	int ret, interrupted;

	field_begin(&b->f);
	ret = start(runners, nr);
	interrupted = await(b, runners, nr);
	if (interrupted || ret) {
		field_end(&b->f);
		return ret ? ret : interrupted;
	}
	return sum_up(b, runners, nr);
}

int bench_kernel(struct bench *b)
{
	unsigned int i, nr = b->f.param.lanes;
	struct runner *runners = calloc(nr, sizeof(*runners));
	uint64_t *hist = calloc(HIST_BUCKETS, sizeof(*hist));
	bool latency = b->rule->kind == BENCH_LATENCY;
	int ret = -ENOMEM;

	for (i = 0; runners && hist && i < nr; i++) {
		runners[i].lane = &b->f.lanes[i];
		runners[i].hist = latency ? hist : NULL;
		set_opts(b, &b->f.lanes[i], &runners[i].opts);
	}
	if (runners && hist)
		ret = drive(b, runners, nr);
	if (!ret && latency)
		fill_hist(&b->f.hist, &runners[0].result, hist);
	free(hist);
	free(runners);
	return ret;
}
