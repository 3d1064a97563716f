// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A program without kverbs: it connects with librdmacm and moves data with libibverbs.
 *
 *	rdmacm_peer listen HOST			print the port, wait for rdmacm_test
 *	rdmacm_peer connect HOST PORT		connect to it
 *
 * See wire.h for their protocol. Exit status 0: the connection came
 * up, and was ended as ordered.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "link.h"
#include "wire.h"

#define GUARD		4096
/* Delay after which a lost message is nudged by sending more */
#define NUDGE_MS	500
#define RW		(PROT_READ | PROT_WRITE)

/* All messages except the data of orders. */
struct messages {
	struct wire_hello hello;
	struct wire_hello theirs;
	struct wire_order order;
	struct wire_answer answer;
};

/* Memory between guard areas. */
struct memory {
	unsigned char *addr;
	struct ibv_mr *mr;
};

static struct link us;
static struct memory source, sink, words;
static struct messages *messages;

static unsigned char *map(size_t size)
{
	unsigned char *addr = mmap(NULL, size, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (addr == MAP_FAILED)
		give_up("mmap");
	return addr;
}

static struct memory new_memory(size_t size, int access)
{
	struct memory memory = { .addr = map(size + 2 * GUARD) + GUARD };

	memory.mr = link_register(&us, memory.addr, size, access | IBV_ACCESS_LOCAL_WRITE);
	return memory;
}

static struct wire_token token_of(const struct memory *memory)
{
	return (struct wire_token){
		.addr = htobe64((uintptr_t)memory->addr),
		.length = htobe64(WIRE_SIZE),
		.rkey = htobe32(memory->mr->rkey),
	};
}

/* The atomic's previous value is stored behind the messages. */
static uint64_t *fetched(void)
{
	return (uint64_t *)(messages + 1);
}

static void set_up_memory(void)
{
	size_t at;

	source = new_memory(WIRE_SIZE, IBV_ACCESS_REMOTE_READ);
	sink = new_memory(WIRE_SIZE, IBV_ACCESS_REMOTE_WRITE |
			  (us.is_iwarp ? 0 : IBV_ACCESS_REMOTE_ATOMIC));
	words = new_memory(sizeof(*messages) + 8, 0);
	messages = (struct messages *)words.addr;
	for (at = 0; at < WIRE_SIZE; at++)
		source.addr[at] = wire_byte(WIRE_PEER, at);
	memset(sink.addr - GUARD, WIRE_POISON, WIRE_SIZE + 2 * GUARD);
	messages->hello = (struct wire_hello){ token_of(&sink), token_of(&source) };
	link_recv(&us, words.mr, &messages->theirs, sizeof(messages->theirs));
	link_recv(&us, words.mr, &messages->order, sizeof(messages->order));
}

static struct ibv_wc next_of(struct queue *queue)
{
	struct ibv_wc wc;

	if (!queue_poll(queue, &wc, test_patience_ms()))
		give_up("no completion in %d ms", test_patience_ms());
	return wc;
}

static void post(struct ibv_send_wr *wr, const struct memory *memory, void *addr, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)addr, length, memory->mr->lkey };

	wr->sg_list = &sge;
	wr->num_sge = !!length;
	link_post(&us, wr);
}

/* Post a WR and wait until it completes; returns its status. */
static uint32_t run(struct ibv_send_wr *wr, const struct memory *memory, void *addr,
		    uint32_t length)
{
	post(wr, memory, addr, length);
	return next_of(&us.sent).status;
}

static void must_send(void *message, uint32_t length)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };
	uint32_t status = run(&wr, &words, message, length);

	if (status)
		give_up("sending: %s", ibv_wc_status_str(status));
}

static struct ibv_wc must_recv(void)
{
	struct ibv_wc wc = next_of(&us.received);

	if (wc.status)
		give_up("receiving: %s", ibv_wc_status_str(wc.status));
	return wc;
}

static void answer(uint32_t failed, uint64_t value)
{
	messages->answer.failed = htobe32(failed);
	messages->answer.value = htobe64(value);
	must_send(&messages->answer, sizeof(messages->answer));
	memset(&messages->answer, 0, sizeof(messages->answer));
}

static uint32_t count_wrong(uint64_t from, uint64_t to, uint64_t length, unsigned int side)
{
	uint32_t wrong = 0;
	long at;

	for (at = -GUARD; at < (long)WIRE_SIZE + GUARD; at++)
		if (at < (long)to || at >= (long)(to + length))
			wrong += sink.addr[at] != WIRE_POISON;
		else
			wrong += sink.addr[at] != wire_byte(side, from + at - to);
	return wrong;
}

static struct ibv_send_wr remote(enum ibv_wr_opcode opcode, const struct wire_token *token,
				 uint64_t offset)
{
	return (struct ibv_send_wr){
		.opcode = opcode,
		.wr.rdma.remote_addr = be64toh(token->addr) + offset,
		.wr.rdma.rkey = be32toh(token->rkey),
	};
}

static void move(const struct wire_order *order, enum ibv_wr_opcode opcode)
{
	bool read = opcode == IBV_WR_RDMA_READ;
	const struct memory *memory = read ? &sink : &source;
	const struct wire_token *token = read ? &messages->theirs.source : &messages->theirs.sink;
	struct ibv_send_wr wr = remote(opcode, token, read ? order->from : order->to);
	uint32_t failed;

	failed = run(&wr, memory, memory->addr + (read ? order->to : order->from),
		     order->length);
	if (!failed && read)
		failed = count_wrong(order->from, order->to, order->length, WIRE_TEST);
	answer(failed, 0);
}

