// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs ping: round trips of a message, verified byte for byte. What goes to and
 * fro with an rping server is in rping_client.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/hist.h"
#include "cli/json.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "cli/server_opts.h"
#include "cli/signals.h"
#include "cli/units.h"
#include "cli/util.h"
#include "peer/kv.h"
#include "peer/session.h"
#include "ping/rping.h"

/* Messages under way, at most. */
#define PING_DEPTH 8

/**
 * struct ping - a run
 * @to: the server
 * @count: how many, 0: until interrupted
 * @size: payload, bytes
 * @interval_ms: between messages, 0: send at once after a reply
 * @timeout_ms: how long a reply may take
 * @quiet: no line per reply
 * @rping: with the protocol of rping
 * @s: the connection
 * @payload: what is sent
 * @sent: messages sent
 * @received: replies
 * @differed: replies whose payload differs
 * @overdue: the last message reported as late
 * @at: when messages were sent
 * @start: of the run
 * @rtt: statistics
 */
struct ping {
	struct session_to to;
	uint64_t count;
	uint64_t size;
	int interval_ms;
	int timeout_ms;
	bool quiet;
	bool rping;
	struct session s;
	uint8_t *payload;
	uint64_t sent;
	uint64_t received;
	uint64_t differed;
	uint64_t overdue;
	double at[PING_DEPTH];
	double start;
	struct rtt rtt;
};

/* Offset of the returned text in the buffer: a page of its own. */
#define ECHO_AT 65536

/**
 * struct rping_client - a run
 * @p: what is asked for, and how it goes
 * @buf: both texts
 * @out: what the server may read
 * @back: what it may write
 */
struct rping_client {
	struct ping *p;
	struct kverbs_buf *buf;
	struct kverbs_token out;
	struct kverbs_token back;
};

static char *text(const struct rping_client *c)
{
	return kverbs_buf_addr(c->buf);
}

static char *echo(const struct rping_client *c)
{
	return text(c) + ECHO_AT;
}

static int send_info(struct rping_client *c, const struct kverbs_token *token)
{
	struct rping_info info = {
		.addr = token->segs->addr,
		.rkey = token->segs->rkey,
		.size = token->length,
	};
	uint8_t msg[RPING_INFO_LEN];

	rping_info_encode(&info, msg);
	return session_send_raw(&c->p->s, msg, sizeof(msg));
}

static int await_go_ahead(struct rping_client *c)
{
	const void *msg;
	size_t len;
	int ret;

	ret = session_recv_raw(&c->p->s, &msg, &len, c->p->timeout_ms);
	if (!ret && len != RPING_INFO_LEN)
		ret = -EBADMSG;
	return ret;
}

static int offer(struct rping_client *c, const struct kverbs_token *token)
{
	int ret;

	ret = send_info(c, token);
	return ret ? ret : await_go_ahead(c);
}

/* The next reply is here, after so many seconds. */
static void ping_take(struct ping *p, double rtt, int bad)
{
	p->received++;
	p->differed += bad;
	rtt_add(&p->rtt, rtt);
	if (!p->quiet)
		out_text("%" PRIu64 " bytes from %s: seq=%" PRIu64 " time=%.3f ms%s\n",
			 p->size, p->s.peer, p->received, rtt * 1e3,
			 bad ? " DIFFERS" : "");
}

static int ping_once(struct rping_client *c)
{
	struct ping *p = c->p;
	double start = units_now();
	int ret;

	rping_text_fill(text(c), p->size, p->sent);
	/* Clear the text of the last ping, which would pass for an echo. */
	memset(echo(c), 0, p->size);
	p->sent++;
	ret = offer(c, &c->out);
	if (!ret)
		ret = offer(c, &c->back);
	if (!ret)
		ping_take(p, units_now() - start,
			  memcmp(text(c), echo(c), p->size) != 0);
	return ret;
}

