// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs and a program of rdma-core access each other's memory; both sides are checked. */
#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "wire.h"

#define IMM		0x12345678
#define WORD		(8 * PAGE)
/* An odd offset, in no relation to pages or words */
#define FROM		13
#define TO		4099
#define LENGTH		100001

#define POISON_WORD	(UINT64_MAX / 0xff * WIRE_POISON)

/* user_data of receives */
#define ANSWER		0xa
#define DATA		0xd

/**
 * struct messages - messages besides the data
 * @hello: this side's hello
 * @theirs: the peer's hello
 * @order: order to the peer
 * @answer: the peer's answer
 * @fetched: previous value that an atomic returns
 */
struct messages {
	struct wire_hello hello;
	struct wire_hello theirs;
	struct wire_order order;
	struct wire_answer answer;
	uint64_t fetched;
};

static struct ring ring;
static uint32_t conn;
static struct buf source, sink, words;
/* Expected contents of the peer's source. */
static struct buf image;
static struct messages *messages;
static int peer_pid;

/* Returns the peer's standard output; the caller reads its first line if it needs the port. */
static FILE *start_peer(const char *how, const char *port)
{
	int out[2];

	CHECK_EQ(pipe(out), 0);
	peer_pid = fork();
	if (!peer_pid) {
		dup2(out[1], STDOUT_FILENO);
		execlp("rdmacm_peer", "rdmacm_peer", how, "a", port, NULL);
		_exit(127);
	}
	close(out[1]);
	return fdopen(out[0], "r");
}

