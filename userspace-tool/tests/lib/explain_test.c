// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Each kind of failure is explained by its facts: error, port, GIDs, partitions, counters. */
#define _GNU_SOURCE
#include "t.h"

#include <netinet/in.h>

#include "tests/tool/tmp.h"

#define WC_RETRY_EXC 12
#define WC_RNR_RETRY_EXC 13
#define WC_REM_ACCESS 10
#define WC_REM_INV_REQ 9

#define REJ_INVALID_SERVICE_ID 8
#define REJ_CONSUMER_DEFINED 28

#define PORT "sys/class/infiniband/rxe0/ports/1/"
#define ROCE_MODE "sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_mode"

/**
 * struct host - the host of one test
 * @tmp: directory with its files
 * @kv: an open context
 * @conn: a connection, or NULL
 * @before: counters from before the failure
 * @why: the explanation
 */
struct host {
	struct tmp *tmp;
	struct kverbs *kv;
	struct kverbs_conn *conn;
	struct kverbs_counters *before;
	struct kverbs_explanation why;
};

static void host_write(struct host *h, const char *path, const char *text)
{
	char part[PATH_MAX], *slash;

	snprintf(part, sizeof(part), "%s", path);
	for (slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdirat(h->tmp->fd, part, 0755);
		*slash = '/';
	}
	tmp_write(h->tmp, path, text);
}

static void host_count(struct host *h, const char *name, unsigned int value)
{
	char path[128], text[16];

	snprintf(path, sizeof(path), PORT "hw_counters/%s", name);
	snprintf(text, sizeof(text), "%u\n", value);
	host_write(h, path, text);
}

/* The device rxe0 has one port, ACTIVE, and has sent and received 100 packets. */
static int host_setup(void **state)
{
	struct host *h = test_calloc(1, sizeof(*h));
	void *tmp;

	tmp_setup(&tmp);
	h->tmp = tmp;
	fake_reset();
	fake.root = h->tmp->path;
	fake.port = (struct kverbs_port){ .transport = KVERBS_TRANSPORT_ROCE, .state = 4 };
	fake.port_mtu = 4096;
	fake.gid = (struct kverbs_gid){ .port = 1, .type = KVERBS_GID_ROCE_V2 };
	fake.query.out_port = 1;
	fake.query.out_mtu = 4096;
	fake_add_device(0, "rxe0", 1, 1);
	host_count(h, "sent_pkts", 100);
	host_count(h, "rcvd_pkts", 100);
	host_count(h, "lifespan", 10);
	if (kverbs_open(&h->kv, NULL))
		return -1;
	assert_int_equal(kverbs_counters_read(&h->before), 0);
	*state = h;
	return 0;
}

static int host_teardown(void **state)
{
	struct host *h = *state;
	void *tmp = h->tmp;

	kverbs_counters_free(h->before);
	kverbs_close(h->kv);
	tmp_teardown(&tmp);
	test_free(h);
	return fake_leftovers() ? -1 : 0;
}

#define host_test(name) cmocka_unit_test_setup_teardown(name, host_setup, host_teardown)

static void explain(struct host *h, int error, unsigned int wc_status)
{
	const struct kverbs_failure failure = {
		.sz = sizeof(failure),
		.conn = h->conn,
		.error = error,
		.wc_status = wc_status,
		.before = h->before,
	};

	assert_int_equal(kverbs_conn_explain(h->kv, &failure, &h->why, sizeof(h->why)), 0);
}

/* The first causes are these; the other ones are not looked at. */
static void blames(const struct host *h, unsigned int nr, const unsigned int *wanted)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (i >= h->why.nr_causes || h->why.causes[i] != wanted[i])
			fail_msg("cause %u is %s, not %s", i,
				 i < h->why.nr_causes ? kverbs_cause_name(h->why.causes[i]) :
				 "missing", kverbs_cause_name(wanted[i]));
}

#define BLAMES(h, ...) \
	blames(h, sizeof((unsigned int[]){ __VA_ARGS__ }) / sizeof(unsigned int), \
	       (unsigned int[]){ __VA_ARGS__ })