/* Wait until @next; the server may disconnect, but must not send anything. */
static int pause_until(struct rping_client *c, double next)
{
	double left = (next - units_now()) * 1e3;
	const void *msg;
	size_t len;
	int ret;

	if (left <= 0)
		return 0;
	ret = session_recv_raw(&c->p->s, &msg, &len, min(left + 1, (double)INT_MAX));
	if (ret == -ETIMEDOUT && !kverbs_conn_error(c->p->s.conn))
		return 0;
	return ret ? ret : -EPROTO;
}

static int ping_all(struct rping_client *c)
{
	struct ping *p = c->p;
	double next = p->start;
	int ret = 0;

	while (!ret && !(p->count && p->sent == p->count)) {
		ret = pause_until(c, next);
		next += p->interval_ms / 1e3;
		if (!ret && session_stopped(&p->s))
			ret = -EINTR;
		if (!ret)
			ret = ping_once(c);
	}
	return ret;
}

/* One name for each range is all that a message can carry. */
static int export(struct rping_client *c, size_t at, unsigned int access,
		  struct kverbs_token *token)
{
	int ret;

	ret = kverbs_export(c->p->s.conn, c->buf, at, c->p->size, access, token);
	if (!ret && token->nr_segs != 1)
		ret = -EMSGSIZE;
	return ret == -ENOTCONN ? -ECONNRESET : ret;
}

/* Ping until all is done, or it fails; the connection is freed. -errno. */
static int rping_exchange(struct ping *p)
{
	struct rping_client c = { .p = p };
	int ret;

	ret = kverbs_buf_alloc(p->s.kv, 2 * ECHO_AT, &c.buf);
	if (ret)
		return ret;
	ret = export(&c, 0, KVERBS_REMOTE_READ, &c.out);
	if (!ret)
		ret = export(&c, ECHO_AT, KVERBS_REMOTE_WRITE, &c.back);
	if (!ret)
		ret = ping_all(&c);
	/* The exports end with the connection. */
	session_stop(&p->s);
	kverbs_token_free(&c.out);
	kverbs_token_free(&c.back);
	kverbs_buf_free(c.buf);
	return ret;
}

#define DEFAULT_SIZE 56
#define SIZE_UNSET UINT64_MAX

/* One slot less than both sides have: the peer posts the last one again late. */
#define OUTSTANDING_MAX (PING_DEPTH - 1)

static int interrupted;

/* Differs in every byte from one number to the next, and along the message. */
static uint8_t pattern(uint64_t seq, uint64_t i)
{
	return seq * 151 + i * 7 + (i >> 8) * 13;
}

static int send_one(struct ping *p)
{
	uint64_t i, seq = p->sent + 1;
	struct wire_msg msg = {
		.type = WIRE_ECHO,
		.id = seq,
		.offset = seq,
		.window = WIRE_NO_WINDOW,
		.tail = p->payload,
		.tail_len = p->size,
	};

	for (i = 0; i < p->size; i++)
		p->payload[i] = pattern(seq, i);
	p->at[seq % PING_DEPTH] = units_now();
	p->sent++;
	return session_send(&p->s, &msg);
}

static int differs(const struct ping *p, const struct wire_msg *msg, uint64_t seq)
{
	const uint8_t *tail = msg->tail;
	uint64_t i;

	if (msg->type != WIRE_ECHO || msg->offset != seq || msg->tail_len != p->size)
		return 1;
	for (i = 0; i < p->size; i++)
		if (tail[i] != pattern(seq, i))
			return 1;
	return 0;
}

static void take_reply(struct ping *p, const struct wire_msg *msg, double now)
{
	uint64_t seq = p->received + 1;

	ping_take(p, now - p->at[seq % PING_DEPTH], differs(p, msg, seq));
}

/* A connection keeps the order, so the oldest is the one to look at. */
static void check_overdue(struct ping *p, double now)
{
	uint64_t seq = p->received + 1;

	if (seq > p->sent || p->overdue >= seq)
		return;
	if (now - p->at[seq % PING_DEPTH] < p->timeout_ms / 1e3)
		return;
	p->overdue = seq;
	if (!p->quiet)
		out_text("no answer yet for seq=%" PRIu64 "\n", seq);
}

