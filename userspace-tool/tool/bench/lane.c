// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Lanes: memory, receives, operations, credit, and how they connect. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "bench/lane.h"
#include "bench/pattern.h"
#include "cli/util.h"
#include "lib/byteorder.h"
#include "peer/wire.h"

#define SLOT_ALIGN 64
/* Entries beside those of the operations: notes, and pieces of what is large. */
#define SQ_SPARE 16
/* Receives that are posted together, if there are many. */
#define RECV_LIST 16u
/* Receives that a request takes before it is accepted with a depth. */
#define RECVS_EARLY 128u
/* A peer that is gone without a word is noticed even if nothing is sent. */
#define KEEPALIVE_NS 10000000000ull

static bool verifies(const struct lane *l)
{
	return l->param->flags & BENCH_F_VERIFY;
}

/* Slots of a bandwidth's side; a latency has one operation in flight. */
static void count_slots(struct lane *l)
{
	const struct bench_param *p = l->param;
	unsigned int many = l->rule->receives ? p->rx_depth : p->tx_depth;

	l->nr_out = 1;
	l->nr_in = 1;
	if (l->rule->kind != BENCH_BANDWIDTH)
		return;
	if (l->drives) {
		l->nr_out = verifies(l) ? p->tx_depth : 1;
		l->nr_in = 0;
	} else {
		l->nr_out = 0;
		l->nr_in = verifies(l) ? many : 1;
	}
}

/* Whether what it receives is payload. */
static bool takes_payload(const struct lane *l)
{
	return l->rule->receives && (l->rule->kind == BENCH_LATENCY || !l->drives);
}

static void count_requests(struct lane *l)
{
	bool bandwidth = l->rule->kind == BENCH_BANDWIDTH;

	l->nr_tx = bandwidth ? l->param->tx_depth : BENCH_NOTES;
	l->nr_rx = bandwidth && takes_payload(l) ? l->param->rx_depth : BENCH_NOTES;
}

