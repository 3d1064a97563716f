// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Every call that can fail fails once, and leaves nothing behind. */
#include <stdlib.h>

#include "t.h"

/*
 * Each scenario runs repeatedly: its first, second, third, ... system call or allocation fails,
 * until the scenario succeeds. Until then it must return that error, and closing must leave
 * nothing.
 */
typedef int (*scenario_fn)(struct kverbs *kv);

static int with_context(scenario_fn run)
{
	struct kverbs *kv;
	int ret;

	ret = kverbs_open(&kv, NULL);
	if (ret)
		return ret;
	ret = run(kv);
	/* Cleanup must need neither memory nor a call that can fail. */
	kverbs_close(kv);
	return ret;
}

static unsigned int sweep(scenario_fn run)
{
	unsigned int nth;
	int ret;

	for (nth = 1;; nth++) {
		fake_reset();
		fake.loopback = true;
		fake.max_segment = 1000;
		fake_add_device(0, "rxe0", 1, 1);
		fake_fail_nth(nth);
		ret = with_context(run);
		assert_int_equal(fake_leftovers(), 0);
		if (!fake_fail_nth_hit())
			break;
		assert_true(ret < 0);
	}
	assert_int_equal(ret, 0);
	return nth - 1;
}

static int devices(struct kverbs *kv)
{
	struct kverbs_device *list;
	int ret = kverbs_device_list(kv, &list);

	if (ret < 0)
		return ret;
	kverbs_device_list_free(list, ret);
	return 0;
}

static void listing_devices(void **state)
{
	(void)state;
	/*
	 * The calls are: node, ring, three mappings, two allocations for the table and context, ...
	 */
	assert_in_range(sweep(devices), 10, 100);
}

static int memory(struct kverbs *kv)
{
	struct kverbs_buf *small, *large;
	int ret;

	ret = kverbs_buf_alloc(kv, 100, &small);
	if (!ret)
		ret = kverbs_buf_alloc(kv, 4 << 20, &large);
	return ret;
}

static int tracked_memory(struct kverbs *kv)
{
	struct kverbs_buf *buf;
	static char mine[8];

	return kverbs_buf_register(kv, mine, 8, KVERBS_REGION_TRACK, &buf);
}

static void tracking_memory(void **state)
{
	(void)state;
	assert_in_range(sweep(tracked_memory), 10, 100);
}

static void allocating_memory(void **state)
{
	(void)state;
	assert_in_range(sweep(memory), 12, 100);
}

static int reach_peer(struct kverbs *kv, struct kverbs_listener *l,
		      struct kverbs_conn **client, struct kverbs_conn **server)
{
	struct sockaddr_storage to = { .ss_family = AF_INET };
	int ret;

	((uint8_t *)&to)[3] = 7;
	ret = kverbs_connect_start(kv, (void *)&to, NULL, client);
	if (!ret)
		ret = kverbs_next_request(l, 0, server);
	if (!ret)
		ret = kverbs_accept(*server, NULL);
	if (!ret)
		ret = kverbs_conn_wait(*client, 0);
	return ret;
}

static int write_to(struct kverbs_conn *client, struct kverbs_conn *server,
		    struct kverbs_buf *buf)
{
	struct kverbs_req req = { 0 };
	struct kverbs_token token;
	int ret;

	ret = kverbs_export(server, buf, 0, 10000, KVERBS_REMOTE_WRITE, &token);
	if (ret)
		return ret;
	ret = kverbs_write(client, buf, 10000, 10000, &token, 0, &req);
	if (!ret)
		ret = kverbs_wait(&req, -1);
	kverbs_unexport(server, &token);
	return ret;
}

static int send_copied(struct kverbs_conn *client, struct kverbs_conn *server,
		       struct kverbs_buf *buf)
{
	struct kverbs_req recv = { 0 }, send = { 0 };
	int ret;

	ret = kverbs_recv(server, buf, 0, 8, &recv);
	if (ret)
		return ret;
	ret = kverbs_send_copy(client, "hello", 6, &send);
	if (!ret)
		ret = kverbs_wait(&send, -1);
	/* Otherwise the receive would outlive this function. */
	kverbs_conn_free(server);
	return ret;
}

static int transfer(struct kverbs *kv)
{
	struct kverbs_conn *client, *server;
	struct kverbs_listener *l;
	struct kverbs_buf *buf;
	int ret;

	ret = kverbs_listen(kv, "192.0.2.1", "7", 0, &l);
	if (!ret)
		ret = kverbs_buf_alloc(kv, 20000, &buf);
	if (!ret)
		ret = reach_peer(kv, l, &client, &server);
	if (!ret)
		ret = write_to(client, server, buf);
	if (!ret)
		ret = send_copied(client, server, buf);
	return ret;
}

static void connecting_and_writing(void **state)
{
	(void)state;
	assert_in_range(sweep(transfer), 18, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(listing_devices),
		cmocka_unit_test(allocating_memory),
		cmocka_unit_test(tracking_memory),
		cmocka_unit_test(connecting_and_writing),
	};

	return cmocka_run_group_tests_name("fail", tests, NULL, NULL);
}