static int may_send(const struct ping *p, double now, double next)
{
	uint64_t outstanding = p->sent - p->received;

	if (p->count && p->sent == p->count)
		return 0;
	if (!p->interval_ms)
		return !outstanding || p->overdue > p->received;
	return now >= next && outstanding < OUTSTANDING_MAX;
}

static int wait_ms(const struct ping *p, double now, double next)
{
	double until = next, oldest = p->at[(p->received + 1) % PING_DEPTH];

	if (!p->interval_ms || p->sent == p->count ||
	    p->sent - p->received >= OUTSTANDING_MAX)
		until = oldest + p->timeout_ms / 1e3;
	if (until <= now)
		return 0;
	return min((until - now) * 1e3 + 1, (double)INT_MAX);
}

/* All sent, and nothing more to hope for. */
static int is_over(const struct ping *p)
{
	uint64_t outstanding = p->sent - p->received;

	if (outstanding >= OUTSTANDING_MAX && p->overdue > p->received)
		return 1;
	if (!p->count || p->sent < p->count)
		return 0;
	return !outstanding || p->overdue > p->received;
}

static int exchange(struct ping *p)
{
	struct wire_msg msg;
	double next = p->start, now;
	int ret;

	while (!is_over(p)) {
		/* A signal interrupts nothing if it comes between two waits. */
		if (session_stopped(&p->s))
			return -EINTR;
		now = units_now();
		if (may_send(p, now, next)) {
			ret = send_one(p);
			if (ret)
				return ret;
			next += p->interval_ms / 1e3;
			continue;
		}
		ret = session_recv(&p->s, &msg, wait_ms(p, now, next));
		now = units_now();
		if (!ret)
			take_reply(p, &msg, now);
		else if (ret != -ETIMEDOUT || kverbs_conn_error(p->s.conn))
			return ret;
		check_overdue(p, now);
	}
	return 0;
}

/* A device may carry less in one message, or under one key, than we offer to. */
static uint64_t size_max(const struct ping *p, const struct kverbs_cmd_conn_query *q)
{
	uint64_t head = p->rping ? 0 : WIRE_HEAD_LEN;
	uint64_t max = p->rping ? q->out_max_segment : q->out_max_msg;

	return max ? max - head : UINT64_MAX;
}

static int begin(const struct ping *p)
{
	struct kverbs_cmd_conn_query q;
	int ret;

	ret = kverbs_conn_query(p->s.conn, &q, sizeof(q));
	if (ret)
		return err_report(ERR_PEER, ret, "query the connection's limits");
	if (p->size > size_max(p, &q))
		return err_report(ERR_PEER, -EMSGSIZE, "send %" PRIu64
				  " bytes; the device takes a --size of at most %" PRIu64,
				  p->size, size_max(p, &q));
	out_text("PING %s (%s): %" PRIu64 " bytes of data, %s, path MTU %u\n",
		 p->to.host, p->s.peer, p->size, kverbs_transport_str(q.out_transport),
		 q.out_mtu);
	return EXIT_OK;
}

/* Answers that might have come, if @err says that the user did not wait for them. */
static uint64_t outstanding(const struct ping *p, int err)
{
	return err == -EINTR ? p->sent - max(p->received, p->overdue) : 0;
}

static uint64_t lost(const struct ping *p, int err)
{
	return p->sent - p->received - outstanding(p, err);
}

static void print_text(const struct ping *p, double seconds, int err)
{
	out_text("\n--- %s kverbs ping statistics ---\n", p->to.host);
	out_text("%" PRIu64 " transmitted, %" PRIu64 " received, ", p->sent, p->received);
	if (outstanding(p, err))
		out_text("%" PRIu64 " outstanding, ", outstanding(p, err));
	out_text("%g%% lost, ", p->sent ? 100. * lost(p, err) / p->sent : 0);
	out_text("%" PRIu64 " differed, time %.0f ms\n", p->differed, seconds * 1e3);
	if (p->received)
		out_text("rtt min/avg/max/mdev = %.3f/%.3f/%.3f/%.3f ms\n",
			 p->rtt.min * 1e3, p->rtt.mean * 1e3, p->rtt.max * 1e3,
			 rtt_mdev(&p->rtt) * 1e3);
}