/* A connection that is up, and has moved messages of this many bytes */
static void connected(struct host *h, unsigned int ops, unsigned int bytes)
{
	h->conn = t_connect(h->kv);
	fake.query.out_ops = ops;
	fake.query.out_bytes_out = (uint64_t)ops * bytes;
}

static void attempted(struct host *h, int outcome)
{
	struct sockaddr_in peer = { .sin_family = AF_INET };

	fake_script_connect(outcome);
	assert_int_equal(kverbs_connect_start(h->kv, (void *)&peer, NULL, &h->conn), 0);
	assert_int_equal(kverbs_conn_wait(h->conn, 1000), outcome);
}

/* ---- connection attempts --------------------------------------------------- */

static void a_port_without_a_listener_is_named_first(void **state)
{
	struct host *h = *state;

	fake.reject_reason = REJ_INVALID_SERVICE_ID;
	attempted(h, -ECONNREFUSED);
	explain(h, 0, 0);
	assert_int_equal(h->why.error, -ECONNREFUSED);
	assert_false(h->why.was_up);
	BLAMES(h, KVERBS_CAUSE_NO_LISTENER);
}

static void a_refusal_by_the_program_is_told_from_a_missing_one(void **state)
{
	struct host *h = *state;

	fake.reject_reason = REJ_CONSUMER_DEFINED;
	attempted(h, -ECONNREFUSED);
	explain(h, 0, 0);
	BLAMES(h, KVERBS_CAUSE_REFUSED);
}

static void packets_that_nobody_answers_suggest_a_firewall(void **state)
{
	struct host *h = *state;

	host_count(h, "sent_pkts", 108);
	attempted(h, -ETIMEDOUT);
	explain(h, 0, 0);
	BLAMES(h, KVERBS_CAUSE_FIREWALL, KVERBS_CAUSE_PEER_DOWN, KVERBS_CAUSE_GID_TYPE);
	assert_int_equal(h->why.nr_counters, 1);
	assert_string_equal(h->why.counters[0].name, "sent_pkts");
	assert_int_equal(h->why.counters[0].kind, KVERBS_COUNTER_SENT);
	assert_int_equal(h->why.counters[0].change, 8);
}

static void answers_to_no_request_suggest_a_program_that_does_not_accept(void **state)
{
	struct host *h = *state;

	host_count(h, "rcvd_pkts", 104);
	attempted(h, -ETIMEDOUT);
	explain(h, 0, 0);
	BLAMES(h, KVERBS_CAUSE_FIREWALL, KVERBS_CAUSE_PEER_DOWN, KVERBS_CAUSE_SLOW);
}

static void roce_v1_by_default_is_named_if_there_is_no_answer(void **state)
{
	struct host *h = *state;

	host_write(h, ROCE_MODE, "IB/RoCE v1\n");
	attempted(h, -ETIMEDOUT);
	explain(h, 0, 0);
	assert_int_equal(h->why.gid_type, KVERBS_GID_ROCE_V1);
	assert_int_equal(h->why.peer_gid_type, KVERBS_GID_UNKNOWN);
	BLAMES(h, KVERBS_CAUSE_GID_TYPE);
}

