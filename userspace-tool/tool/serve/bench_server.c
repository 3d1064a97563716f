// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A measurement at a time: with a context, a ring and a listener of its own, so that
 * no other client's completions are among those that are measured.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "bench/conn.h"
#include "bench/field.h"
#include "serve/bench_server.h"
#include "serve/limit.h"

/* A client that has been told where to connect does it at once, with each in its turn. */
#define LANES_MS 10000
#define LANE_MS 100
/* How long it may go unnoticed that it does not. */
#define LOOK_MS 500

/**
 * struct room - what a client measures in
 * @s: its control connection
 * @listener: where its lanes come
 * @key: what they must know
 * @f: the lanes
 */
struct room {
	struct session *s;
	struct kverbs_listener *listener;
	uint32_t key;
	struct field f;
};

static int alive(struct field *f)
{
	struct room *r = f->data;

	kverbs_process(r->s->kv, 0);
	return kverbs_conn_error(r->s->conn);
}

/* A lane must come from the address that the session came from. */
static bool is_from(struct kverbs_conn *conn, const struct kverbs_addr *addr)
{
	struct kverbs_cmd_conn_query query;

	return !kverbs_conn_query(conn, &query, sizeof(query)) &&
	       query.out_remote.family == addr->family &&
	       !memcmp(query.out_remote.addr, addr->addr, sizeof(addr->addr));
}

/* The lane that a request is for, or NULL. */
static struct lane *find_lane(struct room *r, struct kverbs_conn *conn)
{
	char priv[KVERBS_PRIV_CONNECT_MAX];
	struct wire_hello hello;
	int n = kverbs_conn_priv(conn, priv, sizeof(priv));

	if (!is_from(conn, &r->s->addr))
		return NULL;
	if (n < 0 || wire_hello_decode(&hello, priv, n))
		return NULL;
	if (hello.version != WIRE_VERSION || hello.what != WIRE_SERVICE_LANE ||
	    hello.msg_max != r->key || hello.depth >= r->f.nr_lanes)
		return NULL;
	return r->f.lanes[hello.depth].conn ? NULL : &r->f.lanes[hello.depth];
}

static void refuse(struct kverbs_conn *conn)
{
	struct wire_hello hello = {
		.version = WIRE_VERSION,
		.what = WIRE_REFUSED_SERVICE,
	};
	char priv[WIRE_HELLO_LEN];

	wire_hello_encode(&hello, priv, sizeof(priv));
	kverbs_reject(conn, priv, sizeof(priv));
}

static int take_lane(struct room *r, int timeout_ms)
{
	struct kverbs_conn *conn;
	struct lane *l;
	int ret;

	ret = kverbs_next_request(r->listener, timeout_ms, &conn);
	if (ret)
		return ret;
	l = find_lane(r, conn);
	if (!l) {
		refuse(conn);
		return 0;
	}
	return lane_accept(l, conn);
}

static unsigned int missing(const struct room *r)
{
	unsigned int i, n = 0;

	for (i = 0; i < r->f.nr_lanes; i++)
		n += !r->f.lanes[i].conn;
	return n;
}

static int take_lanes(struct room *r)
{
	uint64_t ms = LANES_MS + (uint64_t)LANE_MS * r->f.nr_lanes;
	uint64_t until = field_now() + ms * 1000000;
	int ret = 0;

	while (!ret && missing(r)) {
		if (field_now() > until)
			return -ETIMEDOUT;
		ret = take_lane(r, LOOK_MS);
		if (ret == -ETIMEDOUT)
			ret = alive(&r->f);
	}
	return ret;
}

