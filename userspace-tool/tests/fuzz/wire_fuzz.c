// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Hellos, messages and the payload of bench messages: accepted ones are within bounds, and encode
 * to the same bytes.
 */
#include <errno.h>

#include "bench/param.h"
#include "fuzz.h"
#include "peer/wire.h"

static void check_bounds(const struct wire_hello *hello)
{
	assert(hello->version == WIRE_VERSION);
	assert(hello->what >= WIRE_SERVICE_ECHO && hello->what <= WIRE_SERVICE_BENCH);
	assert(hello->depth >= 1 && hello->depth <= WIRE_DEPTH_MAX);
	assert(hello->msg_max >= WIRE_HEAD_LEN);
	assert(!(hello->flags & WIRE_F_KEY) ||
	       hello->msg_max >= WIRE_HEAD_LEN + WIRE_BIND_LEN);
	assert(wire_room(hello) >= hello->msg_max);
	assert((uint64_t)hello->depth * hello->msg_max <= WIRE_SLOTS_MAX);
	assert(hello->what == WIRE_SERVICE_ECHO || hello->msg_max == WIRE_MSG_MAX);
}

/* The last four bytes of a hello are ignored. */
static void fuzz_hello(const uint8_t *data, size_t size)
{
	uint8_t back[WIRE_HELLO_LEN];
	struct wire_hello hello;

	if (wire_hello_decode(&hello, data, size))
		return;
	assert(size >= WIRE_HELLO_LEN);
	assert(wire_hello_encode(&hello, back, sizeof(back) - 1) == -EMSGSIZE);
	assert(wire_hello_encode(&hello, back, sizeof(back)) == WIRE_HELLO_LEN);
	assert(!memcmp(back, data, WIRE_HELLO_LEN - 4));
	if (!wire_hello_check(&hello))
		check_bounds(&hello);
}

static void check_values(const struct wire_msg *msg)
{
	assert(wire_type_name(msg->type));
	assert(msg->offset <= INT64_MAX && msg->size <= INT64_MAX);
	assert(msg->mtime_ns < 1000000000 && msg->atime_ns < 1000000000);
	assert(msg->type == WIRE_ECHO || msg->tail_len <= WIRE_TAIL_MAX);
	assert(msg->type != WIRE_BIND || msg->status || msg->tail_len == WIRE_BIND_LEN);
	if (msg->type == WIRE_FILE || msg->type == WIRE_PUT || msg->type == WIRE_GET)
		assert(!memchr(msg->tail, '\0', msg->tail_len));
	if (msg->status && wire_errno(msg->status) != -EIO)
		assert(wire_status(wire_errno(msg->status)) == msg->status);
}

static void check_param(const struct bench_param *p)
{
	const struct bench_rule *rule = bench_rule(p->op);

	assert(rule && !(p->flags & ~BENCH_F_ALL));
	assert(p->lanes >= 1 && p->lanes <= BENCH_LANES_MAX);
	assert(p->tx_depth >= 1 && p->tx_depth <= BENCH_DEPTH_MAX);
	assert(p->rx_depth >= 2 && p->rx_depth <= BENCH_DEPTH_MAX);
	assert(p->post_list >= 1 && p->post_list <= p->tx_depth);
	assert(p->cq_mod >= 1 && p->cq_mod <= p->tx_depth);
	assert(p->count || p->duration_ms);
	assert(p->size && p->size * p->lanes <= BENCH_BYTES_MAX);
	assert(rule->kind == BENCH_BANDWIDTH || p->lanes == 1);
}

static void fuzz_param(const struct wire_msg *msg)
{
	uint8_t back[BENCH_PARAM_LEN];
	struct bench_param p;

	if (bench_param_decode(&p, msg->tail, msg->tail_len))
		return;
	assert(bench_param_encode(&p, back, sizeof(back)) == (int)msg->tail_len);
	assert(!memcmp(back, msg->tail, sizeof(back)));
	if (!bench_param_check(&p))
		check_param(&p);
}

static void fuzz_result(const struct wire_msg *msg)
{
	uint8_t back[BENCH_RESULT_LEN];
	struct bench_result r;

	if (bench_result_decode(&r, msg->tail, msg->tail_len))
		return;
	assert(bench_result_encode(&r, back, sizeof(back)) == (int)msg->tail_len);
	assert(!memcmp(back, msg->tail, sizeof(back)));
}

static void fuzz_msg(const uint8_t *data, size_t size)
{
	struct wire_msg msg;
	uint8_t *back;

	if (wire_decode(&msg, data, size))
		return;
	check_values(&msg);
	if (msg.type == WIRE_BENCH_SETUP)
		fuzz_param(&msg);
	if (msg.type == WIRE_BENCH_RESULT)
		fuzz_result(&msg);
	back = fuzz_room(size);
	assert(wire_encode(&msg, back, size - 1) == -EMSGSIZE);
	assert(wire_encode(&msg, back, size) == (int)size);
	assert(!memcmp(back, data, size));
	free(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_hello(data, size);
	fuzz_msg(data, size);
	return 0;
}
