// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Every opcode over memory of every kind and layout; every byte is compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buf.h"

#define IMM		0x12345678
#define SEGMENTS	256

/**
 * struct shape - source and sink of a transfer
 * @name: for the name of the test
 * @from: kind of memory of the source
 * @to: kind of memory of the sink
 * @from_offset: offset in the source
 * @to_offset: offset in the sink
 * @length: bytes
 */
struct shape {
	const char *name;
	enum buf_kind from;
	enum buf_kind to;
	size_t from_offset;
	size_t to_offset;
	size_t length;
};

static const struct shape shapes[] = {
	{ "one byte", BUF_ANON, BUF_ANON, 0, 0, 1 },
	{ "one page", BUF_ANON, BUF_ANON, 0, 0, PAGE },
	{ "odd offsets", BUF_ANON, BUF_ANON, 13, 4099, 10001 },
	{ "7 scattered pages", BUF_SCATTERED, BUF_SCATTERED, 0, 0, 7 * PAGE },
	{ "100 scattered pages at odd offsets", BUF_SCATTERED, BUF_SCATTERED, 4095, 7,
	  100 * PAGE + 77 },
	{ "600 scattered pages", BUF_SCATTERED, BUF_SCATTERED, 5, 1234, 600 * PAGE - 10 },
	{ "3 MiB and a bit", BUF_ANON, BUF_ANON, 1, 2, 3 * MIB + 17 },
	{ "shared memory", BUF_SHMEM, BUF_SHMEM, 100, 200, 50000 },
	{ "a private file mapping", BUF_FILE, BUF_FILE, 100, 200, 50000 },
	{ "huge pages", BUF_HUGE, BUF_HUGE, PAGE + 1, 3, 2 * MIB + 100 },
	{ "a READ_ONLY region of shared memory", BUF_READ_ONLY, BUF_ANON, 100, 200, 50000 },
	{ "a READ_ONLY region of a private file mapping", BUF_FILE_READ_ONLY, BUF_ANON, 100,
	  200, 50000 },
};

static const struct shape large = {
	"16 MiB", BUF_ANON, BUF_ANON, 0, 0, 16 * MIB
};

static struct pair pair;
static struct buf from, to;

static void set_up(const struct shape *shape)
{
	pair_open(&pair);
	buf_open(&from, pair.fd, shape->from, shape->from_offset + shape->length + 11);
	buf_open(&to, pair.fd, shape->to, shape->to_offset + shape->length + 12);
	buf_poison(&to);
}

static void check(const struct shape *shape)
{
	buf_check_moved(&to, shape->to_offset, &from, shape->from_offset, shape->length);
	CHECK_EQ(dev_query(pair.fd, pair.client).out_errors, 0);
	CHECK_EQ(dev_query(pair.fd, pair.server).out_errors, 0);
	CHECK_EQ(dev_query(pair.fd, pair.client).out_sq_used, 0);
}

/* On iWARP a WRITE completes when it is sent. A later message arrives after its data. */
static void barrier(void)
{
	struct kverbs_sqe recv = sqe_recv(pair.server, 0, 0, 0);

	recv.user_data = 0xba;
	CHECK_OK(ring_put(&pair.ring, &recv));
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, 0, 0, 0)));
	CHECK_DONE(ring_work(&pair.ring, 0xba));
}

/**
 * struct extra - data that a message carries besides its payload
 * @opcode: opcode of the message
 * @flag: expected KVERBS_CQE_F_* of the receive
 * @value: immediate data or a key
 */
struct extra {
	uint8_t opcode;
	uint16_t flag;
	uint32_t value;
};

static struct kverbs_sqe message(const struct shape *shape, const struct extra *extra)
{
	struct kverbs_sqe sqe = sqe_send(pair.client, from.region, shape->from_offset,
					 shape->length);

	sqe.opcode = extra->opcode;
	if (extra->opcode == KVERBS_OP_SEND_INV)
		sqe.rkey = extra->value;
	else
		sqe.imm = extra->value;
	return sqe;
}

static void send_with(const struct shape *shape, const struct extra *extra)
{
	struct kverbs_sqe send = message(shape, extra);
	struct kverbs_sqe recv;
	struct kverbs_cqe cqe;

	recv = sqe_recv(pair.server, to.region, shape->to_offset, shape->length);
	recv.user_data = 77;
	CHECK_OK(ring_put(&pair.ring, &recv));
	cqe = ring_do(&pair.ring, send);
	CHECK_DONE(cqe);
	CHECK_EQ(cqe.byte_len, shape->length);
	cqe = ring_work(&pair.ring, 77);
	CHECK_DONE(cqe);
	CHECK_EQ(cqe.byte_len, shape->length);
	CHECK_EQ(cqe.id, pair.server);
	CHECK_EQ(cqe.flags, KVERBS_CQE_F_RECV | extra->flag);
	CHECK_EQ(cqe.imm, extra->value);
	check(shape);
}

