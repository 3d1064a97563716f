// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completions: every field, and the memory that they are in. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bytes.h"
#include "proc.h"

#define SIZE		(4 * PAGE)
#define ROUNDS		60
#define FLUSHED		100
#define MESSAGES	100
#define RECV_DATA	0x12345600000000ULL
#define SEND_DATA	0x65432100000000ULL
#define WC_WR_FLUSH	5
#define WC_REM_ACCESS	10
#define READ_WRITE	(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE)

static struct pair pair;
static struct buf local, remote;
static struct kverbs_segment seg;
static uint32_t export;

static void new_export(void)
{
	uint32_t rights = dev_is_iwarp() ? READ_WRITE : READ_WRITE | KVERBS_REMOTE_ATOMIC;

	export = dev_export(pair.fd, pair.server, remote.region, 0, SIZE, rights, &seg, NULL);
}

static void set_up(void)
{
	pair_open(&pair);
	buf_open(&local, pair.fd, BUF_ANON, SIZE);
	buf_open(&remote, pair.fd, BUF_SCATTERED, SIZE);
	new_export();
}

static void check_cqe(struct kverbs_cqe got, struct kverbs_cqe want)
{
	check_same(&got, &want, sizeof(got), "a completion");
	check_no_address(&got, sizeof(got), "a completion");
}

static void post_recv(uint32_t conn, uint64_t data, uint64_t length)
{
	struct kverbs_sqe sqe = sqe_recv(conn, length ? remote.region : 0, 0, length);

	sqe.user_data = data;
	CHECK_OK(ring_put(&pair.ring, &sqe));
}

/* Check the sender's completion of @sqe. */
static void check_sent(struct kverbs_sqe sqe, uint64_t data, uint64_t length)
{
	sqe.user_data = data;
	sqe.flags = KVERBS_SQE_SIGNAL;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	check_cqe(ring_work(&pair.ring, data), (struct kverbs_cqe){
		.user_data = data,
		.byte_len = length,
		.id = sqe.conn_id,
		.type = KVERBS_CQE_WORK,
	});
}

static void check_received(uint64_t data, uint64_t length, uint16_t flags, uint32_t imm)
{
	check_cqe(ring_work(&pair.ring, data), (struct kverbs_cqe){
		.user_data = data,
		.byte_len = length,
		.id = pair.server,
		.type = KVERBS_CQE_WORK,
		.flags = KVERBS_CQE_F_RECV | flags,
		.imm = imm,
	});
}

static struct kverbs_sqe rdma(uint8_t opcode, uint64_t length)
{
	return sqe_rdma(opcode, pair.client, length ? local.region : 0, 0, length, &seg);
}

static void check_messages(uint32_t round, uint64_t length)
{
	struct kverbs_sqe sqe = sqe_send(pair.client, local.region, 0, length);

	post_recv(pair.server, RECV_DATA + round, SIZE);
	check_sent(sqe, SEND_DATA + round, length);
	check_received(RECV_DATA + round, length, 0, 0);
	post_recv(pair.server, RECV_DATA + round, length);
	sqe.opcode = KVERBS_OP_SEND_INV;
	sqe.rkey = seg.rkey;
	check_sent(sqe, SEND_DATA + round, length);
	check_received(RECV_DATA + round, length, KVERBS_CQE_F_INV, seg.rkey);
	CHECK_OK(dev_destroy(pair.fd, export));
	new_export();
}

static void check_immediates(uint32_t round, uint64_t length)
{
	struct kverbs_sqe sqe = sqe_send(pair.client, local.region, 0, length);

	post_recv(pair.server, RECV_DATA + round, SIZE);
	sqe.opcode = KVERBS_OP_SEND_IMM;
	sqe.imm = ~round;
	check_sent(sqe, SEND_DATA + round, length);
	check_received(RECV_DATA + round, length, KVERBS_CQE_F_IMM, ~round);
	post_recv(pair.server, RECV_DATA + round, 0);
	sqe = rdma(KVERBS_OP_WRITE_IMM, length);
	sqe.imm = round;
	check_sent(sqe, SEND_DATA + round, length);
	check_received(RECV_DATA + round, length, KVERBS_CQE_F_IMM | KVERBS_CQE_F_WRITE,
		       round);
}

