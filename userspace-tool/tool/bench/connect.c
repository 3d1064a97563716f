// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs bench connect: time of setting a connection up and taking it down. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/conn.h"
#include "cli/err.h"
#include "cli/json.h"
#include "cli/out.h"
#include "cli/signals.h"
#include "cli/table.h"
#include "peer/auth.h"

#define WARM_UP_MOST 10

enum connect_step {
	CONNECT_COMMAND,
	CONNECT_ADDRESS,
	CONNECT_ROUTE,
	CONNECT_QP,
	CONNECT_ANSWER,
	CONNECT_ESTABLISHED,
	CONNECT_DISCONNECTED,
	CONNECT_DESTROYED,
	CONNECT_STEPS,
};

static const char *const step_names[] = {
	"connect", "address", "route", "qp", "answer", "established", "disconnected",
	"destroyed"
};

/**
 * struct connect - what is measured
 * @b: the run
 * @addr: the server's
 * @counts: warm-up is over
 * @hists: times of each step
 */
struct connect {
	struct bench *b;
	struct sockaddr_storage addr;
	const char *source;
	char host[LANE_HOST_LEN];
	bool counts;
	struct hist hists[CONNECT_STEPS];
};

static const char *const columns[] = {
	"step        ", "#iterations", TABLE_TIMES, NULL
};

static void begin(struct bench *b)
{
	if (bench_out_rows(b))
		return;
	out_text("Connection Test\n");
	out_text(" Server          : %s port %s (%s)\n", b->to.host, b->to.port, b->s.peer);
	out_text(" TX depth        : %" PRIu64 "\n", b->tx_depth);
	out_text(" RX depth        : %" PRIu64 "\n", b->rx_depth);
	out_text(" Completions     : %s\n\n", b->events ? "events" : "polling");
	table_head(columns);
}

static void put_step(struct connect *c, enum connect_step step)
{
	struct json_object *row = bench_out_new_row(c->b, "connect");

	json_put_str(row, "step", step_names[step]);
	json_put_int(row, "iterations", c->hists[step].rtt.count);
	json_put_int(row, "tx_depth", c->b->tx_depth);
	json_put_int(row, "rx_depth", c->b->rx_depth);
	json_put_times(row, &c->hists[step]);
}

static void print_step(const struct connect *c, enum connect_step step)
{
	table_cell(columns[0], step_names[step]);
	table_number(columns[1], 0, c->hists[step].rtt.count);
	table_times(columns + 2, &c->hists[step]);
}

static void tell(struct connect *c)
{
	double p99 = hist_us(&c->hists[CONNECT_ESTABLISHED], 99), limit = c->b->limit_p99;
	unsigned int step;

	for (step = 0; step < CONNECT_STEPS; step++) {
		if (!c->hists[step].rtt.count)
			continue;
		if (out_is_json())
			put_step(c, step);
		else
			print_step(c, step);
	}
	if (limit && p99 > limit)
		bench_miss(c->b, "established, 99% percentile[usec]", p99, limit);
}

/* The step that began at @since has ended with @ret. */
static int over(struct connect *c, enum connect_step step, uint64_t since, int ret)
{
	uint64_t now = field_now();

	if (ret)
		return err_report(ERR_CONNECT, ret, "%s port %s, %s", c->b->to.host,
				  c->b->to.port, step_names[step]);
	if (c->counts)
		hist_add(&c->hists[step], now - since);
	return EXIT_OK;
}

/* Timestamps of the steps in the kernel; an old module does not report them. */
static int note_steps(struct connect *c, struct kverbs_conn *conn)
{
	struct kverbs_cmd_conn_query q;
	int ret;

	ret = kverbs_conn_query(conn, &q, sizeof(q));
	if (ret)
		return err_report(ERR_PEER, ret, "query the duration of each step");
	if (!c->counts || !q.out_up_ns)
		return EXIT_OK;
	hist_add(&c->hists[CONNECT_ADDRESS], q.out_addr_ns);
	hist_add(&c->hists[CONNECT_ROUTE], q.out_route_ns - q.out_addr_ns);
	hist_add(&c->hists[CONNECT_QP], q.out_qp_ns - q.out_route_ns);
	hist_add(&c->hists[CONNECT_ANSWER], q.out_up_ns - q.out_qp_ns);
	return EXIT_OK;
}