static void sends(const void *arg)
{
	set_up(arg);
	send_with(arg, &(struct extra){ KVERBS_OP_SEND, 0, 0 });
}

static void sends_with_imm(const void *arg)
{
	set_up(arg);
	send_with(arg, &(struct extra){ KVERBS_OP_SEND_IMM, KVERBS_CQE_F_IMM, IMM });
}

static void sends_with_inv(const void *arg)
{
	struct extra extra = { KVERBS_OP_SEND_INV, KVERBS_CQE_F_INV, 0 };
	struct kverbs_segment seg;
	static struct buf other;

	set_up(arg);
	buf_open(&other, pair.fd, BUF_ANON, PAGE);
	dev_export(pair.fd, pair.server, other.region, 0, PAGE, KVERBS_REMOTE_READ, &seg,
		   NULL);
	extra.value = seg.rkey;
	send_with(arg, &extra);
}

static void refused_for_its_size(const struct shape *shape, uint8_t opcode)
{
	struct kverbs_sqe sqe;

	set_up(shape);
	sqe = sqe_send(pair.client, from.region, shape->from_offset, shape->length);
	sqe.opcode = opcode;
	CHECK_ERR(ring_put(&pair.ring, &sqe), EMSGSIZE);
	barrier();
	buf_check_untouched(&to);
}

static void send_is_too_large(const void *arg)
{
	refused_for_its_size(arg, KVERBS_OP_SEND);
}

static void send_inv_is_too_large(const void *arg)
{
	refused_for_its_size(arg, KVERBS_OP_SEND_INV);
}

/* One operation for each segment of the export; the last one may have another opcode. */
static void move_segments(uint8_t opcode, uint8_t last, const struct buf *local,
			  size_t offset, const struct kverbs_segment *segs, uint32_t nr)
{
	struct kverbs_sqe sqe;
	struct kverbs_cqe cqe;
	uint32_t i;

	for (i = 0; i < nr; i++) {
		sqe = sqe_rdma(i + 1 < nr ? opcode : last, pair.client, local->region,
			       offset, segs[i].length, &segs[i]);
		if (sqe.opcode == KVERBS_OP_WRITE_IMM)
			sqe.imm = IMM;
		cqe = ring_do(&pair.ring, sqe);
		CHECK_DONE(cqe);
		CHECK_EQ(cqe.byte_len, segs[i].length);
		offset += segs[i].length;
	}
}

static uint32_t export_all(const struct buf *buf, size_t offset, size_t length,
			   uint32_t access, struct kverbs_segment *segs)
{
	uint32_t i, nr = SEGMENTS;
	size_t sum = 0;

	dev_export(pair.fd, pair.server, buf->region, offset, length, access, segs, &nr);
	for (i = 0; i < nr; i++)
		sum += segs[i].length;
	CHECK_EQ(sum, length);
	return nr;
}

static void writes(const void *arg)
{
	static struct kverbs_segment segs[SEGMENTS];
	const struct shape *shape = arg;
	uint32_t nr;

	set_up(shape);
	nr = export_all(&to, shape->to_offset, shape->length, KVERBS_REMOTE_WRITE, segs);
	move_segments(KVERBS_OP_WRITE, KVERBS_OP_WRITE, &from, shape->from_offset, segs, nr);
	barrier();
	check(shape);
}

static void reads(const void *arg)
{
	static struct kverbs_segment segs[SEGMENTS];
	const struct shape *shape = arg;
	uint32_t nr;

	set_up(shape);
	nr = export_all(&from, shape->from_offset, shape->length, KVERBS_REMOTE_READ, segs);
	move_segments(KVERBS_OP_READ, KVERBS_OP_READ, &to, shape->to_offset, segs, nr);
	check(shape);
}

static void check_imm_recv(size_t length)
{
	struct kverbs_cqe cqe = ring_work(&pair.ring, 0x133);

	CHECK_DONE(cqe);
	CHECK_EQ(cqe.imm, IMM);
	CHECK_EQ(cqe.flags, KVERBS_CQE_F_RECV | KVERBS_CQE_F_IMM | KVERBS_CQE_F_WRITE);
	CHECK_EQ(cqe.byte_len, length);
}

