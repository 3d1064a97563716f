// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs doctor HOST: the network path, and faulty peers. */
#define _GNU_SOURCE
#include "doctor_host.h"

#include <pthread.h>

#include "cli/err.h"

#define PEER "192.0.2.1"
#define ROUTE(_dev, _source) "[{\"dev\":\"" _dev "\",\"prefsrc\":\"" _source "\"}]"

enum manner {
	ECHOES,		/* behaves as kverbs serve does */
	IS_ANOTHER,	/* refuses, and has another version */
	REFUSES,	/* has our version, and refuses this address */
	IS_FULL,	/* has its limit of clients of this address */
	IS_NO_KVERBS,	/* accepts, and sends nothing */
	IS_MUTE,	/* accepts, and answers nothing */
	LOSES_LARGE,	/* answers only small messages */
};

/* The only peer. */
static struct peer {
	pthread_t thread;
	enum manner manner;
	struct kverbs *kv;
	struct kverbs_listener *listener;
	struct session s;
} peer;

static void answer(struct session *s, enum manner manner)
{
	struct wire_msg msg;

	bool lost = false;
	int ret;

	/* A client that waits for a missing answer times out at once. */
	do {
		if (lost)
			fake_advance(FAKE_PATIENCE_MS);
		ret = session_recv(s, &msg, lost ? 0 : FAKE_PATIENCE_MS);
		if (ret)
			continue;
		lost = manner != ECHOES && (manner != LOSES_LARGE || msg.tail_len >= 100);
		if (!lost)
			session_echo(s, &msg);
	} while (!ret || (lost && ret == -ETIMEDOUT));
}

static void refuse(struct kverbs_conn *conn, unsigned int version, unsigned int why)
{
	struct wire_hello hello = { .version = version, .what = why };
	char priv[WIRE_HELLO_LEN];

	wire_hello_encode(&hello, priv, sizeof(priv));
	kverbs_reject(conn, priv, sizeof(priv));
}

static void greet(struct kverbs_conn *conn)
{
	char priv[KVERBS_PRIV_CONNECT_MAX];
	struct wire_hello hello;
	int n = kverbs_conn_priv(conn, priv, sizeof(priv));

	if (n < 0 || wire_hello_decode(&hello, priv, n))
		return;
	session_init(&peer.s, peer.kv, conn, &hello);
	if (!session_accept(&peer.s, 0, FAKE_PATIENCE_MS))
		answer(&peer.s, peer.manner);
	session_free(&peer.s);
}

static void *peer_main(void *arg)
{
	struct kverbs_conn *conn;

	if (kverbs_next_request(peer.listener, FAKE_PATIENCE_MS, &conn))
		return arg;
	if (peer.manner == IS_ANOTHER)
		refuse(conn, WIRE_VERSION + 1, WIRE_REFUSED_VERSION);
	else if (peer.manner == IS_FULL)
		refuse(conn, WIRE_VERSION, WIRE_REFUSED_PEER);
	else if (peer.manner == REFUSES)
		refuse(conn, WIRE_VERSION, WIRE_REFUSED_ADDRESS);
	else if (peer.manner == IS_NO_KVERBS)
		kverbs_accept(conn, NULL);
	else
		greet(conn);
	return arg;
}

/* Examine the host with such a peer. */
static void with_peer(struct host *h, enum manner manner)
{
	fake.loopback = true;
	memset(&peer, 0, sizeof(peer));
	peer.manner = manner;
	assert_int_equal(kverbs_open(&peer.kv, NULL), 0);
	assert_int_equal(kverbs_listen(peer.kv, PEER, WIRE_DEFAULT_PORT, 0, &peer.listener), 0);
	assert_int_equal(pthread_create(&peer.thread, NULL, peer_main, NULL), 0);
	h->d.to.host = PEER;
}

static void leave_peer(void)
{
	pthread_join(peer.thread, NULL);
	kverbs_close(peer.kv);
}

/* ---- the network path ----------------------------------------------------- */