static void put_us(struct json_object *o, const char *key, double seconds)
{
	json_put_num(o, key, seconds * 1e6);
}

static void print_json(const struct ping *p, double seconds, int err)
{
	struct json_object *o = out_root();

	json_put_str(o, "host", p->to.host);
	json_put_str(o, "address", p->s.peer);
	json_put_int(o, "size_bytes", p->size);
	json_put_int(o, "transmitted", p->sent);
	json_put_int(o, "received", p->received);
	json_put_int(o, "outstanding", outstanding(p, err));
	json_put_int(o, "lost", lost(p, err));
	json_put_int(o, "differed", p->differed);
	json_put_num(o, "seconds", seconds);
	if (!p->received)
		return;
	put_us(o, "rtt_min_us", p->rtt.min);
	put_us(o, "rtt_avg_us", p->rtt.mean);
	put_us(o, "rtt_max_us", p->rtt.max);
	put_us(o, "rtt_mdev_us", rtt_mdev(&p->rtt));
}

/* The usual reason why an rping server leaves, and it does not say so. */
static void hint(const struct ping *p, int err)
{
	if (p->rping && !p->received && p->size > RPING_DEFAULT_SIZE &&
	    (err == -ECONNRESET || err == -EIO))
		err_warn("rping -s accepts %d bytes, or the size of its -S",
			 RPING_DEFAULT_SIZE);
}

/* Answers that are late count as a failure, too. */
static void explain(struct ping *p, int err)
{
	if (!err && lost(p, err))
		err = -ETIMEDOUT;
	if (err && err != -EINTR)
		session_print_why(&p->s, err, p->to.explain);
}

static int verdict(struct ping *p, int err)
{
	int status = p->received && !lost(p, err) && !p->differed ? EXIT_OK : EXIT_FAILED;
	double seconds = units_now() - p->start;

	if (out_is_json())
		print_json(p, seconds, err);
	else
		print_text(p, seconds, err);
	hint(p, err);
	if (err && err != -EINTR)
		status = err_report(ERR_PEER, err, "exchange with %s", p->s.peer);
	explain(p, err);
	return status;
}

static void fill_hello(const struct ping *p, struct wire_hello *hello)
{
	*hello = (struct wire_hello){
		.version = WIRE_VERSION,
		.what = WIRE_SERVICE_ECHO,
		.msg_max = WIRE_HEAD_LEN + p->size,
		.depth = PING_DEPTH,
	};
	if (p->rping)
		rping_hello(hello);
}

static int run(struct ping *p)
{
	struct wire_hello hello;
	struct signals old;
	struct kverbs *kv;
	int status;

	status = kv_open(&kv, 0);
	if (status)
		return status;
	fill_hello(p, &hello);
	p->to.timeout_ms = p->timeout_ms;
	status = kv_connect(&p->s, kv, &p->to, &hello);
	if (status)
		goto out_close_kv;

	status = begin(p);
	if (status)
		goto out_free_session;
	p->s.stop = &interrupted;
	signals_catch(&old, &interrupted);
	p->start = units_now();
	status = verdict(p, p->rping ? rping_exchange(p) : exchange(p));
	signals_restore(&old);
out_free_session:
	session_free(&p->s);
out_close_kv:
	kverbs_close(kv);
	return status;
}

static const char usage[] =
"usage: kverbs ping [options] HOST\n"
"\n"
"Send messages to a kverbs server and verify that they come back unchanged.\n";

static const char notes[] =
"Exit status: 0 all messages came back unchanged, 1 some did not, 2 usage,\n"
"3 cannot reach HOST, 4 not permitted or no device.\n";