static void writes_with_imm(const void *arg)
{
	static struct kverbs_segment segs[SEGMENTS];
	const struct shape *shape = arg;
	struct kverbs_sqe recv;
	uint32_t nr;

	set_up(shape);
	nr = export_all(&to, shape->to_offset, shape->length, KVERBS_REMOTE_WRITE, segs);
	recv = sqe_recv(pair.server, 0, 0, 0);
	recv.user_data = 0x133;
	CHECK_OK(ring_put(&pair.ring, &recv));
	move_segments(KVERBS_OP_WRITE, KVERBS_OP_WRITE_IMM, &from, shape->from_offset, segs,
		      nr);
	check_imm_recv(segs[nr - 1].length);
	check(shape);
}

static uint64_t *word_at(struct buf *buf, size_t offset)
{
	return (uint64_t *)((buf->twin ? buf->twin : buf->addr) + offset);
}

static size_t next_word(size_t offset)
{
	return (offset + 7) / 8 * 8;
}

static bool is_read_only(enum buf_kind kind)
{
	return kind == BUF_READ_ONLY || kind == BUF_FILE_READ_ONLY;
}

static uint32_t region_for_answers(const struct shape *shape)
{
	return is_read_only(shape->from) ? from.region : to.region;
}

/* Operate on the end of the sink, in its last segment; the previous value goes to its start. */
static void atomic_on(const struct shape *shape, uint8_t opcode)
{
	size_t last = next_word(shape->to_offset + shape->length - 8) - 8;
	size_t answer = next_word(shape->to_offset) + 8;
	static struct kverbs_segment segs[SEGMENTS];
	struct kverbs_sqe sqe;
	uint32_t nr = SEGMENTS;

	dev_export(pair.fd, pair.server, to.region, last, 8, KVERBS_REMOTE_ATOMIC, segs, &nr);
	sqe = sqe_rdma(opcode, pair.client, region_for_answers(shape), answer, 8, segs);
	sqe.operand = 5;
	if (opcode == KVERBS_OP_CMP_SWAP)
		sqe.swap = 47;
	if (is_read_only(shape->from)) {
		CHECK_ERR(ring_put(&pair.ring, &sqe), EINVAL);
		buf_check_untouched(&to);
		return;
	}
	*word_at(&to, last) = opcode == KVERBS_OP_CMP_SWAP ? 5 : 42;
	CHECK_DONE(ring_do(&pair.ring, sqe));
	CHECK_EQ(*word_at(&to, answer), opcode == KVERBS_OP_CMP_SWAP ? 5 : 42);
	CHECK_EQ(*word_at(&to, last), 47);
	sqe.offset++;
	CHECK_ERR(ring_put(&pair.ring, &sqe), EINVAL);
}

/* Returns NULL if the shape has no room for two 8-byte words. */
static const struct shape *with_words(const struct shape *shape)
{
	static struct shape copy;

	copy = *shape;
	if (copy.length < 64)
		copy.length = 64;
	return &copy;
}

static void fetches_and_adds(const void *arg)
{
	set_up(with_words(arg));
	atomic_on(with_words(arg), KVERBS_OP_FETCH_ADD);
}

static void compares_and_swaps(const void *arg)
{
	set_up(with_words(arg));
	atomic_on(with_words(arg), KVERBS_OP_CMP_SWAP);
}

static void refused_on_iwarp(const struct shape *shape, uint8_t opcode)
{
	struct kverbs_segment nowhere = { 0 };
	struct kverbs_sqe sqe;

	set_up(shape);
	sqe = sqe_rdma(opcode, pair.client, from.region, shape->from_offset, shape->length,
		       &nowhere);
	CHECK_ERR(ring_put(&pair.ring, &sqe), EOPNOTSUPP);
	barrier();
	buf_check_untouched(&to);
}

static void send_imm_is_refused(const void *arg)
{
	refused_on_iwarp(arg, KVERBS_OP_SEND_IMM);
}

static void write_imm_is_refused(const void *arg)
{
	refused_on_iwarp(arg, KVERBS_OP_WRITE_IMM);
}

static void atomic_is_refused(const struct shape *shape, uint8_t opcode)
{
	struct kverbs_sqe sqe;

	set_up(shape);
	sqe = sqe_rdma(opcode, pair.client, to.region, 0, 8, &(struct kverbs_segment){ 0 });
	CHECK_ERR(ring_put(&pair.ring, &sqe), EOPNOTSUPP);
	barrier();
	buf_check_untouched(&to);
}