static int prepare(struct room *r, const struct bench_param *p, const char *bind)
{
	int ret;

	ret = bench_open(&r->f.kv, p, false);
	if (!ret)
		ret = field_init(&r->f, r->f.kv, p, false);
	if (!ret)
		ret = kverbs_listen(r->f.kv, bind, "0", r->f.nr_lanes, &r->listener);
	if (!ret && getrandom(&r->key, sizeof(r->key), 0) != sizeof(r->key))
		ret = -EIO;
	r->f.timeout_ms = r->s->timeout_ms;
	r->f.alive = alive;
	r->f.data = r;
	return ret;
}

static int tell_open(struct room *r, int err)
{
	struct wire_msg msg = {
		.type = WIRE_BENCH_OPEN,
		.status = wire_status(err),
		.window = WIRE_NO_WINDOW,
	};

	if (!err) {
		msg.window = kverbs_listener_port(r->listener);
		msg.digest = r->key;
	}
	return session_send(r->s, &msg);
}

/* Both sides know the memory of all lanes, and begin. */
static int agree(struct room *r)
{
	struct wire_msg msg;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < r->f.nr_lanes && !ret; i++) {
		ret = bench_take_token(r->s, &r->f.lanes[i]);
		if (!ret)
			ret = bench_tell_token(r->s, &r->f.lanes[i]);
	}
	if (!ret)
		ret = bench_expect(r->s, WIRE_BENCH_GO, &msg);
	return ret ? ret : bench_tell(r->s, WIRE_BENCH_GO);
}

static int run(struct room *r)
{
	struct field *f = &r->f;
	int ret;

	if (f->param.flags & BENCH_F_BOTH_WAYS) {
		ret = field_bandwidth(f);
		field_leave(f);
		if (!ret)
			ret = field_serve(f);
	} else {
		field_begin(f);
		ret = field_serve(f);
		field_end(f);
	}
	field_sum(f);
	return ret;
}

static int tell_result(struct room *r, int err)
{
	uint8_t tail[BENCH_RESULT_LEN];
	struct wire_msg msg = {
		.type = WIRE_BENCH_RESULT,
		.status = wire_status(err),
		.window = WIRE_NO_WINDOW,
		.tail = tail,
	};

	msg.tail_len = bench_result_encode(&r->f.result, tail, sizeof(tail));
	return session_send(r->s, &msg);
}

static int measure(struct room *r)
{
	int ret;

	ret = take_lanes(r);
	if (!ret)
		ret = agree(r);
	if (ret)
		return ret;
	return tell_result(r, run(r));
}

static void close_room(struct room *r)
{
	kverbs_listener_free(r->listener);
	field_free(&r->f);
	kverbs_close(r->f.kv);
	free(r);
}

/* The server drives the lanes of the other way. */
static uint64_t bytes_of(const struct bench_param *p)
{
	uint64_t bytes = lane_bytes(p, false);

	if (p->flags & BENCH_F_BOTH_WAYS)
		bytes += lane_bytes(p, true);
	return p->lanes * bytes;
}

/* Report a failure to prepare; the client notices any later one by itself. */
static int serve_one(struct session *s, const struct bench_param *p, const char *bind)
{
	struct room *r = calloc(1, sizeof(*r));
	uint64_t bytes = bytes_of(p);
	int ret, err;

	if (!r)
		return -ENOMEM;
	r->s = s;
	err = limit_charge(s->visit, bytes);
	if (err)
		bytes = 0;
	else
		err = prepare(r, p, bind);
	ret = tell_open(r, err);
	if (!ret && !err)
		ret = measure(r);
	close_room(r);
	limit_uncharge(s->visit, bytes);
	return ret;
}

int bench_serve(struct session *s, const char *bind)
{
	struct bench_param p;
	struct wire_msg msg;
	int ret = 0;

	while (!ret) {
		ret = bench_expect(s, WIRE_BENCH_SETUP, &msg);
		if (!ret)
			ret = bench_param_decode(&p, msg.tail, msg.tail_len);
		if (!ret)
			ret = bench_param_check(&p);
		if (!ret)
			ret = serve_one(s, &p, bind);
	}
	return ret;
}