/* The connection's address has one GID, of this type. */
static void attempted_from(struct host *h, unsigned int type)
{
	fake.query.out_local = (struct kverbs_addr){
		.family = AF_INET, .addr = { 192, 0, 2, 9 },
	};
	memcpy(fake.gid.gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff\xc0\0\x02\x09", 16);
	fake.gid.type = type;
	attempted(h, -ETIMEDOUT);
	explain(h, 0, 0);
	assert_int_equal(h->why.gid_type, type);
}

static void an_address_that_has_only_a_gid_for_v1_uses_it(void **state)
{
	attempted_from(*state, KVERBS_GID_ROCE_V1);
	BLAMES((struct host *)*state, KVERBS_CAUSE_GID_TYPE);
}

static void an_address_that_has_a_gid_for_v2_uses_it(void **state)
{
	attempted_from(*state, KVERBS_GID_ROCE_V2);
	BLAMES((struct host *)*state, KVERBS_CAUSE_FIREWALL);
}

static void a_port_that_is_down_comes_first(void **state)
{
	struct host *h = *state;

	fake.port.state = 1;
	attempted(h, -ETIMEDOUT);
	explain(h, 0, 0);
	assert_int_equal(h->why.port_state, 1);
	BLAMES(h, KVERBS_CAUSE_LINK);
}

static void without_a_connection_the_only_device_is_looked_at(void **state)
{
	struct host *h = *state;

	fake.port.state = 1;
	explain(h, -ENODEV, 0);
	assert_string_equal(h->why.device, "rxe0");
	assert_int_equal(h->why.port, 1);
	assert_int_equal(h->why.mtu, 4096);
	BLAMES(h, KVERBS_CAUSE_LINK, KVERBS_CAUSE_NO_DEVICE);
}

static void without_a_connection_none_of_two_devices_is_looked_at(void **state)
{
	struct host *h = *state;

	fake_add_device(1, "rxe1", 1, 1);
	explain(h, -ENODEV, 0);
	assert_string_equal(h->why.device, "");
	assert_int_equal(h->why.port, 0);
	BLAMES(h, KVERBS_CAUSE_NO_DEVICE, KVERBS_CAUSE_ROUTE);
}

static void no_route_is_named_as_such(void **state)
{
	struct host *h = *state;

	attempted(h, -EHOSTUNREACH);
	explain(h, 0, 0);
	BLAMES(h, KVERBS_CAUSE_ROUTE, KVERBS_CAUSE_PEER_DOWN);
}

static void a_protocol_error_is_one_of_versions(void **state)
{
	struct host *h = *state;

	connected(h, 0, 0);
	explain(h, -EPROTO, 0);
	BLAMES(h, KVERBS_CAUSE_VERSION);
	assert_int_equal(h->why.nr_causes, 1);
}

/* ---- partitions ------------------------------------------------------------- */

static void partition(struct host *h, const char *of_interface, const char *of_port)
{
	fake.port.transport = KVERBS_TRANSPORT_IB;
	host_write(h, "sys/class/net/lo/mtu", "65536\n");
	host_write(h, "sys/class/net/ib0/pkey", of_interface);
	host_write(h, PORT "pkeys/0", "0x7fff\n");
	host_write(h, PORT "pkeys/1", of_port);
	explain(h, -ETIMEDOUT, 0);
	assert_int_equal(h->why.gid_type, KVERBS_GID_IB);
}

static void a_partition_that_the_port_is_not_in_is_named(void **state)
{
	struct host *h = *state;

	partition(h, "0x8005\n", "0x8001\n");
	BLAMES(h, KVERBS_CAUSE_PKEY);
}

static void two_limited_members_of_a_partition_may_not_talk(void **state)
{
	struct host *h = *state;

	partition(h, "0x8001\n", "0x0001\n");
	BLAMES(h, KVERBS_CAUSE_PKEY);
}

static void full_members_of_a_partition_may(void **state)
{
	struct host *h = *state;

	partition(h, "0x8001\n", "0x8001\n");
	BLAMES(h, KVERBS_CAUSE_PEER_DOWN, KVERBS_CAUSE_PKEY);
}

/* ---- operations --------------------------------------------------------------- */

static void before_a_large_packet_has_passed_the_mtu_is_suspected(void **state)
{
	struct host *h = *state;

	connected(h, 3, 80);
	explain(h, -ETIMEDOUT, WC_RETRY_EXC);
	assert_true(h->why.was_up);
	assert_int_equal(h->why.mtu, 4096);
	assert_int_equal(h->why.peer_gid_type, h->why.gid_type);
	BLAMES(h, KVERBS_CAUSE_MTU, KVERBS_CAUSE_PEER_DOWN, KVERBS_CAUSE_LOSS);
}

static void after_large_packets_have_passed_the_mtu_is_not_suspected(void **state)
{
	struct host *h = *state;
	unsigned int i;

	connected(h, 3, 65536);
	explain(h, -ETIMEDOUT, WC_RETRY_EXC);
	BLAMES(h, KVERBS_CAUSE_PEER_DOWN, KVERBS_CAUSE_LOSS);
	for (i = 0; i < h->why.nr_causes; i++)
		assert_int_not_equal(h->why.causes[i], KVERBS_CAUSE_MTU);
}

static void a_small_mtu_is_the_last_suspect(void **state)
{
	struct host *h = *state;

	fake.query.out_mtu = 1024;
	connected(h, 3, 80);
	explain(h, -ETIMEDOUT, WC_RETRY_EXC);
	BLAMES(h, KVERBS_CAUSE_PEER_DOWN, KVERBS_CAUSE_MTU, KVERBS_CAUSE_LOSS);
}

static void packets_out_of_sequence_tell_of_loss(void **state)
{
	struct host *h = *state;

	connected(h, 3, 65536);
	host_count(h, "rcvd_seq_err", 0);
	kverbs_counters_free(h->before);
	assert_int_equal(kverbs_counters_read(&h->before), 0);
	host_count(h, "rcvd_seq_err", 3);
	host_count(h, "sent_pkts", 1000);
	explain(h, -ETIMEDOUT, WC_RETRY_EXC);
	BLAMES(h, KVERBS_CAUSE_LOSS, KVERBS_CAUSE_PEER_DOWN);
	assert_int_equal(h->why.nr_counters, 2);
	assert_string_equal(h->why.counters[0].name, "rcvd_seq_err");
	assert_int_equal(h->why.total[KVERBS_COUNTER_OUT_OF_SEQUENCE], 3);
	assert_int_equal(h->why.total[KVERBS_COUNTER_SENT], 900);
}

static void a_peer_without_receives_is_named(void **state)
{
	struct host *h = *state;

	connected(h, 3, 80);
	explain(h, -EIO, WC_RNR_RETRY_EXC);
	BLAMES(h, KVERBS_CAUSE_NO_RECEIVE);
}

/* The connection's own error does not tell the two kinds of retries apart. */
static void the_status_of_the_first_failed_operation_is_remembered(void **state)
{
	struct kverbs_req send = {}, recv = {};
	struct host *h = *state;
	struct kverbs_buf *buf;

	connected(h, 0, 0);
	assert_int_equal(kverbs_buf_alloc(h->kv, 4096, &buf), 0);
	assert_int_equal(kverbs_send(h->conn, buf, 0, 8, &send), 0);
	assert_int_equal(kverbs_recv(h->conn, buf, 8, 8, &recv), 0);
	fake_complete(0, WC_RNR_RETRY_EXC);
	fake_complete(0, FAKE_WC_FLUSH);
	fake_event(fake.last_conn, KVERBS_CQE_DISCONNECTED, -ETIMEDOUT);
	assert_int_equal(kverbs_wait(&recv, 1000), -EIO);
	explain(h, kverbs_conn_error(h->conn), 0);
	assert_int_equal(h->why.wc_status, WC_RNR_RETRY_EXC);
	BLAMES(h, KVERBS_CAUSE_NO_RECEIVE);
}

static void rnr_naks_tell_of_missing_receives_without_a_status(void **state)
{
	struct host *h = *state;

	host_count(h, "rcvd_rnr_err", 1);
	kverbs_counters_free(h->before);
	assert_int_equal(kverbs_counters_read(&h->before), 0);
	host_count(h, "rcvd_rnr_err", 8);
	connected(h, 3, 80);
	explain(h, -ETIMEDOUT, 0);
	BLAMES(h, KVERBS_CAUSE_NO_RECEIVE);
}

static void missing_receives_of_this_host_are_not_the_peers(void **state)
{
	struct host *h = *state;

	host_count(h, "send_rnr_err", 1);
	kverbs_counters_free(h->before);
	assert_int_equal(kverbs_counters_read(&h->before), 0);
	host_count(h, "send_rnr_err", 8);
	connected(h, 3, 80);
	explain(h, -ECONNRESET, 0);
	assert_int_equal(h->why.total[KVERBS_COUNTER_NO_RECEIVE], 7);
	BLAMES(h, KVERBS_CAUSE_CLOSED, KVERBS_CAUSE_PEER_DOWN);
	assert_int_equal(h->why.nr_causes, 2);
}

static void a_slow_connection_is_explained_by_what_was_counted(void **state)
{
	struct host *h = *state;

	host_count(h, "np_cnp_sent", 5);
	kverbs_counters_free(h->before);
	assert_int_equal(kverbs_counters_read(&h->before), 0);
	host_count(h, "np_cnp_sent", 15);
	connected(h, 3, 80);
	explain(h, 0, 0);
	BLAMES(h, KVERBS_CAUSE_CONGESTION);
	assert_int_equal(h->why.nr_causes, 1);
}

static void refused_memory_and_long_messages_are_named(void **state)
{
	struct host *h = *state;

	connected(h, 3, 80);
	explain(h, -EIO, WC_REM_ACCESS);
	BLAMES(h, KVERBS_CAUSE_ACCESS);
	explain(h, -EIO, WC_REM_INV_REQ);
	BLAMES(h, KVERBS_CAUSE_LENGTH, KVERBS_CAUSE_ACCESS);
}

static void the_limit_of_locked_memory_is_named_if_there_is_one(void **state)
{
	struct host *h = *state;

	fake.memlock = 65536;
	explain(h, -ENOMEM, 0);
	BLAMES(h, KVERBS_CAUSE_MEMLOCK, KVERBS_CAUSE_RESOURCES);
	fake.memlock = 0;
	explain(h, -ENOMEM, 0);
	BLAMES(h, KVERBS_CAUSE_RESOURCES);
	assert_int_equal(h->why.nr_causes, 1);
}

/* ---- counters --------------------------------------------------------------------- */

static void without_earlier_counters_nothing_is_counted(void **state)
{
	struct host *h = *state;

	kverbs_counters_free(h->before);
	h->before = NULL;
	host_count(h, "sent_pkts", 200);
	connected(h, 3, 80);
	explain(h, -ETIMEDOUT, 0);
	assert_int_equal(h->why.nr_counters, 0);
	assert_int_equal(h->why.counted, 0);
}

static void a_device_that_was_created_anew_counts_from_zero(void **state)
{
	struct host *h = *state;

	host_count(h, "sent_pkts", 7);
	explain(h, -ETIMEDOUT, 0);
	assert_int_equal(h->why.total[KVERBS_COUNTER_SENT], 7);
}

static void files_that_are_no_counters_are_left_out(void **state)
{
	struct host *h = *state;

	host_write(h, PORT "hw_counters/odd", "N/A\n");
	host_count(h, "lifespan", 999);
	explain(h, -ETIMEDOUT, 0);
	assert_int_equal(h->why.nr_counters, 0);
}

static void no_more_counters_are_told_than_there_is_room_for(void **state)
{
	struct host *h = *state;
	unsigned int i;
	char name[16];

	kverbs_counters_free(h->before);
	for (i = 0; i < 2 * KVERBS_EXPLAIN_COUNTERS; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		host_count(h, name, 0);
	}
	assert_int_equal(kverbs_counters_read(&h->before), 0);
	for (i = 0; i < 2 * KVERBS_EXPLAIN_COUNTERS; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		host_count(h, name, 1);
	}
	explain(h, -ETIMEDOUT, 0);
	assert_int_equal(h->why.nr_counters, KVERBS_EXPLAIN_COUNTERS);
	assert_int_equal(h->why.total[KVERBS_COUNTER_OTHER], 2 * KVERBS_EXPLAIN_COUNTERS);
}

/* ---- the call --------------------------------------------------------------------- */

static void note_failure(struct kverbs_conn *conn, int error, void *arg)
{
	struct host *h = arg;

	h->conn = conn;
	explain(h, error, 0);
	h->conn = NULL;
}

static void an_attempt_is_explained_before_its_connection_is_freed(void **state)
{
	struct host *h = *state;
	struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.failed = note_failure,
		.arg = h,
	};
	struct kverbs_conn *conn;

	fake.reject_reason = REJ_INVALID_SERVICE_ID;
	fake_script_connect(-ECONNREFUSED);
	assert_int_equal(kverbs_connect(h->kv, "192.0.2.1", "1", &opts, &conn), -ECONNREFUSED);
	assert_int_equal(h->why.error, -ECONNREFUSED);
	BLAMES(h, KVERBS_CAUSE_NO_LISTENER);
}

