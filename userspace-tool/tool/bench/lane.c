// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What a lane is made of, and how it comes to be. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/lane.h"
#include "bench/lane_note.h"
#include "bench/pattern.h"
#include "cli/util.h"

#define SLOT_ALIGN 64
/* Entries beside those of the operations: notes, and pieces of what is large. */
#define SQ_SPARE 16
/* Receives that are posted together, if there are many. */
#define RECV_LIST 16u
/* Receives that a request takes before it is accepted with a depth. */
#define RECVS_EARLY 128u
/* A peer that is gone without a word is noticed even if nothing is sent. */
#define KEEPALIVE_MS 10000

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

/*
 * A receive takes a call as an operation does, and nobody waits for it: so a list even
 * if operations have none, but no more than credit is given back for.
 */
static void count_list(struct lane *l)
{
	l->recv_list = min(l->nr_rx / 4, RECV_LIST);
	l->recv_list = max(l->recv_list, l->param->post_list);
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
	count_list(l);
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

static int alloc_list(struct lane *l)
{
	l->ops = calloc(l->recv_list, sizeof(*l->ops));
	return l->ops ? 0 : -ENOMEM;
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
	if (!ret)
		ret = alloc_list(l);
	if (!ret)
		ret = kverbs_buf_alloc(kv, mem_bytes(l), &l->mem);
	if (ret)
		return ret;
	fill_slots(l);
	lane_set_callbacks(l);
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

/* ---- memory ---------------------------------------------------------------- */

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

/* What the peer is let at, if anything: where its bytes come to. */
int lane_export(struct lane *l)
{
	unsigned int access = l->drives ? l->rule->access_back : l->rule->access;

	if (!access)
		return 0;
	return kverbs_export(l->conn, l->mem, lane_offset(l, lane_in(l, 0)),
			     l->nr_in * l->stride, access, &l->mine);
}

void lane_recv_op(struct lane *l, unsigned int i, struct kverbs_op *op)
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

/* ---- connections ------------------------------------------------------------- */

static void fill_opts(const struct lane *l, struct kverbs_conn_opts *opts)
{
	memset(opts, 0, sizeof(*opts));
	opts->sz = sizeof(*opts);
	opts->param.sq_depth = l->nr_tx + SQ_SPARE;
	opts->param.rq_depth = l->nr_rx;
	opts->param.keepalive_ms = KEEPALIVE_MS;
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

int lane_connect(struct lane *l, const struct kverbs_addr *to, const char *source,
		 uint32_t key, int timeout_ms)
{
	struct wire_hello hello = {
		.version = WIRE_VERSION,
		.what = WIRE_SERVICE_LANE,
		.msg_max = key,
		.depth = l->number,
	};
	struct kverbs_conn_opts opts;
	struct sockaddr_storage addr;
	uint8_t priv[WIRE_HELLO_LEN];
	int ret;

	fill_opts(l, &opts);
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
	struct kverbs_conn_opts opts;
	int ret;

	l->conn = conn;
	ret = post_receives(l, 0, early);
	if (ret)
		return ret;
	fill_opts(l, &opts);
	ret = kverbs_accept(conn, &opts);
	return ret ? ret : post_receives(l, early, l->nr_rx);
}