static void peer_ends_well(void)
{
	int status;

	CHECK_EQ(waitpid(peer_pid, &status, 0), peer_pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		FAIL("rdmacm_peer ends with wait status %#x", status);
}

static void fill(struct buf *buf, unsigned int side)
{
	size_t at;

	for (at = 0; at < buf->size; at++)
		buf->addr[at] = wire_byte(side, at);
}

static void set_up_memory(void)
{
	ring_open(&ring, dev_open(), 32, 128);
	buf_open(&source, ring.fd, BUF_SCATTERED, WIRE_SIZE);
	buf_open(&sink, ring.fd, BUF_SCATTERED, WIRE_SIZE);
	buf_open(&words, ring.fd, BUF_ANON, PAGE);
	buf_open(&image, ring.fd, BUF_ANON, WIRE_SIZE);
	fill(&source, WIRE_TEST);
	fill(&image, WIRE_PEER);
	buf_poison(&sink);
	messages = (struct messages *)words.addr;
}

static void post_recv(const struct buf *buf, size_t offset, size_t length, uint64_t user_data)
{
	struct kverbs_sqe sqe = sqe_recv(conn, buf->region, offset, length);

	sqe.user_data = user_data;
	CHECK_OK(ring_put(&ring, &sqe));
}

static void post_message_recv(size_t offset, size_t length)
{
	post_recv(&words, offset, length, ANSWER);
}

static struct wire_token export(const struct buf *buf, uint32_t access)
{
	struct kverbs_segment seg;

	dev_export(ring.fd, conn, buf->region, 0, buf->size, access, &seg, NULL);
	CHECK_EQ(seg.length, buf->size);
	return (struct wire_token){
		.addr = htobe64(seg.addr),
		.length = htobe64(seg.length),
		.rkey = htobe32(seg.rkey),
	};
}

static void say_hello(void)
{
	messages->hello.sink = export(&sink, KVERBS_REMOTE_WRITE |
				      (dev_is_iwarp() ? 0 : KVERBS_REMOTE_ATOMIC));
	messages->hello.source = export(&source, KVERBS_REMOTE_READ);
	CHECK_DONE(ring_do(&ring, sqe_send(conn, words.region,
					   offsetof(struct messages, hello),
					   sizeof(messages->hello))));
}

static void await_hello(void)
{
	CHECK_DONE(ring_work(&ring, ANSWER));
	CHECK_EQ(be64toh(messages->theirs.sink.length), WIRE_SIZE);
	CHECK_EQ(be64toh(messages->theirs.source.length), WIRE_SIZE);
}

static void expect_hello(void)
{
	post_message_recv(offsetof(struct messages, theirs), sizeof(messages->theirs));
}

static void kverbs_connects(void)
{
	FILE *out = start_peer("listen", NULL);
	struct kverbs_addr addr;
	char line[256] = "";
	int port = 0;

	set_up_memory();
	while (fgets(line, sizeof(line), out) && sscanf(line, "listening %d", &port) != 1)
		fputs(line, stdout);
	if (!port)
		FAIL("rdmacm_peer does not listen");
	addr = addr_of("a", port);
	conn = dev_connect(&ring, &addr);
	expect_hello();
	CHECK_OK(ring_event(&ring, KVERBS_CQE_ESTABLISHED, conn).result);
	say_hello();
	await_hello();
}

static void rdma_core_connects(void)
{
	struct kverbs_addr addr = addr_of("a", 0);
	char port[8];

	set_up_memory();
	dev_listen(&ring, &addr);
	snprintf(port, sizeof(port), "%d", ntohs(addr.port));
	start_peer("connect", port);
	conn = ring_event(&ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	expect_hello();
	CHECK_OK(dev_accept(&ring, conn, NULL));
	CHECK_OK(ring_event(&ring, KVERBS_CQE_ESTABLISHED, conn).result);
	await_hello();
	say_hello();
}

static struct wire_answer next_answer(void)
{
	struct wire_answer answer;

	CHECK_DONE(ring_work(&ring, ANSWER));
	answer = messages->answer;
	answer.failed = be32toh(answer.failed);
	answer.has_imm = be32toh(answer.has_imm);
	answer.value = be64toh(answer.value);
	return answer;
}

static void expect_answer(void)
{
	post_message_recv(offsetof(struct messages, answer), sizeof(messages->answer));
}

static struct kverbs_cqe give_order(struct wire_order order)
{
	messages->order = (struct wire_order){
		.what = htobe32(order.what),
		.from = htobe64(order.from),
		.to = htobe64(order.to),
		.length = htobe64(order.length),
		.operand = htobe64(order.operand),
		.swap = htobe64(order.swap),
	};
	return ring_do(&ring, sqe_send(conn, words.region, offsetof(struct messages, order),
				       sizeof(messages->order)));
}

/* Give an order that must succeed; returns the answer. */
static struct wire_answer ask(struct wire_order order)
{
	struct wire_answer answer;

	expect_answer();
	CHECK_DONE(give_order(order));
	answer = next_answer();
	if (answer.failed)
		FAIL("order %u fails with %u", order.what, answer.failed);
	return answer;
}

static struct wire_order moving(enum wire_what what)
{
	return (struct wire_order){ .what = what, .from = FROM, .to = TO, .length = LENGTH };
}

static struct kverbs_segment segment_of(const struct wire_token *token, uint64_t offset)
{
	return (struct kverbs_segment){
		.addr = be64toh(token->addr) + offset,
		.length = be64toh(token->length) - offset,
		.rkey = be32toh(token->rkey),
	};
}

static struct kverbs_sqe using(uint8_t opcode, const struct buf *local, uint64_t offset,
			       uint64_t length, struct kverbs_segment to)
{
	return sqe_rdma(opcode, conn, local->region, offset, length, &to);
}

static void stay_and_disconnect(void)
{
	ask((struct wire_order){ .what = WIRE_STAY });
	CHECK_OK(dev_disconnect(ring.fd, conn));
	CHECK_OK(ring_end_of(&ring, conn).result);
	peer_ends_well();
}

/* ---- the rules, each for both directions of connecting ------------------------- */

static void kverbs_writes(void)
{
	CHECK_DONE(ring_do(&ring, using(KVERBS_OP_WRITE, &source, FROM, LENGTH,
					segment_of(&messages->theirs.sink, TO))));
	ask(moving(WIRE_CHECK));
}

static void kverbs_reads(void)
{
	CHECK_DONE(ring_do(&ring, using(KVERBS_OP_READ, &sink, TO, LENGTH,
					segment_of(&messages->theirs.source, FROM))));
	buf_check_moved(&sink, TO, &image, FROM, LENGTH);
}

static struct kverbs_sqe atomic(uint8_t opcode, uint64_t operand, uint64_t swap)
{
	struct kverbs_sqe sqe = using(opcode, &words, offsetof(struct messages, fetched), 8,
				      segment_of(&messages->theirs.sink, WORD));

	sqe.operand = operand;
	if (opcode == KVERBS_OP_CMP_SWAP)
		sqe.swap = swap;
	return sqe;
}

static uint64_t peers_word(void)
{
	return ask((struct wire_order){ .what = WIRE_GET, .to = WORD }).value;
}

static void set_peers_word(uint64_t value)
{
	ask((struct wire_order){ .what = WIRE_SET, .to = WORD, .operand = value });
}

static void kverbs_adds_and_swaps(void)
{
	set_peers_word(40);
	CHECK_DONE(ring_do(&ring, atomic(KVERBS_OP_FETCH_ADD, 2, 0)));
	CHECK_EQ(messages->fetched, 40);
	CHECK_EQ(peers_word(), 42);
	CHECK_DONE(ring_do(&ring, atomic(KVERBS_OP_CMP_SWAP, 41, 7)));
	CHECK_EQ(messages->fetched, 42);
	CHECK_EQ(peers_word(), 42);
	CHECK_DONE(ring_do(&ring, atomic(KVERBS_OP_CMP_SWAP, 42, 7)));
	CHECK_EQ(messages->fetched, 42);
	CHECK_EQ(peers_word(), 7);
	set_peers_word(POISON_WORD);
	ask((struct wire_order){ .what = WIRE_CHECK });
}

static void rdma_core_writes(void)
{
	ask(moving(WIRE_WRITE));
	buf_check_moved(&sink, TO, &image, FROM, LENGTH);
}

static void rdma_core_reads(void)
{
	ask(moving(WIRE_READ));
	buf_check_untouched(&sink);
}

static uint64_t *our_word(void)
{
	return (uint64_t *)(sink.addr + WORD);
}

static uint64_t peer_does(enum wire_what what, uint64_t operand, uint64_t swap)
{
	return ask((struct wire_order){ .what = what, .to = WORD, .operand = operand,
					.swap = swap }).value;
}

static void rdma_core_adds_and_swaps(void)
{
	*our_word() = 40;
	CHECK_EQ(peer_does(WIRE_FETCH_ADD, 2, 0), 40);
	CHECK_EQ(*our_word(), 42);
	CHECK_EQ(peer_does(WIRE_CMP_SWAP, 41, 7), 42);
	CHECK_EQ(*our_word(), 42);
	CHECK_EQ(peer_does(WIRE_CMP_SWAP, 42, 7), 42);
	CHECK_EQ(*our_word(), 7);
	*our_word() = POISON_WORD;
	buf_check_untouched(&sink);
}

static struct kverbs_sqe message(bool imm)
{
	struct kverbs_sqe sqe = sqe_send(conn, source.region, FROM, LENGTH);

	if (imm) {
		sqe.opcode = KVERBS_OP_SEND_IMM;
		sqe.imm = htobe32(IMM);
	}
	return sqe;
}

static void kverbs_sends(bool imm)
{
	struct wire_answer answer;

	ask(moving(WIRE_RECV));
	expect_answer();
	CHECK_DONE(ring_do(&ring, message(imm)));
	answer = next_answer();
	CHECK_EQ(answer.failed, 0);
	CHECK_EQ(answer.value, LENGTH);
	CHECK_EQ(answer.has_imm, imm);
	CHECK_EQ(answer.imm, imm ? htobe32(IMM) : 0);
	ask(moving(WIRE_CHECK));
}

static void rdma_core_sends(bool imm)
{
	struct wire_order order = moving(imm ? WIRE_SEND_IMM : WIRE_SEND);
	struct kverbs_cqe cqe;

	order.operand = IMM;
	post_recv(&sink, TO, LENGTH, DATA);
	ask(order);
	cqe = ring_work(&ring, DATA);
	CHECK_DONE(cqe);
	CHECK_EQ(cqe.byte_len, LENGTH);
	CHECK_EQ(cqe.flags, KVERBS_CQE_F_RECV | (imm ? KVERBS_CQE_F_IMM : 0));
	CHECK_EQ(cqe.imm, imm ? htobe32(IMM) : 0);
	buf_check_moved(&sink, TO, &image, FROM, LENGTH);
}

static void messages_go_both_ways(void)
{
	kverbs_sends(false);
	rdma_core_sends(false);
}

static void immediate_data_goes_both_ways(void)
{
	kverbs_sends(true);
	rdma_core_sends(true);
}

static void refused(struct kverbs_sqe sqe)
{
	CHECK_ERR(ring_put(&ring, &sqe), EOPNOTSUPP);
}

/* These are refused before anything is sent: the connection stays established. */
static void what_iwarp_lacks_is_refused(void)
{
	struct kverbs_segment seg;
	struct kverbs_cmd_export cmd = {
		.size = sizeof(cmd),
		.conn_id = conn,
		.region_id = sink.region,
		.access = KVERBS_REMOTE_ATOMIC,
		.length = 8,
		.inout_segs_len = 1,
		.segs_uptr = (uintptr_t)&seg,
	};

	refused(message(true));
	refused(using(KVERBS_OP_WRITE_IMM, &source, FROM, LENGTH,
		      segment_of(&messages->theirs.sink, TO)));
	refused(atomic(KVERBS_OP_FETCH_ADD, 2, 0));
	refused(atomic(KVERBS_OP_CMP_SWAP, 42, 7));
	CHECK_ERR(dev_cmd(ring.fd, KVERBS_EXPORT, &cmd), EOPNOTSUPP);
	buf_check_untouched(&sink);
	ask((struct wire_order){ .what = WIRE_CHECK });
}

/**
 * struct rule - a rule that holds whichever side has connected
 * @name: the rule
 * @check: checks it
 * @iwarp: -1: on all transports, 0: not on iWARP, 1: only on iWARP
 */
struct rule {
	const char *name;
	void (*check)(void);
	int iwarp;
};

static const struct rule rules[] = {
	{ "kverbs writes into rdma-core's memory", kverbs_writes, -1 },
	{ "kverbs reads rdma-core's memory", kverbs_reads, -1 },
	{ "kverbs adds and swaps in rdma-core's memory", kverbs_adds_and_swaps, 0 },
	{ "rdma-core writes into kverbs' memory", rdma_core_writes, -1 },
	{ "rdma-core reads kverbs' memory", rdma_core_reads, -1 },
	{ "rdma-core adds and swaps in kverbs' memory", rdma_core_adds_and_swaps, 0 },
	{ "messages go both ways", messages_go_both_ways, -1 },
	{ "messages with immediate data go both ways", immediate_data_goes_both_ways, 0 },
	{ "atomics and immediate data give EOPNOTSUPP", what_iwarp_lacks_is_refused, 1 },
};

static void after_kverbs_connects(const void *arg)
{
	const struct rule *rule = arg;

	kverbs_connects();
	rule->check();
	stay_and_disconnect();
}

static void after_rdma_core_connects(const void *arg)
{
	const struct rule *rule = arg;

	rdma_core_connects();
	rule->check();
	stay_and_disconnect();
}

static void rdma_core_disconnects(const void *arg)
{
	struct kverbs_cqe cqe;

	(void)arg;
	kverbs_connects();
	expect_answer();
	/* The peer's device may or may not acknowledge the order before the peer leaves. */
	give_order((struct wire_order){ .what = WIRE_LEAVE });
	next_answer();
	cqe = ring_end_of(&ring, conn);
	CHECK_EQ(cqe.type, KVERBS_CQE_DISCONNECTED);
	CHECK_EQ(cqe.result, -ECONNRESET);
	peer_ends_well();
}

static void add(const char *who, const struct rule *rule, test_fn run)
{
	char name[128];

	snprintf(name, sizeof(name), "%s connects: %s", who, rule->name);
	test_add(name, run, rule);
}

TEST_GROUP(rules_of_both_ways)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		if (rules[i].iwarp >= 0 && rules[i].iwarp != dev_is_iwarp())
			continue;
		add("kverbs", &rules[i], after_kverbs_connects);
		add("rdma-core", &rules[i], after_rdma_core_connects);
	}
	test_add("rdma-core's disconnect shows as ECONNRESET", rdma_core_disconnects, NULL);
}