static void a_connection_of_another_context_is_refused(void **state)
{
	struct host *h = *state;
	struct kverbs_failure failure = { .sz = sizeof(failure) };
	struct kverbs_explanation why;
	struct kverbs *other;

	connected(h, 0, 0);
	failure.conn = h->conn;
	assert_int_equal(kverbs_open(&other, NULL), 0);
	assert_int_equal(kverbs_conn_explain(other, &failure, &why, sizeof(why)), -EINVAL);
	kverbs_close(other);
}

static void a_program_of_an_older_library_gets_what_it_knows(void **state)
{
	struct host *h = *state;
	const struct kverbs_failure failure = { .sz = sizeof(failure), .error = -EPROTO };
	struct kverbs_explanation why;

	memset(&why, 0xee, sizeof(why));
	assert_int_equal(kverbs_conn_explain(h->kv, &failure, &why, sizeof(why.error)), 0);
	assert_int_equal(why.error, -EPROTO);
	assert_int_equal(why.wc_status, 0xeeeeeeee);
}

static void each_cause_has_a_name_a_text_and_a_remedy(void **state)
{
	unsigned int cause;

	(void)state;
	for (cause = 0; cause <= KVERBS_CAUSE_CLOSED; cause++) {
		assert_non_null(kverbs_cause_name(cause));
		assert_non_null(kverbs_cause_str(cause));
		assert_non_null(kverbs_cause_remedy(cause));
	}
	assert_string_equal(kverbs_cause_name(KVERBS_CAUSE_MTU), "mtu");
	assert_string_equal(kverbs_cause_name(9999), "none");
	assert_string_equal(kverbs_gid_type_str(KVERBS_GID_ROCE_V2), "RoCE v2");
	assert_string_equal(kverbs_gid_type_str(KVERBS_GID_UNKNOWN), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		host_test(a_port_without_a_listener_is_named_first),
		host_test(a_refusal_by_the_program_is_told_from_a_missing_one),
		host_test(packets_that_nobody_answers_suggest_a_firewall),
		host_test(answers_to_no_request_suggest_a_program_that_does_not_accept),
		host_test(roce_v1_by_default_is_named_if_there_is_no_answer),
		host_test(an_address_that_has_only_a_gid_for_v1_uses_it),
		host_test(an_address_that_has_a_gid_for_v2_uses_it),
		host_test(a_port_that_is_down_comes_first),
		host_test(without_a_connection_the_only_device_is_looked_at),
		host_test(without_a_connection_none_of_two_devices_is_looked_at),
		host_test(no_route_is_named_as_such),
		host_test(a_protocol_error_is_one_of_versions),
		host_test(a_partition_that_the_port_is_not_in_is_named),
		host_test(two_limited_members_of_a_partition_may_not_talk),
		host_test(full_members_of_a_partition_may),
		host_test(before_a_large_packet_has_passed_the_mtu_is_suspected),
		host_test(after_large_packets_have_passed_the_mtu_is_not_suspected),
		host_test(a_small_mtu_is_the_last_suspect),
		host_test(packets_out_of_sequence_tell_of_loss),
		host_test(a_peer_without_receives_is_named),
		host_test(the_status_of_the_first_failed_operation_is_remembered),
		host_test(rnr_naks_tell_of_missing_receives_without_a_status),
		host_test(missing_receives_of_this_host_are_not_the_peers),
		host_test(a_slow_connection_is_explained_by_what_was_counted),
		host_test(refused_memory_and_long_messages_are_named),
		host_test(the_limit_of_locked_memory_is_named_if_there_is_one),
		host_test(without_earlier_counters_nothing_is_counted),
		host_test(a_device_that_was_created_anew_counts_from_zero),
		host_test(files_that_are_no_counters_are_left_out),
		host_test(no_more_counters_are_told_than_there_is_room_for),
		host_test(an_attempt_is_explained_before_its_connection_is_freed),
		host_test(a_connection_of_another_context_is_refused),
		host_test(a_program_of_an_older_library_gets_what_it_knows),
		cmocka_unit_test(each_cause_has_a_name_a_text_and_a_remedy),
	};

	return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