static void cmp_swap_is_refused(const void *arg)
{
	atomic_is_refused(with_words(arg), KVERBS_OP_CMP_SWAP);
}

static void fetch_add_is_refused(const void *arg)
{
	atomic_is_refused(with_words(arg), KVERBS_OP_FETCH_ADD);
}

static void add(const char *opcode, const struct shape *shape, test_fn run)
{
	char name[128];

	snprintf(name, sizeof(name), "%s: %s", opcode, shape->name);
	test_add(name, run, shape);
}

/* The test of an operation that must be refused says so in its name. */
static void add_refusal(const char *opcode, const struct shape *shape, const char *err,
			test_fn run)
{
	char name[128];

	snprintf(name, sizeof(name), "%s: %s gives %s", opcode, shape->name, err);
	test_add(name, run, shape);
}

/* Only a connection reports the largest message of the device. */
static uint64_t largest_message(void)
{
	uint64_t bytes;

	pair_open(&pair);
	bytes = dev_query(pair.fd, pair.client).out_max_msg;
	ring_unmap(&pair.ring);
	close(pair.fd);
	return bytes;
}

static void add_messages(const struct shape *shape, uint64_t largest)
{
	if (shape->length > largest) {
		add_refusal("SEND", shape, "EMSGSIZE", send_is_too_large);
		add_refusal("SEND_INV", shape, "EMSGSIZE", send_inv_is_too_large);
	} else {
		add("SEND", shape, sends);
		add("SEND_INV", shape, sends_with_inv);
	}
}

static void add_beyond_iwarp(const struct shape *shape)
{
	add("SEND_IMM", shape, sends_with_imm);
	add("WRITE_IMM", shape, writes_with_imm);
	if (is_read_only(shape->from)) {
		add_refusal("CMP_SWAP", shape, "EINVAL", compares_and_swaps);
		add_refusal("FETCH_ADD", shape, "EINVAL", fetches_and_adds);
	} else {
		add("CMP_SWAP", shape, compares_and_swaps);
		add("FETCH_ADD", shape, fetches_and_adds);
	}
}

static void refuse_on_iwarp(const struct shape *shape)
{
	add_refusal("SEND_IMM", shape, "EOPNOTSUPP", send_imm_is_refused);
	add_refusal("WRITE_IMM", shape, "EOPNOTSUPP", write_imm_is_refused);
	add_refusal("CMP_SWAP", shape, "EOPNOTSUPP", cmp_swap_is_refused);
	add_refusal("FETCH_ADD", shape, "EOPNOTSUPP", fetch_add_is_refused);
}

TEST_GROUP(moves)
{
	uint64_t largest = largest_message();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		add_messages(&shapes[i], largest);
		add("WRITE", &shapes[i], writes);
		add("READ", &shapes[i], reads);
		if (dev_is_iwarp())
			refuse_on_iwarp(&shapes[i]);
		else
			add_beyond_iwarp(&shapes[i]);
	}
	add("WRITE", &large, writes);
	add("READ", &large, reads);
}

static struct kverbs_segment small_export(uint32_t access)
{
	struct kverbs_segment seg;

	pair_open(&pair);
	buf_open(&from, pair.fd, BUF_ANON, PAGE);
	buf_open(&to, pair.fd, BUF_ANON, PAGE);
	buf_poison(&to);
	dev_export(pair.fd, pair.server, to.region, 0, PAGE, access, &seg, NULL);
	return seg;
}

TEST(a_message_of_no_bytes_arrives)
{
	pair_open(&pair);
	barrier();
}

TEST(WRITE_and_READ_of_no_bytes_succeed)
{
	struct kverbs_segment seg = small_export(KVERBS_REMOTE_WRITE | KVERBS_REMOTE_READ);

	CHECK_DONE(ring_do(&pair.ring, sqe_rdma(KVERBS_OP_WRITE, pair.client, 0, 0, 0,
						&seg)));
	CHECK_DONE(ring_do(&pair.ring, sqe_rdma(KVERBS_OP_READ, pair.client, 0, 0, 0,
						&seg)));
	barrier();
	buf_check_untouched(&to);
}

TEST(WRITE_IMM_of_no_bytes_carries_its_four)
{
	struct kverbs_segment nowhere = { 0 };
	struct kverbs_sqe sqe;

	if (dev_is_iwarp())
		test_skip("iWARP has none");
	pair_open(&pair);
	sqe = sqe_recv(pair.server, 0, 0, 0);
	sqe.user_data = 0x133;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	sqe = sqe_rdma(KVERBS_OP_WRITE_IMM, pair.client, 0, 0, 0, &nowhere);
	sqe.imm = IMM;
	CHECK_DONE(ring_do(&pair.ring, sqe));
	check_imm_recv(0);
}