static int start(struct connect *c, struct kverbs_conn **conn)
{
	struct bench *b = c->b;
	struct wire_hello hello = bench_echo;
	uint8_t priv[WIRE_HELLO_LEN];
	const struct kverbs_conn_param param = {
		.sq_depth = b->tx_depth,
		.rq_depth = b->rx_depth,
	};
	struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &param,
		.param_sz = sizeof(param),
		.source = c->source,
		.timeout_ms = b->to.timeout_ms,
		.priv = priv,
	};

	/* Announce the key; the connection ends before the proof is due. */
	if (b->s.welcome.flags & WIRE_F_KEY)
		auth_hello(&hello);
	opts.priv_len = wire_hello_encode(&hello, priv, sizeof(priv));
	return kverbs_connect_start(b->kv, (struct sockaddr *)&c->addr, &opts, conn);
}

/* Until its last completion is there. */
static int await_end(struct bench *b, struct kverbs_conn *conn)
{
	uint64_t until = field_now() + b->to.timeout_ms * 1000000ull;
	int ret;

	while (!kverbs_conn_error(conn)) {
		if (field_now() > until)
			return -ETIMEDOUT;
		ret = kverbs_process(b->kv, b->to.timeout_ms);
		if (ret < 0)
			return ret;
	}
	return 0;
}

static int hang_up(struct bench *b, struct kverbs_conn *conn)
{
	int ret = kverbs_disconnect(conn);

	return ret ? ret : await_end(b, conn);
}

/* From CONNECT until it is over; with the connection still there to be freed. */
static int live(struct connect *c, struct kverbs_conn **conn)
{
	uint64_t since = field_now();
	int status;

	status = over(c, CONNECT_COMMAND, since, start(c, conn));
	if (!status)
		status = over(c, CONNECT_ESTABLISHED, since,
			      kverbs_conn_wait(*conn, c->b->to.timeout_ms));
	if (!status)
		status = note_steps(c, *conn);
	if (status)
		return status;
	since = field_now();
	return over(c, CONNECT_DISCONNECTED, since, hang_up(c->b, *conn));
}

static int once(struct connect *c)
{
	struct kverbs_conn *conn = NULL;
	int status = live(c, &conn);
	uint64_t since = field_now();

	if (status && conn) {
		session_explain_conn(&c->b->s, conn, err_last()->err, 0);
		session_print_why(&c->b->s, err_last()->err, c->b->to.explain);
	}

	kverbs_conn_free(conn);
	return status ? status : over(c, CONNECT_DESTROYED, since, 0);
}

static int repeat(struct connect *c, uint64_t count)
{
	int status = EXIT_OK;

	while (count-- && !status) {
		status = once(c);
		if (!status && signals_seen(&c->b->interrupted))
			status = err_report(ERR_PEER, -EINTR, "connect");
	}
	return status;
}

static int measure(struct connect *c)
{
	int status;

	status = repeat(c, bench_warm_up(c->b, WARM_UP_MOST));
	if (status)
		return status;
	c->counts = true;
	status = repeat(c, c->b->count);
	if (!status)
		tell(c);
	return status;
}

static int run(struct bench *b)
{
	struct connect *c = calloc(1, sizeof(*c));
	struct kverbs_cmd_conn_query q;
	int ret, status;

	if (!c)
		return err_report(ERR_MEMORY, -ENOMEM, "measure");
	c->b = b;
	begin(b);
	ret = kverbs_conn_query(b->s.conn, &q, sizeof(q));
	lane_sockaddr(&q.out_remote, &c->addr);
	/* A name was resolved for the session. */
	if (!ret && b->to.source)
		c->source = lane_host(&q.out_local, c->host, b->to.source);
	status = ret ? err_report(ERR_PEER, ret, "query the address of %s", b->s.peer) :
		       measure(c);
	free(c);
	return status;
}

/* One connection more than are measured: where the name leads, over which device. */
int bench_connect(struct bench *b)
{
	return bench_with_server(b, &bench_echo, run);
}
