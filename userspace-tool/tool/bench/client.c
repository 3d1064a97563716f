// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* One measurement, from what is asked of the server to what it says at the end. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/conn.h"
#include "cli/err.h"

/**
 * struct sent - operations of this side, warm-up and all
 * @posted: that went out
 * @completed: of those, known to have arrived
 */
struct sent {
	uint64_t posted;
	uint64_t completed;
};

static int set_up(struct bench *b, const struct bench_param *p, struct wire_msg *open)
{
	uint8_t tail[BENCH_PARAM_LEN];
	struct wire_msg msg = {
		.type = WIRE_BENCH_SETUP,
		.window = WIRE_NO_WINDOW,
		.tail = tail,
	};
	int ret;

	msg.tail_len = bench_param_encode(p, tail, sizeof(tail));
	ret = session_send(&b->s, &msg);
	if (ret)
		return err_report(ERR_PEER, ret, "request a measurement from %s", b->s.peer);
	ret = bench_expect(&b->s, WIRE_BENCH_OPEN, open);
	if (ret)
		return err_report(ERR_REMOTE, ret, "prepare the measurement there");
	return EXIT_OK;
}

/* The server's address, with the port that it told, and the session's own address. */
static int lanes_address(struct bench *b, const struct wire_msg *open,
			 struct kverbs_addr *addr, struct kverbs_addr *local)
{
	struct kverbs_cmd_conn_query q;
	int ret;

	ret = kverbs_conn_query(b->s.conn, &q, sizeof(q));
	if (ret)
		return ret;
	*addr = q.out_remote;
	addr->port = htons(open->window);
	*local = q.out_local;
	return 0;
}

static int connect_lanes(struct bench *b, const struct wire_msg *open)
{
	struct field *f = &b->f;
	struct kverbs_addr addr, local;
	const char *source = NULL;
	char host[LANE_HOST_LEN];
	unsigned int i;
	int ret;

	for (i = 0; i < f->nr_lanes; i++)
		f->lanes[i].by_kernel = b->engine == BENCH_ENGINE_KERNEL && f->lanes[i].drives;
	ret = lanes_address(b, open, &addr, &local);
	if (!ret && b->to.source)
		source = lane_host(&local, host, b->to.source);
	for (i = 0; i < f->nr_lanes && !ret; i++)
		ret = lane_connect(&f->lanes[i], &addr, source, open->digest,
				   b->to.timeout_ms);
	for (i = 0; i < f->nr_lanes && !ret; i++)
		ret = kverbs_conn_wait(f->lanes[i].conn, b->to.timeout_ms);
	return ret;
}

static int agree(struct bench *b)
{
	struct field *f = &b->f;
	struct wire_msg msg;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < f->nr_lanes && !ret; i++) {
		ret = bench_tell_token(&b->s, &f->lanes[i]);
		if (!ret)
			ret = bench_take_token(&b->s, &f->lanes[i]);
	}
	if (!ret)
		ret = bench_tell(&b->s, WIRE_BENCH_GO);
	return ret ? ret : bench_expect(&b->s, WIRE_BENCH_GO, &msg);
}

static void tick(struct field *f)
{
	bench_out_tick(f->data);
}

static int prepare(struct bench *b, const struct bench_param *p,
		   const struct wire_msg *open)
{
	struct field *f = &b->f;
	int ret;

	ret = field_init(f, b->kv, p, true);
	if (ret)
		return err_report(ERR_MEMORY, ret, "register memory to measure with");
	f->timeout_ms = b->to.timeout_ms;
	f->stop = b->s.stop;
	f->tick = p->duration_ms ? tick : NULL;
	f->data = b;
	ret = connect_lanes(b, open);
	if (ret)
		return err_report(ERR_CONNECT, ret, "connect to measure");
	ret = agree(b);
	return ret ? err_report(ERR_PEER, ret, "negotiate with %s", b->s.peer) : EXIT_OK;
}

/* A failed operation says more than that the connection ended since. */
static int report(struct bench *b, int err)
{
	const struct lane *l = field_broken(&b->f);

	if (b->engine == BENCH_ENGINE_KERNEL && (err == -ENOTTY || err == -EOPNOTSUPP))
		return err_report(ERR_TRAFFIC, err, "%s, run by the kernel engine",
				  b->rule->name);
	if (l && l->wc_status)
		return err_report(ERR_PEER, err, "%s, connection %u: %s", b->rule->name,
				  l->number, kverbs_wc_status_str(l->wc_status));
	return err_report(ERR_PEER, err, "%s", b->rule->name);
}

static int run(struct bench *b)
{
	int ret;

	if (b->engine == BENCH_ENGINE_KERNEL)
		ret = bench_kernel(b);
	else if (b->rule->kind == BENCH_LATENCY)
		ret = field_latency(&b->f);
	else
		ret = field_bandwidth(&b->f);
	if (ret)
		return report(b, ret);
	field_leave(&b->f);
	ret = field_serve(&b->f);
	if (ret)
		return report(b, ret);
	field_sum(&b->f);
	return EXIT_OK;
}

/* Each operation of a latency has been answered. */
static struct sent count_sent(const struct bench *b)
{
	uint64_t posted = field_posted(&b->f);

	return (struct sent){
		.posted = posted,
		.completed = b->rule->kind == BENCH_LATENCY ? posted : field_completed(&b->f),
	};
}

/*
 * Nothing is lost in silence: what was complete must have come, and what was in flight
 * when the time was over may have.
 */
static void compare(struct bench *b, const struct sent *sent)
{
	struct bench_result *r = &b->f.result;
	uint64_t received = b->theirs.received;

	r->differed += b->theirs.differed;
	if (!b->rule->receives || b->both)
		return;
	if (received < sent->completed)
		r->differed += sent->completed - received;
	else if (received > sent->posted)
		r->differed++;
}

static int take_result(struct bench *b, const struct sent *sent)
{
	struct wire_msg msg;
	int ret;

	ret = bench_expect(&b->s, WIRE_BENCH_RESULT, &msg);
	if (!ret)
		ret = bench_result_decode(&b->theirs, msg.tail, msg.tail_len);
	if (ret)
		return err_report(ERR_PEER, ret, "read the result of %s", b->s.peer);
	compare(b, sent);
	return EXIT_OK;
}

/* The lane whose operation failed, or else one whose connection did */
static const struct lane *failed_lane(const struct field *f)
{
	const struct lane *l = field_broken(f);
	unsigned int i;

	for (i = 0; !l && i < f->nr_lanes; i++)
		if (f->lanes[i].conn && kverbs_conn_error(f->lanes[i].conn))
			l = &f->lanes[i];
	return l;
}

/* The connection that broke says more than that of the messages. */
static void explain(struct bench *b)
{
	const struct lane *l = failed_lane(&b->f);
	const struct err_last *last = err_last();

	if (!last || last->err == -EINTR)
		return;
	if (l && l->conn)
		session_explain_conn(&b->s, l->conn, last->err, l->wc_status);
	session_print_why(&b->s, last->err, b->to.explain);
}

int bench_measure(struct bench *b, const struct bench_param *p)
{
	struct wire_msg open;
	struct sent sent = { 0 };
	int status;

	b->ticked = 0;
	status = set_up(b, p, &open);
	if (!status)
		status = prepare(b, p, &open);
	if (!status)
		status = run(b);
	if (!status)
		sent = count_sent(b);
	else
		explain(b);
	field_free(&b->f);
	return status ? status : take_result(b, &sent);
}