TEST(a_shorter_message_leaves_the_rest_of_the_receive_alone)
{
	struct kverbs_sqe recv;

	small_export(KVERBS_REMOTE_READ);
	recv = sqe_recv(pair.server, to.region, 0, PAGE);
	recv.user_data = 77;
	CHECK_OK(ring_put(&pair.ring, &recv));
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, from.region, 9, 100)));
	CHECK_EQ(ring_work(&pair.ring, 77).byte_len, 100);
	buf_check_moved(&to, 0, &from, 9, 100);
}

TEST(a_message_too_long_for_the_receive_ends_the_connection)
{
	struct kverbs_sqe recv, send;

	small_export(KVERBS_REMOTE_READ);
	recv = sqe_recv(pair.server, to.region, 16, 64);
	recv.user_data = 77;
	CHECK_OK(ring_put(&pair.ring, &recv));
	send = sqe_send(pair.client, from.region, 0, 65);
	CHECK_OK(ring_put(&pair.ring, &send));
	CHECK_EQ(ring_work(&pair.ring, 77).result, -EIO);
	CHECK_EQ(ring_end_of(&pair.ring, pair.server).type, KVERBS_CQE_DISCONNECTED);
	CHECK_EQ(ring_end_of(&pair.ring, pair.client).type, KVERBS_CQE_DISCONNECTED);
}

TEST(without_SIGNAL_only_failure_completes)
{
	struct kverbs_segment seg = small_export(KVERBS_REMOTE_READ);
	struct kverbs_sqe sqe = sqe_rdma(KVERBS_OP_READ, pair.client, from.region, 0, 8,
					 &seg);
	struct kverbs_cqe cqe;

	sqe.flags = 0;
	sqe.user_data = 5;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	barrier();
	sqe.rkey ^= 0x100;
	sqe.user_data = 6;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	do {
		cqe = ring_next(&pair.ring);
	} while (cqe.type != KVERBS_CQE_WORK);
	CHECK_EQ(cqe.user_data, 6);
	CHECK_EQ(cqe.result, -EIO);
	CHECK(cqe.wc_status);
}

TEST(a_fenced_SEND_waits_for_the_READ_before_it)
{
	struct kverbs_segment seg = small_export(KVERBS_REMOTE_READ);
	static struct buf got;
	struct kverbs_sqe recv, sqe;
	int i;

	buf_open(&got, pair.fd, BUF_ANON, PAGE);
	for (i = 0; i < 20; i++) {
		buf_fill(&to, i);
		buf_poison(&from);
		buf_poison(&got);
		recv = sqe_recv(pair.server, got.region, 0, PAGE);
		recv.user_data = 77;
		ring_push(&pair.ring, &recv);
		sqe = sqe_rdma(KVERBS_OP_READ, pair.client, from.region, 0, PAGE, &seg);
		sqe.flags = 0;
		ring_push(&pair.ring, &sqe);
		sqe = sqe_send(pair.client, from.region, 0, PAGE);
		sqe.flags = KVERBS_SQE_FENCE;
		ring_push(&pair.ring, &sqe);
		CHECK_OK(ring_submit(&pair.ring, 3, NULL));
		CHECK_DONE(ring_work(&pair.ring, 77));
		buf_check_moved(&got, 0, &to, 0, PAGE);
	}
}

TEST(messages_arrive_in_the_order_in_which_they_were_sent)
{
	struct kverbs_sqe sqe;
	int i;

	small_export(KVERBS_REMOTE_READ);
	for (i = 0; i < 100; i++) {
		sqe = sqe_recv(pair.server, to.region, 8 * i, 8);
		sqe.user_data = 1000 + i;
		CHECK_OK(ring_put(&pair.ring, &sqe));
	}
	for (i = 0; i < 100; i++) {
		sqe = sqe_send(pair.client, from.region, 8 * i, 8);
		sqe.flags = i % 10 == 9 ? KVERBS_SQE_SIGNAL | KVERBS_SQE_SOLICITED : 0;
		CHECK_OK(ring_put(&pair.ring, &sqe));
	}
	for (i = 0; i < 100; i++)
		CHECK_DONE(ring_work(&pair.ring, 1000 + i));
	buf_check_moved(&to, 0, &from, 0, 800);
}
