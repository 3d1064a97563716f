/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* kverbs bench: what its files share. */
#ifndef KVERBS_TOOL_BENCH_H
#define KVERBS_TOOL_BENCH_H

#include "bench/field.h"
#include "bench/gid.h"
#include "peer/session.h"

struct json_object;

#define BENCH_SWEEP_FIRST 2u
#define BENCH_SWEEP_LAST (8u << 20)

/* A number that the command line did not give, and that has a default of its own. */
#define BENCH_UNSET UINT64_MAX

enum bench_task {
	BENCH_TASK_RATES,	/* bandwidth or latency of operations */
	BENCH_TASK_REG,
	BENCH_TASK_CONNECT,
};

enum bench_engine {
	BENCH_ENGINE_USER,	/* the library and the ring, as programs use them */
	BENCH_ENGINE_KERNEL,	/* a loop in the module, as storage has */
};

/* Context that polls the CQ; the default depends on whether the run polls or sleeps. */
enum bench_poll {
	BENCH_POLL_DEFAULT,
	BENCH_POLL_SOFTIRQ,
	BENCH_POLL_WORKQUEUE,
	BENCH_POLL_DIRECT,
};

/**
 * struct bench - a run
 * @task: what to measure
 * @to: the server, if there is a host
 * @gid: connect from the address of this GID, or BENCH_UNSET
 * @gid_addr: that address
 * @op: enum bench_op
 * @rule: properties of @op
 * @size: bytes of an operation
 * @count: operations of each connection
 * @lanes: connections in each direction
 * @tx_depth: operations in flight on each
 * @rx_depth: receives posted on each
 * @post_list: posted by one call
 * @cq_mod: every @cq_mod-th operation is signalled
 * @duration_ms: how long, 0: @count operations
 * @engine_name: argument of --engine, or NULL
 * @poll_name: argument of --poll, or NULL
 * @engine: what makes the traffic
 * @poll: context that polls the CQ
 * @all: one size after another
 * @both: in both directions
 * @events: sleep for completions
 * @verify: check every byte
 * @warm_up: do some operations before counting
 * @limit_bw: minimum of MiB per second, 0: none
 * @limit_rate: minimum of million operations per second, 0: none
 * @limit_p99: maximum of the 99th percentile in microseconds, 0: none
 * @kv: the context
 * @s: the control connection
 * @f: the measurement
 * @theirs: its result on the server
 * @ticked: operations reported so far by lines of seconds
 * @rows: of the JSON result, or NULL
 * @ticks: of the current row, or NULL
 * @missed: a limit was missed
 * @interrupted: signals so far that end the run
 * @stayed: time of the last keepalive message to the server, ns
 */
struct bench {
	enum bench_task task;
	struct session_to to;
	uint64_t gid;
	char gid_addr[GID_ADDR_LEN];
	unsigned int op;
	const struct bench_rule *rule;
	uint64_t size;
	uint64_t count;
	uint64_t lanes;
	uint64_t tx_depth;
	uint64_t rx_depth;
	uint64_t post_list;
	uint64_t cq_mod;
	int duration_ms;
	const char *engine_name;
	const char *poll_name;
	enum bench_engine engine;
	enum bench_poll poll;
	bool all;
	bool both;
	bool events;
	bool verify;
	bool warm_up;
	double limit_bw;
	double limit_rate;
	double limit_p99;
	struct kverbs *kv;
	struct session s;
	struct field f;
	struct bench_result theirs;
	uint64_t ticked;
	struct json_object *rows;
	struct json_object *ticks;
	bool missed;
	int interrupted;
	uint64_t stayed;
};

/* A tenth of what counts, but no more than @most. */
uint64_t bench_warm_up(const struct bench *b, uint64_t most);
/* Run with signals counted in @interrupted. Returns what @run does. */
int bench_interruptible(struct bench *b, int (*run)(struct bench *b));
/* The same, with a connection to the server in @s as long as that takes. */
int bench_with_server(struct bench *b, const struct wire_hello *hello,
		      int (*run)(struct bench *b));

void bench_miss(struct bench *b, const char *what, double got, double limit);

/* With the context open. Return an exit status. */
int bench_reg(struct bench *b);
int bench_connect(struct bench *b);

/* One measurement in @f and @theirs. Returns an exit status. */
int bench_measure(struct bench *b, const struct bench_param *p);

/* 0, or -EINVAL having said why. */
int bench_choose_engine(struct bench *b);
const char *bench_engine_name(const struct bench *b);
const char *bench_poll_name(const struct bench *b);
/* EXIT_OK, or another exit status having said what the engine cannot. */
int bench_engine_can(const struct bench *b);

/* Drive this side's lanes; 0 or -errno. */
int bench_kernel(struct bench *b);

void bench_out_begin(struct bench *b);
/* Begin the rows of the JSON result; false: none is wanted. */
bool bench_out_rows(struct bench *b);
/* A new one of them, with what all have. */
struct json_object *bench_out_new_row(struct bench *b, const char *operation);
void bench_out_tick(struct bench *b);
void bench_out_row(struct bench *b);
double bench_MiBps(const struct bench *b);
double bench_Mpps(const struct bench *b);
double bench_p99_us(const struct bench *b);

#endif /* KVERBS_TOOL_BENCH_H */