/* How much there is of everything. */
static void shape(struct lane *l, const struct bench_param *param, bool drives)
{
	l->param = param;
	l->rule = bench_rule(param->op);
	l->drives = drives;
	l->stride = (param->size + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
	count_slots(l);
	count_requests(l);
	/*
	 * Posting a receive costs a call like an operation, but is not urgent: post receives as
	 * lists even without --post-list, in lists no longer than credit allows.
	 */
	l->recv_list = min(l->nr_rx / 4, RECV_LIST);
	l->recv_list = max(l->recv_list, l->param->post_list);
}

static size_t mem_bytes(const struct lane *l)
{
	return (l->nr_out + l->nr_in) * l->stride + (1 + BENCH_NOTES) * NOTE_STRIDE;
}

uint64_t lane_bytes(const struct bench_param *param, bool drives)
{
	struct lane l = { 0 };

	shape(&l, param, drives);
	return sizeof(l) + mem_bytes(&l) + l.recv_list * sizeof(*l.ops) +
	       (uint64_t)(l.nr_tx + l.nr_rx) * sizeof(*l.tx);
}

void *lane_out(const struct lane *l, uint64_t seq)
{
	return (char *)kverbs_buf_addr(l->mem) + seq % l->nr_out * l->stride;
}

void *lane_in(const struct lane *l, uint64_t seq)
{
	return (char *)kverbs_buf_addr(l->mem) + (l->nr_out + seq % l->nr_in) * l->stride;
}

size_t lane_offset(const struct lane *l, const void *at)
{
	return (const char *)at - (char *)kverbs_buf_addr(l->mem);
}

static void stir(struct lane *l)
{
	if (l->stirred)
		l->stirred(l);
}

void lane_fail(struct lane *l, const struct kverbs_req *req, int err)
{
	if (l->error)
		return;
	l->error = err;
	l->wc_status = req ? req->wc_status : 0;
	stir(l);
}

static unsigned int index_of(const struct lane *l, const struct kverbs_req *req)
{
	return (const struct lane_op *)req - l->rx;
}

static void *note_slot(const struct lane *l, unsigned int i)
{
	return (char *)kverbs_buf_addr(l->mem) + (l->nr_out + l->nr_in) * l->stride +
	       i * NOTE_STRIDE;
}

void *note_in(const struct lane *l, unsigned int i)
{
	return note_slot(l, 1 + i);
}

/* The number in a note that came; -EBADMSG: it is none. */
static int note_read(const struct lane *l, const struct kverbs_req *req, uint64_t *number)
{
	if (req->byte_len != NOTE_LEN)
		return -EBADMSG;
	*number = get_be(note_in(l, index_of(l, req)), NOTE_LEN);
	return 0;
}

static void post_note(struct lane *l)
{
	void *at = note_slot(l, 0);
	int ret;

	l->note_owed = false;
	put_be(at, l->noted, NOTE_LEN);
	ret = kverbs_send(l->conn, l->mem, lane_offset(l, at), NOTE_LEN, &l->note);
	if (ret)
		lane_fail(l, NULL, ret);
}

static void note_sent(struct kverbs_req *req)
{
	struct lane *l = req->data;

	if (req->result)
		lane_fail(l, req, req->result);
	else if (l->note_owed)
		post_note(l);
	else
		req->data = NULL;
}

/* The request's data says whose it is while it is under way. */
static void note_send(struct lane *l, uint64_t number)
{
	l->noted = number;
	if (l->note.data) {
		l->note_owed = true;
		return;
	}
	l->note.done = note_sent;
	l->note.data = l;
	post_note(l);
}

/* Export the slots that the peer reads or writes, if it does. */
int lane_export(struct lane *l)
{
	unsigned int access = l->drives ? l->rule->access_back : l->rule->access;

	if (!access)
		return 0;
	return kverbs_export(l->conn, l->mem, lane_offset(l, lane_in(l, 0)),
			     l->nr_in * l->stride, access, &l->mine);
}

static void lane_recv_op(struct lane *l, unsigned int i, struct kverbs_op *op)
{
	bool payload = takes_payload(l);

	*op = (struct kverbs_op){
		.opcode = KVERBS_OP_RECV,
		.buf = l->mem,
		.offset = lane_offset(l, payload ? lane_in(l, i) : note_in(l, i)),
		.length = payload ? l->param->size : NOTE_LEN,
		.req = &l->rx[i].req,
	};
}

int lane_post_recv(struct lane *l, unsigned int i)
{
	struct kverbs_op op;
	int ret;

	lane_recv_op(l, i, &op);
	ret = kverbs_post(l->conn, &op, 1);
	return ret < 0 ? ret : 0;
}

bool lane_over(const struct lane *l)
{
	return !l->conn || kverbs_conn_error(l->conn);
}

static void repost(struct lane *l, const struct kverbs_req *req)
{
	int ret = lane_post_recv(l, index_of(l, req));

	if (ret)
		lane_fail(l, NULL, ret);
}

/* The last byte of a WRITE that is looked for: another one than before, and not 0. */
static uint8_t mark_of(uint64_t seq)
{
	return seq % 255 + 1;
}

static size_t patterned(const struct lane *l)
{
	return l->param->size - (l->param->op == BENCH_WRITE_LAT);
}

bool lane_differs(const struct lane *l, const void *mem, uint64_t seq)
{
	return pattern_differs(mem, patterned(l), seq);
}

static const uint8_t *last_in(const struct lane *l)
{
	return (const uint8_t *)lane_in(l, 0) + l->param->size - 1;
}

static uint8_t last_now(const struct lane *l)
{
	return __atomic_load_n(last_in(l), __ATOMIC_ACQUIRE);
}

bool lane_arrived(const struct lane *l)
{
	return last_now(l) == mark_of(l->drives ? l->posted - 1 : l->received);
}

int lane_watch(struct lane *l, int timeout_ms)
{
	uint8_t old = last_now(l);

	return lane_arrived(l) ? 0 : kverbs_watch(l->conn, last_in(l), old, timeout_ms);
}

/* A slot is free once the operation that had it before is complete. */
static void fill(struct lane *l, uint64_t seq)
{
	uint8_t *last = (uint8_t *)lane_out(l, seq) + l->param->size - 1;

	if (l->param->op == BENCH_WRITE_LAT)
		*last = mark_of(seq);
	if (!verifies(l))
		return;
	if (l->rule->access == KVERBS_REMOTE_READ)
		pattern_fill(lane_out(l, seq), l->param->size, UINT64_MAX / 2);
	else if (l->rule->access != KVERBS_REMOTE_ATOMIC)
		pattern_fill(lane_out(l, seq), patterned(l), seq);
}

static uint64_t remote_offset(const struct lane *l, uint64_t seq)
{
	if (!verifies(l) || l->rule->kind != BENCH_BANDWIDTH)
		return 0;
	return seq % l->param->tx_depth * l->stride;
}

unsigned int lane_opcode(const struct lane *l)
{
	switch (l->rule->access) {
	case KVERBS_REMOTE_WRITE:
		return l->param->op == BENCH_IMM_LAT ? KVERBS_OP_WRITE_IMM : KVERBS_OP_WRITE;
	case KVERBS_REMOTE_READ:
		return KVERBS_OP_READ;
	case KVERBS_REMOTE_ATOMIC:
		return KVERBS_OP_FETCH_ADD;
	default:
		return KVERBS_OP_SEND;
	}
}

/*
 * True if operation @seq is signalled. An operation that the peer has answered is known
 * to have arrived: its completion would only wake the waiter a second time.
 */
bool lane_tells(const struct lane *l, uint64_t seq)
{
	return l->rule->kind == BENCH_BANDWIDTH || !l->rule->half || !((seq + 1) % l->nr_tx);
}

static void fill_op(struct lane *l, uint64_t seq, struct kverbs_op *op)
{
	fill(l, seq);
	*op = (struct kverbs_op){
		.opcode = lane_opcode(l),
		.imm = seq,
		.buf = l->mem,
		.offset = lane_offset(l, lane_out(l, seq)),
		.length = l->param->size,
		.token = &l->theirs,
		.remote_offset = remote_offset(l, seq),
		.operand = 1,
		.req = lane_tells(l, seq) ? &l->tx[seq % l->nr_tx].req : NULL,
	};
}

int lane_post_wait(struct lane *l, struct kverbs_req *req, int timeout_ms)
{
	struct kverbs_op op;

	fill_op(l, l->posted++, &op);
	return kverbs_post_wait(l->conn, &op, req, timeout_ms);
}

int lane_post_watch(struct lane *l, int timeout_ms)
{
	uint8_t old = last_now(l);
	struct kverbs_op op;

	fill_op(l, l->posted++, &op);
	return kverbs_post_watch(l->conn, &op, last_in(l), old, timeout_ms);
}

/* The peer has its operations one after another when those of a round are done. */
static bool asks(const struct lane *l)
{
	return verifies(l) && l->param->op == BENCH_WRITE_BW;
}

/* Where it stops for the time being, though there is room for more. */
static uint64_t next_stop(const struct lane *l)
{
	return asks(l) ? min(l->goal, l->granted) : l->goal;
}

/*
 * Signal every cq_mod-th operation; also the last one before a stop, and the last one of
 * a list if the next list would not fit into the queue otherwise.
 */
static bool is_signalled(const struct lane *l, uint64_t seq, uint64_t signalled, uint64_t end)
{
	uint64_t silent = seq + 1 - signalled;

	if (silent >= l->param->cq_mod || seq + 1 == next_stop(l))
		return true;
	return seq + 1 == end && silent + l->param->post_list > l->nr_tx;
}

static void fill_list(struct lane *l, unsigned int nr, uint64_t now)
{
	uint64_t seq, signalled = l->signalled, end = l->posted + nr;
	struct kverbs_op *op = l->ops;

	for (seq = l->posted; seq < end; seq++, op++) {
		l->tx[seq % l->nr_tx].at = now;
		fill_op(l, seq, op);
		if (is_signalled(l, seq, signalled, end))
			signalled = seq + 1;
		else
			op->req = NULL;
	}
}

static void note_signals(struct lane *l, uint64_t first, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (l->ops[i].req)
			l->signalled = first + i + 1;
}

/* The peer may answer the first while the call waits for room for the last. */
static int post_list(struct lane *l, unsigned int nr, uint64_t now)
{
	uint64_t first = l->posted;
	int ret;

	fill_list(l, nr, now);
	l->posted += nr;
	ret = kverbs_post(l->conn, l->ops, nr);
	nr = max(ret, 0);
	l->posted = first + nr;
	note_signals(l, first, nr);
	return min(ret, 0);
}

/* Operations up to @number are in their slots: look at them. */
static void verify_up_to(struct lane *l, uint64_t number)
{
	if (number < l->received || number - l->received > l->param->tx_depth) {
		lane_fail(l, NULL, -EPROTO);
		return;
	}
	for (; l->received < number; l->received++)
		l->differed += pattern_differs(lane_in(l, l->received), l->param->size,
					       l->received);
	note_send(l, number);
}

static void on_question(struct kverbs_req *req)
{
	struct lane *l = ((struct lane_op *)req)->lane;
	uint64_t number;
	int ret;

	ret = req->result ? req->result : note_read(l, req, &number);
	if (ret) {
		lane_fail(l, req, ret);
		return;
	}
	repost(l, req);
	verify_up_to(l, number);
}

static void check_payload(struct lane *l, const struct kverbs_req *req)
{
	if (req->byte_len != l->param->size)
		l->differed++;
	else if (verifies(l) &&
		 pattern_differs(lane_in(l, l->received), l->param->size, l->received))
		l->differed++;
	l->received++;
}

/* Receives are posted again as operations are: by lists. */
static void repost_list(struct lane *l)
{
	unsigned int i, nr = l->recv_list;
	int ret;

	if (l->received - l->reposted < nr)
		return;
	for (i = 0; i < nr; i++)
		lane_recv_op(l, (l->reposted + i) % l->nr_rx, &l->ops[i]);
	ret = kverbs_post(l->conn, l->ops, nr);
	if (ret > 0)
		l->reposted += ret;
	if (ret < (int)nr)
		lane_fail(l, NULL, ret < 0 ? ret : -EAGAIN);
}

/* Credit is given back a quarter at a time: seldom, but before there is none. */
static void on_payload(struct kverbs_req *req)
{
	struct lane *l = ((struct lane_op *)req)->lane;

	if (req->result) {
		lane_fail(l, req, req->result);
		return;
	}
	check_payload(l, req);
	repost_list(l);
	if (l->reposted - l->noted >= max(l->nr_rx / 4, 1u))
		note_send(l, l->reposted);
}

static void take_question(struct lane *l)
{
	if (verifies(l))
		l->differed += lane_differs(l, lane_in(l, 0), l->received);
	l->received++;
}

/* The answer first, then the receive for the next question. */
static int answer_and_repost(struct lane *l, unsigned int i)
{
	struct kverbs_op ops[2];
	int ret;

	take_question(l);
	fill_op(l, l->posted, &ops[0]);
	lane_recv_op(l, i, &ops[1]);
	ret = kverbs_post(l->conn, ops, 2);
	if (ret < 0)
		return ret;
	l->posted++;
	return ret == 2 ? 0 : lane_post_recv(l, i);
}

int lane_answer(struct lane *l, int timeout_ms, int watch_ms)
{
	struct kverbs_req *req = &l->tx[l->posted % l->nr_tx].req;
	int ret = 0;

	if (l->posted >= l->nr_tx && lane_tells(l, l->posted))
		ret = kverbs_wait(req, timeout_ms);
	if (ret) {
		lane_fail(l, req, ret);
		return ret;
	}
	take_question(l);
	return lane_post_watch(l, watch_ms);
}

static void on_ping(struct kverbs_req *req)
{
	struct lane *l = ((struct lane_op *)req)->lane;
	int ret;

	if (req->result) {
		lane_fail(l, req, req->result);
		return;
	}
	ret = answer_and_repost(l, index_of(l, req));
	if (ret)
		lane_fail(l, NULL, ret);
}

static void on_credit(struct kverbs_req *req)
{
	struct lane *l = ((struct lane_op *)req)->lane;
	uint64_t number;
	int ret;

	ret = req->result ? req->result : note_read(l, req, &number);
	if (!ret && (number > l->posted || number < l->told))
		ret = -EPROTO;
	if (ret) {
		lane_fail(l, req, ret);
		return;
	}
	l->told = number;
	l->granted = number + (l->rule->receives ? l->param->rx_depth : l->param->tx_depth);
	repost(l, req);
	stir(l);
}

static void count_complete(struct lane *l, const struct lane_op *op)
{
	if (verifies(l) && l->param->op == BENCH_READ_BW)
		l->differed += pattern_differs(lane_out(l, l->completed), l->param->size,
					       l->completed % l->param->tx_depth);
	l->completed++;
	l->complete(l, op);
}

/* With it those are complete that were posted before it and tell nothing themselves. */
static void on_complete(struct kverbs_req *req)
{
	const struct lane_op *op = (struct lane_op *)req, *each;
	struct lane *l = op->lane;

	if (req->result) {
		lane_fail(l, req, req->result);
		return;
	}
	do {
		each = &l->tx[l->completed % l->nr_tx];
		count_complete(l, each);
	} while (each != op);
	stir(l);
}

/* A whole list is posted, or what is left, as soon as there is room for it; else 0. */
static unsigned int next_list(const struct lane *l)
{
	uint64_t stop = next_stop(l), room = l->nr_tx - (l->posted - l->completed), nr;

	if (l->posted >= stop)
		return 0;
	nr = min(stop - l->posted, (uint64_t)l->param->post_list);
	if (l->rule->receives)
		room = min(room, l->granted - l->posted);
	return nr <= room ? nr : 0;
}

static bool round_is_over(const struct lane *l)
{
	return asks(l) && l->completed == l->posted && l->noted < l->posted &&
	       (l->posted == l->granted || l->posted >= l->goal);
}

int lane_push(struct lane *l, uint64_t now)
{
	int ret = l->error;
	unsigned int nr;

	while (!ret && (nr = next_list(l)))
		ret = post_list(l, nr, now);
	if (!ret && round_is_over(l))
		note_send(l, l->posted);
	return ret ? ret : l->error;
}

void lane_end_goal(struct lane *l)
{
	l->goal = min(l->goal, l->posted + (l->signalled < l->posted));
}

bool lane_busy(const struct lane *l)
{
	return l->posted < l->goal || l->completed < l->posted ||
	       (asks(l) && l->told < l->posted);
}

static kverbs_done_fn rx_callback(const struct lane *l)
{
	if (l->rule->kind == BENCH_LATENCY)
		return l->drives ? NULL : on_ping;
	if (l->drives)
		return on_credit;
	return l->rule->receives ? on_payload : on_question;
}

static void set_callbacks(struct lane *l)
{
	unsigned int i;

	for (i = 0; i < l->nr_rx; i++)
		l->rx[i].req.done = rx_callback(l);
	for (i = 0; i < l->nr_tx && l->rule->kind == BENCH_BANDWIDTH; i++)
		l->tx[i].req.done = on_complete;
}

static int alloc_ops(struct lane_op **ops, unsigned int nr, struct lane *l)
{
	unsigned int i;

	*ops = calloc(nr, sizeof(**ops));
	if (!*ops)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		(*ops)[i].lane = l;
	return 0;
}

static void fill_slots(struct lane *l)
{
	unsigned int i;

	for (i = 0; i < l->nr_out; i++)
		pattern_fill(lane_out(l, i), l->param->size, i);
	/* An atomic's number begins with 0; else what is read is known. */
	if (l->rule->access != KVERBS_REMOTE_READ)
		return;
	for (i = 0; i < l->nr_in; i++)
		pattern_fill(lane_in(l, i), l->param->size, i);
}

int lane_init(struct lane *l, struct kverbs *kv, const struct bench_param *param,
	      unsigned int number, bool drives)
{
	int ret;

	memset(l, 0, sizeof(*l));
	l->kv = kv;
	l->number = number;
	shape(l, param, drives);
	l->granted = l->rule->receives ? l->nr_rx : param->tx_depth;
	if (l->rule->receives && drives)
		l->granted = param->rx_depth;
	ret = alloc_ops(&l->tx, l->nr_tx, l);
	if (!ret)
		ret = alloc_ops(&l->rx, l->nr_rx, l);
	if (!ret) {
		l->ops = calloc(l->recv_list, sizeof(*l->ops));
		ret = l->ops ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = kverbs_buf_alloc(kv, mem_bytes(l), &l->mem);
	if (ret)
		return ret;
	fill_slots(l);
	set_callbacks(l);
	return 0;
}

void lane_free(struct lane *l)
{
	kverbs_conn_free(l->conn);
	kverbs_token_free(&l->mine);
	kverbs_token_free(&l->theirs);
	kverbs_buf_free(l->mem);
	free(l->tx);
	free(l->rx);
	free(l->ops);
	memset(l, 0, sizeof(*l));
}

static struct kverbs_conn_param conn_param(const struct lane *l)
{
	return (struct kverbs_conn_param){
		.sq_depth = l->nr_tx + SQ_SPARE,
		.rq_depth = l->nr_rx,
		.keepalive_ns = KEEPALIVE_NS,
	};
}

static int post_receives(struct lane *l, unsigned int from, unsigned int to)
{
	int ret = 0;

	for (; from < to && !ret; from++)
		ret = lane_post_recv(l, from);
	return ret;
}

void lane_sockaddr(const struct kverbs_addr *from, struct sockaddr_storage *to)
{
	struct sockaddr_in6 *v6 = (void *)to;
	struct sockaddr_in *v4 = (void *)to;

	memset(to, 0, sizeof(*to));
	to->ss_family = from->family;
	if (from->family == AF_INET) {
		v4->sin_port = from->port;
		memcpy(&v4->sin_addr, from->addr, sizeof(v4->sin_addr));
		return;
	}
	v6->sin6_port = from->port;
	v6->sin6_scope_id = from->scope_id;
	memcpy(&v6->sin6_addr, from->addr, sizeof(v6->sin6_addr));
}

const char *lane_host(const struct kverbs_addr *addr, char host[LANE_HOST_LEN],
		      const char *other)
{
	struct sockaddr_storage sa;

	lane_sockaddr(addr, &sa);
	if (!addr->family || getnameinfo((struct sockaddr *)&sa, sizeof(sa), host, LANE_HOST_LEN,
					 NULL, 0, NI_NUMERICHOST))
		return other;
	return host;
}

int lane_connect(struct lane *l, const struct kverbs_addr *to, const char *source,
		 uint32_t key, int timeout_ms)
{
	struct wire_hello hello = {
		.version = WIRE_VERSION,
		.what = WIRE_SERVICE_LANE,
		.msg_max = key,
		.depth = l->number,
	};
	const struct kverbs_conn_param param = conn_param(l);
	struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &param,
		.param_sz = sizeof(param),
	};
	struct sockaddr_storage addr;
	uint8_t priv[WIRE_HELLO_LEN];
	int ret;

	opts.source = source;
	opts.timeout_ms = timeout_ms;
	opts.priv = priv;
	opts.priv_len = wire_hello_encode(&hello, priv, sizeof(priv));
	lane_sockaddr(to, &addr);
	ret = kverbs_connect_start(l->kv, (struct sockaddr *)&addr, &opts, &l->conn);
	if (ret)
		return ret;
	if (l->by_kernel)
		return 0;
	/* Refused so soon that not even receives were taken: that it tells then. */
	ret = post_receives(l, 0, l->nr_rx);
	return ret == -ENOTCONN ? 0 : ret;
}

int lane_accept(struct lane *l, struct kverbs_conn *conn)
{
	unsigned int early = min(l->nr_rx, RECVS_EARLY);
	const struct kverbs_conn_param param = conn_param(l);
	struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &param,
		.param_sz = sizeof(param),
	};
	int ret;

	l->conn = conn;
	ret = post_receives(l, 0, early);
	if (ret)
		return ret;
	ret = kverbs_accept(conn, &opts);
	return ret ? ret : post_receives(l, early, l->nr_rx);
}
