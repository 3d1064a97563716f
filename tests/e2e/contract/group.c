// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Groups: which objects may name them, and how long they stay. */
#include "cmds.h"

#define READ_WRITE	(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE)

static char memory[4 * 4096] __aligned(4096);
static struct pair pair;
static uint32_t region;
static union any_cmd cmd;

static int run(unsigned long number)
{
	cmd.size = command_by_number(number)->size;
	return dev_cmd(pair.fd, number, &cmd);
}

/* The passive connection is in a group. */
static void open_group(void)
{
	pair = (struct pair){ .fd = dev_open(), .addr = addr_of("a", 0) };
	ring_open(&pair.ring, pair.fd, 256, 1024);
	pair.listener = dev_listen(&pair.ring, &pair.addr);
	pair.group = dev_group(pair.fd);
	region = dev_region(pair.fd, memory, sizeof(memory), 0);
}

static void open_pair_in_group(void)
{
	open_group();
	pair_join(&pair, &pair.client, &pair.server);
}

static int export_to(uint32_t id, uint64_t offset, uint64_t length, uint32_t access)
{
	static struct kverbs_segment segs[4];

	cmd.export = (struct kverbs_cmd_export){
		.conn_id = id,
		.region_id = region,
		.access = access,
		.inout_segs_len = ARRAY_SIZE(segs),
		.offset = offset,
		.length = length,
		.segs_uptr = (uintptr_t)segs,
	};
	return run(KVERBS_EXPORT);
}

static uint32_t export_all(void)
{
	CHECK_OK(export_to(pair.group, 0, sizeof(memory), READ_WRITE));
	return cmd.export.out_id;
}

static uint32_t export_a_byte_to_the_server(void)
{
	CHECK_OK(export_to(pair.server, 0, 1, READ_WRITE));
	return cmd.export.out_id;
}

static int connect_in(uint32_t group)
{
	command_fill(command_by_number(KVERBS_CONNECT), &pair.ring, &cmd);
	cmd.connect.dst = pair.addr;
	cmd.connect.group_id = group;
	return run(KVERBS_CONNECT);
}

static uint32_t await_request(void)
{
	CHECK_OK(connect_in(0));
	return ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
}

TEST(CONN_QUERY_names_the_group_of_a_connection)
{
	uint32_t client, server;

	open_pair_in_group();
	CHECK_EQ(dev_query(pair.fd, pair.client).out_group_id, 0);
	CHECK_EQ(dev_query(pair.fd, pair.server).out_group_id, pair.group);
	CHECK_OK(connect_in(pair.group));
	client = cmd.connect.out_id;
	CHECK_EQ(dev_query(pair.fd, client).out_group_id, pair.group);
	server = ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	CHECK_EQ(dev_query(pair.fd, server).out_group_id, 0);
	CHECK_OK(dev_accept(&pair.ring, server, NULL));
	CHECK_OK(ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, client).result);
	CHECK_EQ(dev_query(pair.fd, server).out_group_id, 0);
}

TEST(debugfs_shows_a_group_and_what_belongs_to_it)
{
	uint32_t all, one;

	open_pair_in_group();
	all = export_all();
	one = export_a_byte_to_the_server();
	dev_expect_shown("group", pair.group, "conns=1 exports=1");
	dev_expect_shown("export", all, "conn=0 group=%u", pair.group);
	dev_expect_shown("export", one, "conn=%u segments=1 group=0", pair.server);
	dev_expect_shown("conn", pair.server, "state=ESTABLISHED group=%u", pair.group);
	dev_expect_shown("conn", pair.client, "state=ESTABLISHED group=0");
}

TEST(a_connection_that_has_ended_is_still_in_its_group)
{
	open_pair_in_group();
	CHECK_OK(dev_disconnect(pair.fd, pair.server));
	ring_end_of(&pair.ring, pair.server);
	CHECK_EQ(dev_query(pair.fd, pair.server).out_group_id, pair.group);
	CHECK_ERR(dev_destroy(pair.fd, pair.group), EBUSY);
}

TEST(CONNECT_in_what_is_no_group_of_the_file_gives_ENOENT)
{
	open_group();
	CHECK_ERR(connect_in(pair.ring.id), ENOENT);
	CHECK_ERR(connect_in(region), ENOENT);
	CHECK_ERR(connect_in(dev_group(dev_open()) + 1000), ENOENT);
	CHECK_OK(dev_destroy(pair.fd, pair.group));
	CHECK_ERR(connect_in(pair.group), ENOENT);
}

TEST(ACCEPT_into_what_is_no_group_of_the_file_gives_ENOENT_and_can_be_repeated)
{
	uint32_t server;

	open_group();
	server = await_request();
	CHECK_ERR(dev_accept_into(&pair.ring, server, NULL, server), ENOENT);
	CHECK_ERR(dev_accept_into(&pair.ring, server, NULL, pair.listener), ENOENT);
	CHECK_EQ(dev_query(pair.fd, server).out_state, KVERBS_CONN_REQUESTED);
	CHECK_OK(dev_accept_into(&pair.ring, server, NULL, pair.group));
	CHECK_OK(ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, server).result);
}

