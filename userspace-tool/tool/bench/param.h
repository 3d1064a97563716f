/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Parameters and results of a measurement, as both sides of kverbs bench send them. Pure
 * functions; input is untrusted.
 */
#ifndef KVERBS_TOOL_BENCH_PARAM_H
#define KVERBS_TOOL_BENCH_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_PARAM_LEN		56
#define BENCH_RESULT_LEN	104

#define BENCH_LANES_MAX		1024
#define BENCH_DEPTH_MAX		8192
#define BENCH_SIZE_MAX		(1u << 30)
#define BENCH_DURATION_MAX	86400000u
/* Memory that a side takes for the payload of one measurement, at most. */
#define BENCH_BYTES_MAX		(1ull << 30)
/* Operations and receives of all connections, at most. */
#define BENCH_REQUESTS_MAX	(1u << 20)
/* Completions that one ring has places for, at most. */
#define BENCH_CQ_MAX		(1u << 18)

/* Receives of a lane that does not receive payload, and of a latency's. */
#define BENCH_NOTES		8
/* Completions of a lane beside its operations and receives: notes that go out, events. */
#define BENCH_CQ_SPARE		16

enum bench_op {
	BENCH_SEND_BW = 1,
	BENCH_WRITE_BW = 2,
	BENCH_READ_BW = 3,
	BENCH_SEND_LAT = 4,
	BENCH_WRITE_LAT = 5,
	BENCH_READ_LAT = 6,
	BENCH_IMM_LAT = 7,
	BENCH_ATOMIC_LAT = 8,
};

enum bench_kind {
	BENCH_BANDWIDTH,
	BENCH_LATENCY,
};

/**
 * struct bench_rule - what an operation is
 * @name: what one types
 * @title: what perftest calls it
 * @kind: what is measured of it
 * @half: of a round trip half is told
 * @receives: payload arrives in receives
 * @access: rights at the memory of the side that does not begin, KVERBS_REMOTE_*
 * @access_back: rights at the memory of the side that begins
 * @size: default
 * @count: default
 */
struct bench_rule {
	const char *name;
	const char *title;
	enum bench_kind kind;
	bool half;
	bool receives;
	unsigned int access;
	unsigned int access_back;
	uint32_t size;
	uint32_t count;
};

/* Bits of bench_param.flags */
#define BENCH_F_EVENTS		(1u << 0)	/* sleep for completions */
#define BENCH_F_VERIFY		(1u << 1)	/* look at every byte */
#define BENCH_F_BOTH_WAYS	(1u << 2)	/* as many lanes again, the other way */
#define BENCH_F_ALL		7u

/**
 * struct bench_param - a measurement
 * @op: enum bench_op
 * @flags: BENCH_F_*
 * @lanes: connections in each direction
 * @tx_depth: operations in flight on each
 * @rx_depth: receives posted on each, if payload arrives in receives
 * @post_list: operations, or receives, that are posted by one call
 * @cq_mod: of so many operations one completes by itself
 * @duration_ms: how long, or 0
 * @size: of an operation, bytes
 * @count: operations on each connection, if @duration_ms is 0
 * @warmup: operations on each before it counts
 */
struct bench_param {
	uint16_t op;
	uint32_t flags;
	uint32_t lanes;
	uint32_t tx_depth;
	uint32_t rx_depth;
	uint32_t post_list;
	uint32_t cq_mod;
	uint32_t duration_ms;
	uint64_t size;
	uint64_t count;
	uint64_t warmup;
};

/**
 * struct bench_result - result of one side
 * @ops: operations of all connections
 * @bytes: moved by them
 * @elapsed_ns: time they took
 * @peak_Bps: bytes per second in the best stretch
 * @received: messages that came in, warm-up and all
 * @differed: operations whose bytes were not what they should be
 * @cpu_ns: time that the measuring thread ran
 * @sleeps: voluntary context switches
 * @preempted: involuntary context switches
 * @host_cpu_ns: time that processors of the host were busy
 * @host_interrupts: interrupts of the host
 * @host_switches: context switches of all its threads
 */
struct bench_result {
	uint64_t ops;
	uint64_t bytes;
	uint64_t elapsed_ns;
	uint64_t peak_Bps;
	uint64_t received;
	uint64_t differed;
	uint64_t cpu_ns;
	uint64_t sleeps;
	uint64_t preempted;
	uint64_t host_cpu_ns;
	uint64_t host_interrupts;
	uint64_t host_switches;
};

/* NULL: there is no such operation. */
const struct bench_rule *bench_rule(unsigned int op);
/* 0: there is no such name. */
unsigned int bench_op_find(const char *name);

int bench_param_encode(const struct bench_param *p, void *buf, size_t room);
int bench_param_decode(struct bench_param *p, const void *buf, size_t len);
/* Places that a side's completions take, at most. */
uint64_t bench_param_completions(const struct bench_param *p);
/* 0 or -EINVAL: no measurement, or more than a side takes. */
int bench_param_check(const struct bench_param *p);

int bench_result_encode(const struct bench_result *r, void *buf, size_t room);
int bench_result_decode(struct bench_result *r, const void *buf, size_t len);

#endif /* KVERBS_TOOL_BENCH_PARAM_H */