static const struct opts_option options[] = {
	OPTS_RANGE("count", 'c', OPTS_NUMBER, struct ping, count, 1, UINT32_MAX,
		   OPTS_HELP("N", "stop after N messages (default: when interrupted)"),
		   OPTS_DOC("Stop after *N* messages.")),
	OPTS_RANGE("interval", 'i', OPTS_MILLIS, struct ping, interval_ms, 0, 86400000,
		   OPTS_HELP("S", "send every S seconds; 0: whenever an answer has arrived\n"
			     "(default 1)"),
		   OPTS_DOC("Send a message every *S* seconds; with 0 each as soon as the\n"
			    "previous one is answered. Default 1.")),
	OPTS_RANGE("size", 's', OPTS_NUMBER, struct ping, size, 0, WIRE_ECHO_MAX,
		   OPTS_HELP("BYTES", "payload, up to 1M (default 56); with --rping 23 to\n"
			     "65535 (default 64)"),
		   OPTS_DOC("Payload of a message, up to 1M; default 56. With ``--rping`` 23 to\n"
			    "65535, default 64. *K* and *M* are powers of 1024.")),
	OPTS_RANGE("timeout", 'W', OPTS_MILLIS, struct ping, timeout_ms, 1, 86400000,
		   OPTS_HELP("S", "wait up to S seconds for an answer (default 10)"),
		   OPTS_DOC("Wait up to *S* seconds for the connection and for each answer;\n"
			    "default 10.")),
	SERVER_OPTS_SOURCE(struct ping, to),
	SERVER_OPTS_EXPLAIN(struct ping, to),
	SERVER_OPTS_KEY(struct ping, to, "\nNot together with ``--rping``."),
	SERVER_OPTS_KEY_NAME(struct ping, to),
	SERVER_OPTS_PORT(struct ping, to, ", with --rping " RPING_DEFAULT_PORT,
			 ", with ``--rping`` " RPING_DEFAULT_PORT "."),
	OPTS_OPTION("rping", 0, OPTS_SET, struct ping, rping,
		    OPTS_HELP(NULL, "the server is rdma-core's rping -s -S BYTES"),
		    OPTS_DOC("Use the protocol of rdma-core's **rping -s**, whose **-S** must\n"
			     "be at least ``--size``.")),
	OPTS_OPTION("quiet", 'q', OPTS_SET, struct ping, quiet,
		    OPTS_HELP(NULL, "print only the summary"),
		    OPTS_DOC("Print only the summary.")),
	{ }
};

/* Set defaults that depend on --rping, after all options are parsed. */
static int complete(struct ping *p)
{
	if (!p->to.port)
		p->to.port = p->rping ? RPING_DEFAULT_PORT : WIRE_DEFAULT_PORT;
	if (p->size == SIZE_UNSET)
		p->size = p->rping ? RPING_DEFAULT_SIZE : DEFAULT_SIZE;
	if (p->rping && p->to.key_file) {
		err_usage("rping has no authentication: --rping and --key exclude each other");
		return -EINVAL;
	}
	if (!p->rping || (p->size >= RPING_SIZE_MIN && p->size <= RPING_SIZE_MAX))
		return 0;
	err_usage("--rping requires a --size from %d to %d", RPING_SIZE_MIN, RPING_SIZE_MAX);
	return -EINVAL;
}

static int parse(struct ping *p, int argc, char **argv)
{
	int first = opts_parse(argc, argv, options, p);

	if (first < 0)
		return first;
	if (first + 1 != argc) {
		err_usage("give one HOST");
		return -EINVAL;
	}
	p->to.host = argv[first];
	return complete(p);
}

static int ping_run(int argc, char **argv)
{
	struct ping p = {
		.size = SIZE_UNSET,
		.interval_ms = 1000,
		.timeout_ms = 10000,
	};
	int status;

	if (parse(&p, argc, argv))
		return EXIT_USAGE;
	p.payload = malloc(p.size + 1);
	if (!p.payload)
		return err_report(ERR_MEMORY, -ENOMEM, "allocate the payload");
	status = run(&p);
	free(p.payload);
	return status;
}

const struct command cmd_ping = {
	.name = "ping",
	.summary = "Measure round trips to a server",
	.usage = usage,
	.options = options,
	.json = "print the result as JSON",
	.json_doc = "Print the result as JSON; times are in microseconds.",
	.notes = notes,
	.run = ping_run,
};