static void a_healthy_peer_passes_all_checks(void **state)
{
	struct host *h = *state;
	unsigned int i;

	with_peer(h, ECHOES);
	host_examine(h);
	leave_peer();
	assert_int_equal(h->status, EXIT_OK);
	for (i = 0; i < DOCTOR_CHECKS; i++)
		if (h->d.finding[i].verdict != (host_lacks(i) ? FINDING_SKIP : FINDING_OK))
			fail_msg("check %d: %s", i, h->d.finding[i].seen);
}

static void a_name_that_does_not_resolve_is_reported(void **state)
{
	struct host *h = *state;

	h->d.to.host = "not a name";
	host_blames(h, DOCTOR_NAME, FINDING_FAIL, "not a name does not resolve",
		    "getent hosts not a name");
	assert_int_equal(h->status, EXIT_UNREACHABLE);
	assert_string_equal(h->d.finding[DOCTOR_ROUTE].seen, "until name is fixed");
}

static void a_missing_route_is_reported(void **state)
{
	struct host *h = *state;

	h->d.to.host = PEER;
	host_remove(h, "route");
	host_blames(h, DOCTOR_ROUTE, FINDING_FAIL, "Network is unreachable", "ip route");
	assert_int_equal(h->status, EXIT_UNREACHABLE);
}

static void a_route_without_rdma_is_reported(void **state)
{
	struct host *h = *state;

	h->d.to.host = PEER;
	host_write(h, "route", ROUTE("eth1", "198.51.100.1"));
	host_blames(h, DOCTOR_SOURCE, FINDING_FAIL, "the route uses eth1, which has no RDMA",
		    "rdma link add rxe1 type rxe netdev eth1");
	assert_true(host_has(h->d.finding[DOCTOR_SOURCE].advice, "192.0.2.9 on eth0 of rxe0"));
	assert_int_equal(h->status, EXIT_UNREACHABLE);
}

static void this_hosts_loopback_address_has_no_rdma(void **state)
{
	struct host *h = *state;

	h->d.to.host = "127.0.0.1";
	host_write(h, "route", ROUTE("lo", "127.0.0.1"));
	host_blames(h, DOCTOR_SOURCE, FINDING_FAIL, "uses lo", NULL);
}

static void the_address_that_rdma_reaches_is_chosen(void **state)
{
	struct host *h = *state;

	with_peer(h, ECHOES);
	h->d.to.host = FAKE_HOST;
	host_examine(h);
	leave_peer();
	assert_string_equal(h->d.peer_text, PEER);
	assert_int_equal(h->status, EXIT_OK);
}

static void a_route_over_a_port_that_is_down_is_reported(void **state)
{
	struct host *h = *state;

	h->d.to.host = PEER;
	host_write(h, "sys/class/infiniband/rxe1/ports/1/link_layer", "Ethernet\n");
	host_write(h, "sys/class/infiniband/rxe1/ports/1/state", "4: ACTIVE\n");
	host_write(h, HOST_PORT "state", "1: DOWN\n");
	host_examine(h);
	assert_int_equal(h->d.finding[DOCTOR_PORT].verdict, FINDING_WARN);
	assert_int_equal(h->d.finding[DOCTOR_SOURCE].verdict, FINDING_FAIL);
	assert_int_equal(h->d.finding[DOCTOR_SERVER].verdict, FINDING_SKIP);
	assert_int_equal(h->status, EXIT_UNREACHABLE);
}

/* ---- the server ------------------------------------------------------------- */

static void a_missing_server_is_to_be_started_on_its_host(void **state)
{
	struct host *h = *state;

	h->d.to.host = PEER;
	fake_script_connect(-ECONNREFUSED);
	host_blames(h, DOCTOR_SERVER, FINDING_FAIL, "no server listens on port 7472",
		    "kverbs serve");
	assert_true(h->d.finding[DOCTOR_SERVER].there);
	assert_int_equal(h->status, EXIT_UNREACHABLE);
}

