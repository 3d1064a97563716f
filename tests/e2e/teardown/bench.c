// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The process, the peer or the device goes away while BENCH runs. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.h"

#define LENGTH		4096
#define AN_HOUR_MS	3600000

static struct link both;
static struct kverbs_cmd_bench bench;
static pthread_t thread;

/* Kinds of rings. */
static const struct kind {
	const char *name;
	uint32_t flags;
} kinds[] = {
	{ "a workqueue", 0 },
	{ "a softirq", KVERBS_RING_SOFTIRQ },
	{ "polling", KVERBS_RING_BUSY_POLL },
};

static void *run(void *arg)
{
	(void)arg;
	CHECK_OK(dev_cmd(both.client.ring.fd, KVERBS_BENCH, &bench));
	return NULL;
}

/* The same as link_open(), but with another kind of ring. */
static void set_up(const struct kind *kind)
{
	struct side *client = &both.client, *server = &both.server;

	both = (struct link){ .addr = addr_of("a", 0) };
	side_open(client);
	ring_unmap(&client->ring);
	ring_open_as(&client->ring, client->ring.fd, 16, 64, kind->flags, 0);
	side_open(server);
	both.listener = dev_listen(&server->ring, &both.addr);
	client->conn = dev_connect(&client->ring, &both.addr);
	server->conn = ring_event(&server->ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	CHECK_OK(dev_accept(&server->ring, server->conn, NULL));
	CHECK_OK(ring_event(&client->ring, KVERBS_CQE_ESTABLISHED, client->conn).result);
	CHECK_OK(ring_event(&server->ring, KVERBS_CQE_ESTABLISHED, server->conn).result);
	link_export(&both, KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE);
}

/* Returns when BENCH has started. */
static void begin(void)
{
	bench = (struct kverbs_cmd_bench){
		.size = sizeof(bench),
		.conn_id = both.client.conn,
		.region_id = both.client.region,
		.length = LENGTH,
		.opcode = KVERBS_OP_READ,
		.depth = 64,
		.post_list = 16,
		.segs_len = 1,
		.segs_uptr = (uintptr_t)&both.seg,
		.duration_ms = AN_HOUR_MS,
		.timeout_ms = test_patience_ms(),
	};
	CHECK_EQ(pthread_create(&thread, NULL, run, NULL), 0);
	while (!dev_query(both.client.ring.fd, both.client.conn).out_ops)
		;
}

static void expect_ended(void)
{
	CHECK_EQ(pthread_join(thread, NULL), 0);
	CHECK(bench.out_error);
	CHECK(bench.out_ops > 0);
	CHECK(ring_end_of(&both.client.ring, both.client.conn).result);
}

static void device_goes(const void *arg)
{
	set_up(arg);
	begin();
	CHECK(!test_shell("rdma link delete %s0", dev_provider()));
	expect_ended();
	CHECK_OK(device_restore());
}

static void peer_goes(const void *arg)
{
	set_up(arg);
	begin();
	side_close(&both.server);
	expect_ended();
}

static void be_busy(const void *arg)
{
	set_up(arg);
	begin();
	child_ready();
	pause();
}

static const struct kind *busy_kind;

static void be_killed(void)
{
	be_busy(busy_kind);
}

static void process_goes(const void *arg)
{
	busy_kind = arg;
	child_kill(child_start(be_killed));
}

/* A task stopped by a debugger must be evicted by a signal that it cannot see. */
static void device_goes_under_the_stopped(const void *arg)
{
	int status, pid;

	busy_kind = arg;
	pid = child_start(be_killed);
	CHECK_EQ(kill(pid, SIGSTOP), 0);
	CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
	CHECK(WIFSTOPPED(status));
	CHECK(!test_shell("rdma link delete %s0", dev_provider()));
	CHECK_OK(device_restore());
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
}

TEST_GROUP(benches)
{
	static const struct {
		const char *rule;
		test_fn run;
	} rules[] = {
		{ "the device is removed", device_goes },
		{ "the peer exits", peer_goes },
		{ "SIGKILL", process_goes },
		{ "the device is removed while the owner is stopped",
		  device_goes_under_the_stopped },
	};
	char name[128];
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(rules); i++)
		for (j = 0; j < ARRAY_SIZE(kinds); j++) {
			snprintf(name, sizeof(name), "%s during a BENCH, completions by %s",
				 rules[i].rule, kinds[j].name);
			test_add(name, rules[i].run, &kinds[j]);
		}
}
