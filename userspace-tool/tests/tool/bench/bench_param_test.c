// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Encoding of measurement parameters, and which parameters a side accepts. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/param.h"

static const struct bench_param fine = {
	.op = BENCH_WRITE_BW,
	.flags = BENCH_F_EVENTS,
	.lanes = 3,
	.tx_depth = 128,
	.rx_depth = 512,
	.post_list = 32,
	.cq_mod = 64,
	.size = 65536,
	.count = 5000,
	.warmup = 100,
};

static void parameters_survive_encoding(void **state)
{
	struct bench_param in = fine, out;
	uint8_t buf[BENCH_PARAM_LEN];

	(void)state;
	in.duration_ms = 0x01020304;
	in.size = 0x0102030405060708;
	assert_int_equal(bench_param_encode(&in, buf, sizeof(buf)), BENCH_PARAM_LEN);
	assert_int_equal(bench_param_decode(&out, buf, sizeof(buf)), 0);
	assert_memory_equal(&in, &out, sizeof(in));
	assert_int_equal(buf[24], 1);
	assert_int_equal(buf[31], 8);
	assert_int_equal(buf[51], 32);
	assert_int_equal(buf[55], 64);
}

static void a_result_survives_encoding(void **state)
{
	struct bench_result in = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, UINT64_MAX }, out;
	uint8_t buf[BENCH_RESULT_LEN];

	(void)state;
	assert_int_equal(bench_result_encode(&in, buf, sizeof(buf)), BENCH_RESULT_LEN);
	assert_int_equal(bench_result_decode(&out, buf, sizeof(buf)), 0);
	assert_memory_equal(&in, &out, sizeof(in));
}

static void other_lengths_and_versions_are_refused(void **state)
{
	uint8_t buf[BENCH_RESULT_LEN + 1] = { 0 };
	struct bench_param p;
	struct bench_result r;

	(void)state;
	bench_param_encode(&fine, buf, sizeof(buf));
	assert_int_equal(bench_param_encode(&fine, buf, BENCH_PARAM_LEN - 1), -EMSGSIZE);
	assert_int_equal(bench_param_decode(&p, buf, BENCH_PARAM_LEN - 1), -EBADMSG);
	assert_int_equal(bench_param_decode(&p, buf, BENCH_PARAM_LEN + 1), -EBADMSG);
	buf[1] = 2;
	assert_int_equal(bench_param_decode(&p, buf, BENCH_PARAM_LEN), -EBADMSG);
	bench_result_encode(&(struct bench_result){ 0 }, buf, sizeof(buf));
	assert_int_equal(bench_result_decode(&r, buf, BENCH_RESULT_LEN - 1), -EBADMSG);
	assert_int_equal(bench_result_decode(&r, buf, BENCH_RESULT_LEN + 1), -EBADMSG);
	buf[7] = 1;
	assert_int_equal(bench_result_decode(&r, buf, BENCH_RESULT_LEN), -EBADMSG);
}

/* The value must be refused, and the field's original value accepted. */
#define check_refused(field, value) do {			\
	struct bench_param p = fine;				\
								\
	assert_int_equal(bench_param_check(&p), 0);		\
	p.field = (value);					\
	assert_int_equal(bench_param_check(&p), -EINVAL);	\
} while (0)

static void invalid_parameters_are_refused(void **state)
{
	(void)state;
	check_refused(op, 0);
	check_refused(op, BENCH_ATOMIC_LAT + 1);
	check_refused(flags, BENCH_F_ALL + 1);
	check_refused(lanes, 0);
	check_refused(lanes, BENCH_LANES_MAX + 1);
	check_refused(tx_depth, 0);
	check_refused(tx_depth, BENCH_DEPTH_MAX + 1);
	check_refused(rx_depth, 1);
	check_refused(rx_depth, BENCH_DEPTH_MAX + 1);
	check_refused(post_list, 0);
	check_refused(post_list, 129);
	check_refused(cq_mod, 0);
	check_refused(cq_mod, 129);
	check_refused(size, 0);
	check_refused(size, BENCH_SIZE_MAX + 1ull);
	check_refused(size, UINT64_MAX);
	check_refused(count, 0);
	check_refused(count, 1ull << 32);
	check_refused(warmup, 1ull << 32);
	check_refused(duration_ms, BENCH_DURATION_MAX + 1);
}

