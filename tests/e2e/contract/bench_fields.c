// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Invalid fields of BENCH, one at a time. */
#include <stdio.h>
#include <string.h>

#include "bench.h"

/**
 * struct bad - a BENCH that must be refused
 * @what: what is wrong, for the name of the test
 * @base: returns the valid arguments to start from
 * @offset: offset of the changed field
 * @width: size of the field, bytes
 * @value: invalid value of the field
 * @err: expected error
 */
struct bad {
	const char *what;
	struct kverbs_cmd_bench (*base)(void);
	size_t offset;
	size_t width;
	uint64_t value;
	int err;
};

#define U32	4
#define U64	8

#define BAD(_base, _field, _width, _value, _err) {				\
		.what = #_base ": " #_field " " #_value " gives " #_err,	\
		.base = _base,							\
		.offset = offsetof(struct kverbs_cmd_bench, _field),		\
		.width = _width,						\
		.value = _value,						\
		.err = _err,							\
	}

static const struct bad bads[] = {
	BAD(good, flags, U32, 4, EINVAL),
	BAD(good, flags, U32, 0x80000000, EINVAL),
	BAD(good, flags, U32, KVERBS_BENCH_HALF, EINVAL),
	BAD(good, flags, U32, KVERBS_BENCH_LATENCY, EINVAL),
	BAD(good, cq_mod, U32, 9, EINVAL),
	BAD(good, cq_mod, U32, 0xffffffff, EINVAL),
	BAD(good, conn_id, U32, 0, ENOENT),
	BAD(good, conn_id, U32, 0x7ffffff0, ENOENT),
	BAD(good, region_id, U32, 0, ENOENT),
	BAD(good, region_id, U32, 0x7ffffff0, ENOENT),
	BAD(good, offset, U64, MEMORY - LENGTH + 1, EINVAL),
	BAD(good, offset, U64, UINT64_MAX, EINVAL),
	BAD(good, length, U64, 0, EINVAL),
	BAD(good, length, U64, MEMORY + 1, EINVAL),
	BAD(good, length, U64, UINT64_MAX, EINVAL),
	BAD(good, opcode, U32, 0, EINVAL),
	BAD(good, opcode, U32, KVERBS_OP_RECV, EINVAL),
	BAD(good, opcode, U32, KVERBS_OP_SEND_INV, EINVAL),
	BAD(good, opcode, U32, KVERBS_OP_CMP_SWAP, EINVAL),
	BAD(good, opcode, U32, KVERBS_OP_SEND, EINVAL),
	BAD(good, opcode, U32, 256 + KVERBS_OP_WRITE, EINVAL),
	BAD(good, opcode, U32, KVERBS_OP_FETCH_ADD, EINVAL),
	BAD(good, depth, U32, 0, EINVAL),
	BAD(good, depth, U32, 3, EINVAL),
	BAD(good, depth, U32, KVERBS_BENCH_REQS_MAX + 1, EINVAL),
	BAD(good, depth, U32, 0xffffffff, EINVAL),
	BAD(good, post_list, U32, 0, EINVAL),
	BAD(good, post_list, U32, 9, EINVAL),
	BAD(good, segs_len, U32, 0, EINVAL),
	BAD(good, segs_len, U32, KVERBS_BENCH_SEGS_MAX + 1, EINVAL),
	BAD(good, segs_len, U32, 0xffffffff, EINVAL),
	BAD(good, segs_uptr, U64, 8, EFAULT),
	BAD(good, warm_up, U64, 1ULL << 32, EINVAL),
	BAD(good, iterations, U64, 0, EINVAL),
	BAD(good, iterations, U64, 1ULL << 32, EINVAL),
	BAD(good, duration_ms, U32, 1, EINVAL),
	BAD(good, timeout_ms, U32, 0x80000000, EINVAL),
	BAD(good, recvs, U32, 1, EINVAL),
	BAD(good, recv_length, U32, 1, EINVAL),
	BAD(good, recv_offset, U64, 1, EINVAL),
	BAD(good, recv_stride, U32, 1, EINVAL),
	BAD(good, credit, U32, 1, EINVAL),
	BAD(good, hist_len, U32, 1, EINVAL),
	BAD(good, hist_uptr, U64, 8, EINVAL),
	BAD(good_latency, hist_len, U32, 0, EMSGSIZE),
	BAD(good_latency, hist_len, U32, KVERBS_BENCH_BUCKETS - 1, EMSGSIZE),
	BAD(good_latency, hist_uptr, U64, 8, EFAULT),
	BAD(good_latency, recvs, U32, 1, EINVAL),
	BAD(good_latency, recv_length, U32, 1, EINVAL),
	BAD(good_send, segs_len, U32, 1, EINVAL),
	BAD(good_send, segs_uptr, U64, 8, EINVAL),
	BAD(good_send, recvs, U32, 1, EINVAL),
	BAD(good_answered, recvs, U32, 0, EINVAL),
	BAD(good_answered, recvs, U32, KVERBS_BENCH_RECVS_MAX + 1, EINVAL),
	BAD(good_answered, recv_offset, U64, MEMORY - LENGTH + 1, EINVAL),
	BAD(good_answered, recv_offset, U64, UINT64_MAX, EINVAL),
	BAD(good_answered, recv_stride, U32, MEMORY - LENGTH - INBOX + 1, EINVAL),
	BAD(good_answered, credit, U32, 1, EINVAL),
	BAD(good_marked, recv_length, U32, 0, EINVAL),
	BAD(good_marked, recv_offset, U64, MEMORY - LENGTH + 1, EINVAL),
	BAD(good_marked, recv_stride, U32, 1, EINVAL),
	BAD(good_marked, recvs, U32, 1, EINVAL),
	BAD(good_marked, credit, U32, 1, EINVAL),
	BAD(good_credit, recvs, U32, 0, EINVAL),
	BAD(good_credit, recv_length, U32, 7, EINVAL),
	BAD(good_atomic, length, U64, 16, EINVAL),
	BAD(good_atomic, offset, U64, 4, EINVAL),
};

static void refused(const void *arg)
{
	const struct bad *bad = arg;
	struct kverbs_cmd_bench cmd;

	track_open();
	cmd = bad->base();
	memcpy((char *)&cmd + bad->offset, &bad->value, bad->width);
	CHECK_ERR(track_run(&cmd), bad->err);
}

TEST_GROUP(BENCH_fields)
{
	char name[160];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bads); i++) {
		snprintf(name, sizeof(name), "BENCH, %s", bads[i].what);
		test_add_light(name, refused, &bads[i]);
	}
}