TEST(EXPORT_of_a_group_of_another_file_gives_ENOENT)
{
	open_pair_in_group();
	CHECK_OK(dev_destroy(pair.fd, region));
	pair.fd = dev_open();
	region = dev_region(pair.fd, memory, sizeof(memory), 0);
	CHECK_ERR(export_to(pair.group, 0, 1, READ_WRITE), ENOENT);
}

TEST(EXPORT_of_a_group_without_an_established_connection_gives_ENOTCONN)
{
	uint32_t server;

	open_group();
	CHECK_ERR(export_to(pair.group, 0, 1, READ_WRITE), ENOTCONN);
	server = await_request();
	CHECK_ERR(export_to(pair.group, 0, 1, READ_WRITE), ENOTCONN);
	CHECK_OK(dev_accept_into(&pair.ring, server, NULL, pair.group));
	CHECK_OK(ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, server).result);
	CHECK_OK(export_to(pair.group, 0, 1, READ_WRITE));
	CHECK_OK(dev_disconnect(pair.fd, server));
	ring_end_of(&pair.ring, server);
	CHECK_ERR(export_to(pair.group, 0, 1, READ_WRITE), ENOTCONN);
}

TEST(EXPORT_of_a_group_beyond_the_region_gives_EINVAL)
{
	open_pair_in_group();
	CHECK_ERR(export_to(pair.group, 0, 0, READ_WRITE), EINVAL);
	CHECK_ERR(export_to(pair.group, 0, sizeof(memory) + 1, READ_WRITE), EINVAL);
	CHECK_ERR(export_to(pair.group, sizeof(memory), 1, READ_WRITE), EINVAL);
	CHECK_ERR(export_to(pair.group, UINT64_MAX, 2, READ_WRITE), EINVAL);
	CHECK_ERR(export_to(pair.group, 0, 1, 0), EINVAL);
	CHECK_OK(dev_destroy(pair.fd, region));
	region = dev_region(pair.fd, memory, 4096, KVERBS_REGION_READ_ONLY);
	CHECK_ERR(export_to(pair.group, 0, 1, READ_WRITE), EINVAL);
	CHECK_OK(export_to(pair.group, 0, 1, KVERBS_REMOTE_READ));
}

TEST(EXPORT_of_a_group_without_room_gives_EMSGSIZE_and_the_count)
{
	open_pair_in_group();
	cmd.export = (struct kverbs_cmd_export){
		.conn_id = pair.group,
		.region_id = region,
		.access = KVERBS_REMOTE_READ,
		.length = sizeof(memory),
	};
	CHECK_ERR(run(KVERBS_EXPORT), EMSGSIZE);
	CHECK_EQ(cmd.export.inout_segs_len, 1);
	cmd.export.segs_uptr = 8;
	CHECK_ERR(run(KVERBS_EXPORT), EFAULT);
	CHECK_OK(dev_destroy(pair.fd, region));
	CHECK_EQ(dev_query(pair.fd, pair.server).out_state, KVERBS_CONN_ESTABLISHED);
}

TEST(a_group_is_busy_while_a_connection_belongs_to_it)
{
	uint32_t client;

	open_pair_in_group();
	CHECK_ERR(dev_destroy(pair.fd, pair.group), EBUSY);
	CHECK_OK(dev_destroy(pair.fd, pair.server));
	CHECK_OK(connect_in(pair.group));
	client = cmd.connect.out_id;
	CHECK_ERR(dev_destroy(pair.fd, pair.group), EBUSY);
	CHECK_OK(dev_destroy(pair.fd, client));
	CHECK_OK(dev_destroy(pair.fd, pair.group));
	CHECK_ERR(dev_destroy(pair.fd, pair.group), ENOENT);
}

TEST(a_group_is_busy_while_an_export_belongs_to_it)
{
	uint32_t export;

	open_pair_in_group();
	export = export_all();
	CHECK_OK(dev_destroy(pair.fd, pair.server));
	CHECK_ERR(dev_destroy(pair.fd, pair.group), EBUSY);
	CHECK_ERR(dev_destroy(pair.fd, region), EBUSY);
	CHECK_OK(dev_destroy(pair.fd, export));
	CHECK_OK(dev_destroy(pair.fd, region));
	CHECK_OK(dev_destroy(pair.fd, pair.group));
}

TEST(a_group_is_not_busy_after_a_CONNECT_that_failed)
{
	open_group();
	command_fill(command_by_number(KVERBS_CONNECT), &pair.ring, &cmd);
	cmd.connect.group_id = pair.group;
	cmd.connect.dst.scope_id = 1;
	CHECK_ERR(run(KVERBS_CONNECT), EINVAL);
	CHECK_OK(dev_destroy(pair.fd, pair.group));
}

TEST(DESTROY_of_a_connection_leaves_the_exports_of_its_group)
{
	uint32_t ours, all;

	open_pair_in_group();
	all = export_all();
	ours = export_a_byte_to_the_server();
	CHECK_OK(dev_destroy(pair.fd, pair.server));
	CHECK_ERR(dev_destroy(pair.fd, ours), ENOENT);
	CHECK_OK(dev_destroy(pair.fd, all));
}
