// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* On host b: what the library says of operations that fail, with explain_server on host a. */
#include <string.h>

#include <kverbs.h>

#include "harness.h"

#define MESSAGE 65536
#define WC_REM_ACCESS_ERR 10
#define WC_RNR_RETRY_EXC_ERR 13

/**
 * struct side - this side of a connection
 * @kv: the context
 * @conn: the connection
 * @buf: memory to send from
 * @before: counters from before the connection
 */
struct side {
	struct kverbs *kv;
	struct kverbs_conn *conn;
	struct kverbs_buf *buf;
	struct kverbs_counters *before;
};

static void set_up(struct side *s, const char *port)
{
	const struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.timeout_ms = test_patience_ms(),
	};

	CHECK_OK(kverbs_open(&s->kv, NULL));
	CHECK_OK(kverbs_buf_alloc(s->kv, MESSAGE, &s->buf));
	CHECK_OK(kverbs_counters_read(&s->before));
	CHECK_OK(kverbs_connect(s->kv, "a", port, &opts, &s->conn));
}

static void explain(const struct side *s, int error, struct kverbs_explanation *why)
{
	const struct kverbs_failure failure = {
		.sz = sizeof(failure),
		.conn = s->conn,
		.error = error,
		.before = s->before,
	};

	CHECK_OK(kverbs_conn_explain(s->kv, &failure, why, sizeof(*why)));
}

static void blames(const struct kverbs_explanation *why, enum kverbs_cause cause)
{
	if (!why->nr_causes || why->causes[0] != cause)
		FAIL("the first cause is %s, not %s", why->nr_causes ?
		     kverbs_cause_name(why->causes[0]) : "missing", kverbs_cause_name(cause));
}

/* The kernel keeps counters for a while before it asks the device again. */
static void explain_until_counted(const struct side *s, int error,
				  enum kverbs_counter_kind kind, struct kverbs_explanation *why)
{
	long long until = test_now_ms() + test_patience_ms();

	do {
		explain(s, error, why);
		CHECK(test_now_ms() < until);
	} while (!why->total[kind]);
}

TEST(a_peer_without_receives_is_blamed_and_its_NAKs_are_counted)
{
	struct kverbs_explanation why;
	struct kverbs_req req = { 0 };
	struct side s;
	int error;

	set_up(&s, "7001");
	CHECK_OK(kverbs_send(s.conn, s.buf, 0, 64, &req));
	error = kverbs_wait(&req, test_patience_ms());
	CHECK(error < 0);
	CHECK_EQ(req.wc_status, WC_RNR_RETRY_EXC_ERR);
	explain_until_counted(&s, error, KVERBS_COUNTER_RNR_NAK, &why);
	CHECK_EQ(why.wc_status, WC_RNR_RETRY_EXC_ERR);
	CHECK(why.was_up);
	CHECK_EQ(why.gid_type, KVERBS_GID_ROCE_V2);
	CHECK_EQ(why.peer_gid_type, KVERBS_GID_ROCE_V2);
	CHECK(why.mtu >= 256);
	blames(&why, KVERBS_CAUSE_NO_RECEIVE);
	/* The connection ended with an error that lost acknowledgments would have, too. */
	explain(&s, kverbs_conn_error(s.conn), &why);
	blames(&why, KVERBS_CAUSE_NO_RECEIVE);
}

TEST(memory_that_is_not_exported_is_blamed)
{
	struct kverbs_segment segment = { .addr = 4096, .length = 4096, .rkey = 0x12345600 };
	const struct kverbs_token token = {
		.length = 4096,
		.access = KVERBS_REMOTE_WRITE,
		.nr_segs = 1,
		.segs = &segment,
	};
	struct kverbs_explanation why;
	struct kverbs_req req = { 0 };
	struct side s;
	int error;

	set_up(&s, "7000");
	CHECK_OK(kverbs_write(s.conn, s.buf, 0, 64, &token, 0, &req));
	error = kverbs_wait(&req, test_patience_ms());
	CHECK_EQ(req.wc_status, WC_REM_ACCESS_ERR);
	explain(&s, error, &why);
	blames(&why, KVERBS_CAUSE_ACCESS);
}

static void restore_network(const void *arg)
{
	(void)arg;
	test_shell("tc qdisc del dev eth0 root 2>/dev/null; true");
}

/* One lost packet in the middle of a message lets the peer report a gap. */
static void send_until_lost(const struct side *s, struct kverbs_explanation *why)
{
	long long until = test_now_ms() + test_patience_ms();
	struct kverbs_req req = { 0 };

	do {
		CHECK(test_now_ms() < until);
		CHECK_OK(kverbs_send(s->conn, s->buf, 0, MESSAGE, &req));
		if (kverbs_wait(&req, test_patience_ms()))
			break;
		explain(s, 0, why);
	} while (!why->total[KVERBS_COUNTER_OUT_OF_SEQUENCE]);
	explain_until_counted(s, kverbs_conn_error(s->conn), KVERBS_COUNTER_OUT_OF_SEQUENCE, why);
}

TEST(lost_packets_are_blamed_whether_the_connection_survives_or_not)
{
	struct kverbs_explanation why;
	struct side s;

	set_up(&s, "7000");
	explain(&s, 0, &why);
	CHECK_EQ(why.nr_causes, 0);
	test_shell("modprobe -q sch_netem");
	CHECK_EQ(test_shell("tc qdisc replace dev eth0 root netem loss 20%%"), 0);
	send_until_lost(&s, &why);
	blames(&why, KVERBS_CAUSE_LOSS);
	explain(&s, -ETIMEDOUT, &why);
	blames(&why, KVERBS_CAUSE_LOSS);
}

TEST_GROUP(after)
{
	test_after_each(restore_network);
}