static void atomic_on(const struct wire_order *order, enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr wr = {
		.opcode = opcode,
		.wr.atomic = {
			.remote_addr = be64toh(messages->theirs.sink.addr) + order->to,
			.compare_add = order->operand,
			.swap = order->swap,
			.rkey = be32toh(messages->theirs.sink.rkey),
		},
	};
	uint32_t failed = run(&wr, &words, fetched(), sizeof(uint64_t));

	answer(failed, *fetched());
}

/* The four bytes of immediate data are not converted. */
static void send_source(const struct wire_order *order, enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr wr = { .opcode = opcode, .imm_data = htobe32(order->operand) };

	answer(run(&wr, &source, source.addr + order->from, order->length), 0);
}

static void recv_into_sink(const struct wire_order *order)
{
	struct ibv_wc wc;

	link_recv(&us, sink.mr, sink.addr + order->to, order->length);
	answer(0, 0);
	wc = must_recv();
	link_recv(&us, words.mr, &messages->order, sizeof(messages->order));
	messages->answer.has_imm = htobe32(!!(wc.wc_flags & IBV_WC_WITH_IMM));
	if (wc.wc_flags & IBV_WC_WITH_IMM)
		messages->answer.imm = wc.imm_data;
	answer(wc.status, wc.byte_len);
}

static uint64_t *word(const struct wire_order *order)
{
	return (uint64_t *)(sink.addr + order->to);
}

static void carry_out(const struct wire_order *order)
{
	switch (order->what) {
	case WIRE_CHECK:
		return answer(count_wrong(order->from, order->to, order->length, WIRE_TEST), 0);
	case WIRE_WRITE:
		return move(order, IBV_WR_RDMA_WRITE);
	case WIRE_READ:
		return move(order, IBV_WR_RDMA_READ);
	case WIRE_FETCH_ADD:
		return atomic_on(order, IBV_WR_ATOMIC_FETCH_AND_ADD);
	case WIRE_CMP_SWAP:
		return atomic_on(order, IBV_WR_ATOMIC_CMP_AND_SWP);
	case WIRE_SET:
		*word(order) = order->operand;
		return answer(0, 0);
	case WIRE_GET:
		return answer(0, *word(order));
	case WIRE_SEND:
		return send_source(order, IBV_WR_SEND);
	case WIRE_SEND_IMM:
		return send_source(order, IBV_WR_SEND_WITH_IMM);
	case WIRE_RECV:
		return recv_into_sink(order);
	default:
		give_up("an unknown order");
	}
}

static struct wire_order next_order(void)
{
	struct wire_order order;

	if (must_recv().byte_len != sizeof(order))
		give_up("an order of another size");
	order = messages->order;
	order.what = be32toh(order.what);
	order.from = be64toh(order.from);
	order.to = be64toh(order.to);
	order.length = be64toh(order.length);
	order.operand = be64toh(order.operand);
	order.swap = be64toh(order.swap);
	/*
	 * Post the receive for the next order; with WIRE_RECV a receive for the sink must precede
	 * it.
	 */
	if (order.what != WIRE_RECV)
		link_recv(&us, words.mr, &messages->order, sizeof(messages->order));
	return order;
}

/*
 * The test disconnects when it has the answer, and its device may or may not have acknowledged it
 * (Documentation/dev/driver-quirks.rst).
 */
static void stay(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND };

	post(&wr, &words, &messages->answer, sizeof(messages->answer));
	link_await_end(&us);
	rdma_disconnect(us.id);
	next_of(&us.sent);
}

static void leave(void)
{
	answer(0, 0);
	rdma_disconnect(us.id);
	link_await_end(&us);
}

static void obey(void)
{
	struct wire_order order = next_order();

	while (order.what != WIRE_STAY && order.what != WIRE_LEAVE) {
		carry_out(&order);
		order = next_order();
	}
	if (order.what == WIRE_STAY)
		stay();
	else
		leave();
}

/*
 * siw may overlook the first message on the passive side until more data arrives
 * (Documentation/dev/driver-quirks.rst); a WRITE of no bytes is harmless.
 */
static void await_hello(void)
{
	struct ibv_send_wr nothing = { .opcode = IBV_WR_RDMA_WRITE };
	int nudges = us.is_iwarp ? test_patience_ms() / NUDGE_MS : 0;
	struct ibv_wc wc;

	while (nudges-- && !queue_poll(&us.received, &wc, NUDGE_MS))
		if (run(&nothing, &words, NULL, 0))
			give_up("a WRITE of no bytes fails");
	if (nudges < 0)
		wc = must_recv();
	if (wc.status || wc.byte_len != sizeof(messages->theirs))
		give_up("no hello: %s", ibv_wc_status_str(wc.status));
}

static void listen_on(const char *host)
{
	link_listen(&us, host);
	link_await_request(&us);
	set_up_memory();
	link_accept(&us);
	await_hello();
	must_send(&messages->hello, sizeof(messages->hello));
}

static void connect_to(const char *host, const char *port)
{
	link_resolve(&us, host, port);
	set_up_memory();
	link_connect(&us);
	must_send(&messages->hello, sizeof(messages->hello));
	await_hello();
}

static void free_memory(void)
{
	if (ibv_dereg_mr(source.mr) || ibv_dereg_mr(sink.mr) || ibv_dereg_mr(words.mr))
		give_up("ibv_dereg_mr");
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "listen"))
		listen_on(argv[2]);
	else if (argc == 4 && !strcmp(argv[1], "connect"))
		connect_to(argv[2], argv[3]);
	else
		return 2;
	obey();
	free_memory();
	link_close(&us);
	return EXIT_SUCCESS;
}