static void check_atomics(uint32_t round)
{
	struct kverbs_sqe sqe = rdma(KVERBS_OP_FETCH_ADD, 8);

	sqe.operand = round;
	check_sent(sqe, SEND_DATA + round, 8);
	sqe.opcode = KVERBS_OP_CMP_SWAP;
	sqe.swap = ~0ULL;
	check_sent(sqe, SEND_DATA + round, 8);
}

TEST(completions_contain_only_documented_fields)
{
	uint32_t round;
	uint64_t length;

	set_up();
	for (round = 0; round < ROUNDS; round++) {
		length = 1 + round * 271 % SIZE;
		check_messages(round, length);
		check_sent(rdma(KVERBS_OP_WRITE, length), SEND_DATA + round, length);
		check_sent(rdma(KVERBS_OP_READ, length), SEND_DATA + round, length);
		check_sent(rdma(KVERBS_OP_WRITE, 0), SEND_DATA + round, 0);
		if (dev_is_iwarp())
			continue;
		check_immediates(round, length);
		check_atomics(round);
	}
	CHECK_EQ(ring_unread(&pair.ring) + pair.ring.nr_stash, 0);
}

static void check_flushed(uint64_t data)
{
	check_cqe(ring_work(&pair.ring, data), (struct kverbs_cqe){
		.user_data = data,
		.id = pair.server,
		.result = -EIO,
		.type = KVERBS_CQE_WORK,
		.wc_status = WC_WR_FLUSH,
		.flags = KVERBS_CQE_F_RECV,
	});
}

TEST(flushed_completions_contain_only_an_error)
{
	unsigned int i;

	set_up();
	for (i = 0; i < FLUSHED; i++)
		post_recv(pair.server, RECV_DATA + i, SIZE);
	CHECK_OK(dev_disconnect(pair.fd, pair.server));
	for (i = 0; i < FLUSHED; i++)
		check_flushed(RECV_DATA + i);
}

TEST(the_completion_of_a_refused_operation_contains_only_an_error)
{
	struct kverbs_sqe sqe;
	struct kverbs_cqe cqe;

	set_up();
	sqe = rdma(KVERBS_OP_READ, PAGE);
	sqe.rkey ^= 0x5a5a0000;
	cqe = ring_do(&pair.ring, sqe);
	check_cqe(cqe, (struct kverbs_cqe){
		.user_data = cqe.user_data,
		.id = pair.client,
		.result = -EIO,
		.type = KVERBS_CQE_WORK,
		.wc_status = dev_is_iwarp() ? cqe.wc_status : WC_REM_ACCESS,
	});
}

/* Check events in the order in which pair_join() reads them. */
static void check_event(struct kverbs_cqe got, uint8_t type, uint64_t data, uint32_t id,
			int result)
{
	check_cqe(got, (struct kverbs_cqe){
		.user_data = data,
		.id = id,
		.result = result,
		.type = type,
	});
}

static void check_life_of_a_connection(void)
{
	struct ring *ring = &pair.ring;
	uint32_t client = dev_connect(ring, &pair.addr), server;
	struct kverbs_cqe cqe = ring_event(ring, KVERBS_CQE_CONN_REQUEST, 0);

	server = cqe.id;
	CHECK(server && server != client);
	check_event(cqe, KVERBS_CQE_CONN_REQUEST, 0x115, server, 0);
	CHECK_OK(dev_accept(ring, server, NULL));
	check_event(ring_event(ring, KVERBS_CQE_ESTABLISHED, client), KVERBS_CQE_ESTABLISHED,
		    0xc11e, client, 0);
	check_event(ring_event(ring, KVERBS_CQE_ESTABLISHED, server), KVERBS_CQE_ESTABLISHED,
		    0x5e7e, server, 0);
	CHECK_OK(dev_disconnect(pair.fd, client));
	check_event(ring_end_of(ring, client), KVERBS_CQE_DISCONNECTED, 0xc11e, client, 0);
	check_event(ring_end_of(ring, server), KVERBS_CQE_DISCONNECTED, 0x5e7e, server,
		    -ECONNRESET);
}