static void another_port_is_part_of_the_remedy(void **state)
{
	struct host *h = *state;

	h->d.to.host = PEER;
	h->d.to.port = "7777";
	fake_script_connect(-ECONNREFUSED);
	host_blames(h, DOCTOR_SERVER, FINDING_FAIL, "no server listens on port 7777",
		    "kverbs serve --port 7777");
}

static void a_timeout_is_not_reported_as_a_refusal(void **state)
{
	struct host *h = *state;

	h->d.to.host = PEER;
	fake_script_connect(FAKE_CONNECT_HANGS);
	host_blames(h, DOCTOR_SERVER, FINDING_FAIL,
		    "does not answer within " FAKE_PATIENCE_S " s",
		    "kverbs doctor");
	assert_true(host_has(h->d.finding[DOCTOR_SERVER].advice, "UDP port 4791"));
	assert_int_equal(h->status, EXIT_UNREACHABLE);
}

static void another_protocol_version_is_reported(void **state)
{
	struct host *h = *state;

	with_peer(h, IS_ANOTHER);
	host_blames(h, DOCTOR_PROTOCOL, FINDING_FAIL, "the server has protocol version 6", NULL);
	leave_peer();
	assert_int_equal(h->status, EXIT_FAILED);
	assert_int_equal(h->d.finding[DOCTOR_SERVER].verdict, FINDING_OK);
}

static void the_reason_of_a_refusal_is_reported(void **state)
{
	struct host *h = *state;

	with_peer(h, REFUSES);
	host_blames(h, DOCTOR_ACCESS, FINDING_FAIL, "does not allow this address",
		    "kverbs serve --allow 192.0.2.9");
	leave_peer();
	assert_int_equal(h->d.finding[DOCTOR_PROTOCOL].verdict, FINDING_OK);
	assert_int_equal(h->status, EXIT_DENIED);
}

static void a_full_server_has_its_limits_as_remedy(void **state)
{
	struct host *h = *state;

	with_peer(h, IS_FULL);
	host_blames(h, DOCTOR_ACCESS, FINDING_FAIL, "at its limit of clients",
		    NULL);
	leave_peer();
	assert_non_null(strstr(h->d.finding[DOCTOR_ACCESS].advice, "--peer-clients"));
}

static void a_server_of_another_program_is_reported(void **state)
{
	struct host *h = *state;

	with_peer(h, IS_NO_KVERBS);
	host_blames(h, DOCTOR_PROTOCOL, FINDING_FAIL, "not a kverbs server", NULL);
	leave_peer();
}

static void a_lost_message_is_reported(void **state)
{
	struct host *h = *state;

	with_peer(h, IS_MUTE);
	host_blames(h, DOCTOR_PING, FINDING_FAIL, "ETIMEDOUT", NULL);
	leave_peer();
	assert_int_equal(h->status, EXIT_FAILED);
}

static void lost_large_packets_are_reported(void **state)
{
	struct host *h = *state;

	with_peer(h, LOSES_LARGE);
	host_blames(h, DOCTOR_PATH_MTU, FINDING_FAIL, "56 bytes come back, 16384 do not",
		    "ping -M do -c 3 -s");
	leave_peer();
	assert_int_equal(h->status, EXIT_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		host_test(a_healthy_peer_passes_all_checks),
		host_test(a_name_that_does_not_resolve_is_reported),
		host_test(a_missing_route_is_reported),
		host_test(a_route_without_rdma_is_reported),
		host_test(this_hosts_loopback_address_has_no_rdma),
		host_test(the_address_that_rdma_reaches_is_chosen),
		host_test(a_route_over_a_port_that_is_down_is_reported),
		host_test(a_missing_server_is_to_be_started_on_its_host),
		host_test(another_port_is_part_of_the_remedy),
		host_test(a_timeout_is_not_reported_as_a_refusal),
		host_test(another_protocol_version_is_reported),
		host_test(the_reason_of_a_refusal_is_reported),
		host_test(a_full_server_has_its_limits_as_remedy),
		host_test(a_server_of_another_program_is_reported),
		host_test(a_lost_message_is_reported),
		host_test(lost_large_packets_are_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