/* With --verify every operation in flight needs its own bytes. */
static void memory_is_limited(void **state)
{
	struct bench_param p = fine;

	(void)state;
	p.lanes = 1;
	p.size = BENCH_BYTES_MAX / 128;
	p.flags = BENCH_F_VERIFY;
	assert_int_equal(bench_param_check(&p), 0);
	p.flags |= BENCH_F_BOTH_WAYS;
	assert_int_equal(bench_param_check(&p), -EINVAL);
	p.flags = BENCH_F_BOTH_WAYS;
	assert_int_equal(bench_param_check(&p), 0);
	p.op = BENCH_SEND_BW;
	p.flags = BENCH_F_VERIFY;
	assert_int_equal(bench_param_check(&p), -EINVAL);
}

static void requests_are_limited(void **state)
{
	struct bench_param p = fine;

	(void)state;
	p.size = 1;
	p.lanes = 128;
	p.tx_depth = 4096;
	p.rx_depth = 4096;
	assert_int_equal(bench_param_check(&p), 0);
	p.rx_depth++;
	assert_int_equal(bench_param_check(&p), -EINVAL);
}

/* All completions must fit in one ring, whatever is posted. */
static void receives_have_room_for_completions(void **state)
{
	struct bench_param p = fine;

	(void)state;
	p.op = BENCH_SEND_BW;
	p.size = 1;
	p.rx_depth = 512;
	p.lanes = 496;
	assert_int_equal(bench_param_check(&p), 0);
	p.lanes++;
	assert_int_equal(bench_param_check(&p), -EINVAL);
	p.op = BENCH_WRITE_BW;
	assert_int_equal(bench_param_check(&p), 0);
	p.op = BENCH_SEND_BW;
	p.lanes = 400;
	assert_int_equal(bench_param_check(&p), 0);
	p.flags = BENCH_F_BOTH_WAYS;
	assert_int_equal(bench_param_check(&p), -EINVAL);
}

/* Lists of receives are posted again before a quarter of the receives is used up. */
static void receives_have_room_for_lists(void **state)
{
	struct bench_param p = fine;

	(void)state;
	p.op = BENCH_SEND_BW;
	p.rx_depth = 128;
	assert_int_equal(bench_param_check(&p), 0);
	p.rx_depth--;
	assert_int_equal(bench_param_check(&p), -EINVAL);
	p.op = BENCH_WRITE_BW;
	assert_int_equal(bench_param_check(&p), 0);
	p.op = BENCH_SEND_BW;
	p.post_list = 1;
	p.rx_depth = 2;
	assert_int_equal(bench_param_check(&p), 0);
}

static void latencies_use_one_connection(void **state)
{
	struct bench_param p = fine;

	(void)state;
	p.op = BENCH_SEND_LAT;
	p.post_list = 1;
	p.cq_mod = 1;
	assert_int_equal(bench_param_check(&p), -EINVAL);
	p.lanes = 1;
	assert_int_equal(bench_param_check(&p), 0);
	p.cq_mod = 2;
	assert_int_equal(bench_param_check(&p), -EINVAL);
	p.cq_mod = 1;
	p.post_list = 2;
	assert_int_equal(bench_param_check(&p), -EINVAL);
	p.post_list = 1;
	p.flags = BENCH_F_BOTH_WAYS;
	assert_int_equal(bench_param_check(&p), -EINVAL);
	p.flags = 0;
	p.op = BENCH_ATOMIC_LAT;
	assert_int_equal(bench_param_check(&p), -EINVAL);
	p.size = 8;
	assert_int_equal(bench_param_check(&p), 0);
}

/* A thread that waits for a WRITE polls memory: no event would wake it. */
static void write_latency_excludes_events(void **state)
{
	struct bench_param p = fine;

	(void)state;
	p.op = BENCH_WRITE_LAT;
	p.post_list = 1;
	p.cq_mod = 1;
	p.lanes = 1;
	p.flags = 0;
	assert_int_equal(bench_param_check(&p), 0);
	p.flags = BENCH_F_EVENTS;
	assert_int_equal(bench_param_check(&p), -EINVAL);
}

static void operations_have_names(void **state)
{
	unsigned int op;

	(void)state;
	for (op = 1; bench_rule(op); op++)
		assert_int_equal(bench_op_find(bench_rule(op)->name), op);
	assert_int_equal(op, BENCH_ATOMIC_LAT + 1);
	assert_int_equal(bench_op_find("write"), 0);
	assert_null(bench_rule(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_survive_encoding),
		cmocka_unit_test(a_result_survives_encoding),
		cmocka_unit_test(other_lengths_and_versions_are_refused),
		cmocka_unit_test(invalid_parameters_are_refused),
		cmocka_unit_test(memory_is_limited),
		cmocka_unit_test(requests_are_limited),
		cmocka_unit_test(receives_have_room_for_completions),
		cmocka_unit_test(receives_have_room_for_lists),
		cmocka_unit_test(latencies_use_one_connection),
		cmocka_unit_test(write_latency_excludes_events),
		cmocka_unit_test(operations_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