static void check_refusal(void)
{
	struct kverbs_cmd_reject reject = { .size = sizeof(reject) };
	struct ring *ring = &pair.ring;
	uint32_t client = dev_connect(ring, &pair.addr);
	struct kverbs_cqe cqe;

	reject.conn_id = ring_event(ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	CHECK_OK(dev_cmd(pair.fd, KVERBS_REJECT, &reject));
	check_event(ring_end_of(ring, reject.conn_id), KVERBS_CQE_FAILED, 0, reject.conn_id,
		    -ECANCELED);
	cqe = ring_end_of(ring, client);
	/* The number is chosen by the CM. */
	CHECK(cqe.imm && cqe.imm < 4096);
	cqe.imm = 0;
	check_event(cqe, KVERBS_CQE_REJECTED, 0xc11e, client, -ECONNREFUSED);
}

TEST(event_completions_contain_only_documented_fields)
{
	int i;

	pair_open(&pair);
	for (i = 0; i < 20; i++) {
		check_life_of_a_connection();
		check_refusal();
	}
}

static const uint32_t sizes[][2] = { { 1, 1 }, { 4, 8 }, { 64, 128 }, { 256, 1024 } };

/* The kernel's indices have their initial values, and the other bytes are 0. */
static void check_fresh(const struct ring *ring)
{
	const struct kverbs_cmd_ring_create *made = &ring->made;

	check_all(ring->sqes, made->out_sq_size, 0, "submission entries");
	check_all(ring->user, made->out_idx_size, 0, "the user's indices");
	CHECK_EQ(ring->kernel->sq_head, 0);
	CHECK_EQ(ring->kernel->cq_tail, 0);
	CHECK_EQ(ring->kernel->sq_entries, made->sq_entries);
	CHECK_EQ(ring->kernel->cq_entries, made->cq_entries);
	check_all(ring->kernel->__reserved, sizeof(ring->kernel->__reserved), 0,
		  "reserved words");
	check_all(ring->cqes, made->out_cq_size - sizeof(*ring->kernel), 0, "completions");
}

/* Free pages with contents, which the kernel may then allocate for the ring. */
static void soil_memory(void)
{
	char *map = mmap(NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	CHECK(map != MAP_FAILED);
	memset(map, STALE, 64 * MIB);
}

TEST(new_rings_are_zero_to_the_end_of_their_pages)
{
	struct ring ring;
	unsigned int i;
	int fd;

	in_child(soil_memory);
	fd = dev_open();
	for (i = 0; i < 4 * ARRAY_SIZE(sizes); i++) {
		ring_open(&ring, fd, sizes[i % 4][0], sizes[i % 4][1]);
		check_fresh(&ring);
		memset(ring.sqes, STALE, ring.made.out_sq_size);
		memset(ring.user, STALE, ring.made.out_idx_size);
		ring_unmap(&ring);
		CHECK_OK(dev_destroy(fd, ring.id));
	}
}

static void *copy_of(const void *from, size_t size)
{
	void *copy = malloc(size);

	CHECK(copy);
	return memcpy(copy, from, size);
}

static void check_nothing_behind_the_last(const struct ring *ring, uint32_t nr)
{
	size_t used = sizeof(*ring->kernel) + nr * sizeof(*ring->cqes);
	const char *start = (const char *)ring->kernel;

	check_all(start + used, ring->made.out_cq_size - used, 0, "behind the completions");
	check_all(ring->kernel->__reserved, sizeof(ring->kernel->__reserved), 0,
		  "reserved words");
	check_no_address(start, used, "the completion ring");
}

static void push_messages(void)
{
	struct kverbs_sqe recv = sqe_recv(pair.server, 0, 0, 0);
	struct kverbs_sqe send = sqe_send(pair.client, 0, 0, 0);
	int i;

	for (i = 0; i < MESSAGES; i++) {
		ring_push(&pair.ring, &recv);
		ring_push(&pair.ring, &send);
	}
}

TEST(the_kernel_writes_only_indices_and_completions_into_a_ring)
{
	struct ring *ring = &pair.ring;
	void *sqes, *user;
	uint32_t read;

	pair_open(&pair);
	memset(ring->sqes, STALE, ring->made.out_sq_size);
	push_messages();
	sqes = copy_of(ring->sqes, ring->made.out_sq_size);
	user = copy_of(ring->user, ring->made.out_idx_size);
	read = ring->user->cq_head;
	CHECK_OK(ring_submit(ring, 2 * MESSAGES, NULL));
	CHECK_OK(ring_wait(ring, 2 * MESSAGES, test_patience_ms()));
	CHECK_EQ(ring->kernel->sq_head, 2 * MESSAGES);
	CHECK_EQ(ring->kernel->cq_tail, read + 2 * MESSAGES);
	check_same(ring->sqes, sqes, ring->made.out_sq_size, "submission entries");
	check_same(ring->user, user, ring->made.out_idx_size, "the user's indices");
	check_nothing_behind_the_last(ring, read + 2 * MESSAGES);
}
