// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Objects: ids of the wrong type, states that do not allow a command, busy objects. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmds.h"

static char memory[3 * 4096] __aligned(4096);
static struct pair pair;
static union any_cmd cmd;

static int run(unsigned long number)
{
	cmd.size = command_by_number(number)->size;
	return dev_cmd(pair.fd, number, &cmd);
}

static void fill(unsigned long number)
{
	command_fill(command_by_number(number), &pair.ring, &cmd);
}

static int export_range(uint32_t region, uint64_t offset, uint64_t length, uint32_t access)
{
	static struct kverbs_segment segs[4];

	fill(KVERBS_EXPORT);
	cmd.export = (struct kverbs_cmd_export){
		.conn_id = pair.server,
		.region_id = region,
		.access = access,
		.inout_segs_len = ARRAY_SIZE(segs),
		.offset = offset,
		.length = length,
		.segs_uptr = (uintptr_t)segs,
	};
	return run(KVERBS_EXPORT);
}

TEST(an_id_of_another_type_gives_ENOENT)
{
	uint32_t region;

	pair_open(&pair);
	region = dev_region(pair.fd, memory, 1, 0);
	fill(KVERBS_SUBMIT);
	cmd.submit.ring_id = region;
	CHECK_ERR(run(KVERBS_SUBMIT), ENOENT);
	fill(KVERBS_LISTEN);
	cmd.listen.ring_id = pair.client;
	CHECK_ERR(run(KVERBS_LISTEN), ENOENT);
	fill(KVERBS_CONNECT);
	cmd.connect.ring_id = pair.listener;
	CHECK_ERR(run(KVERBS_CONNECT), ENOENT);
	fill(KVERBS_ACCEPT);
	cmd.accept.conn_id = pair.listener;
	CHECK_ERR(run(KVERBS_ACCEPT), ENOENT);
	fill(KVERBS_REJECT);
	cmd.reject.conn_id = pair.ring.id;
	CHECK_ERR(run(KVERBS_REJECT), ENOENT);
	CHECK_ERR(dev_disconnect(pair.fd, region), ENOENT);
	fill(KVERBS_CONN_QUERY);
	cmd.conn_query.conn_id = region;
	CHECK_ERR(run(KVERBS_CONN_QUERY), ENOENT);
	CHECK_ERR(export_range(pair.client, 0, 1, KVERBS_REMOTE_READ), ENOENT);
}

TEST(an_id_of_another_file_gives_ENOENT)
{
	static struct ring other;

	pair_open(&pair);
	ring_open(&other, dev_open(), 8, 32);
	CHECK_ERR(dev_disconnect(other.fd, pair.client), ENOENT);
	CHECK_ERR(dev_destroy(other.fd, pair.server), ENOENT);
	CHECK_EQ(dev_query(pair.fd, pair.client).out_state, KVERBS_CONN_ESTABLISHED);
}

TEST(an_id_is_not_zero_and_not_reused_soon)
{
	int fd = dev_open();
	uint32_t first = dev_region(fd, memory, 1, 0);
	uint32_t second;

	CHECK_OK(dev_destroy(fd, first));
	second = dev_region(fd, memory, 1, 0);
	CHECK(first && second && first != second);
}

TEST(DESTROY_twice_gives_ENOENT)
{
	int fd = dev_open();
	uint32_t id = dev_region(fd, memory, 1, 0);

	CHECK_OK(dev_destroy(fd, id));
	CHECK_ERR(dev_destroy(fd, id), ENOENT);
}

TEST(EXPORT_beyond_the_region_gives_EINVAL)
{
	uint32_t region;

	pair_open(&pair);
	region = dev_region(pair.fd, memory, 5000, 0);
	CHECK_ERR(export_range(region, 0, 5001, KVERBS_REMOTE_READ), EINVAL);
	CHECK_ERR(export_range(region, 5000, 1, KVERBS_REMOTE_READ), EINVAL);
	CHECK_ERR(export_range(region, 4999, 2, KVERBS_REMOTE_READ), EINVAL);
	CHECK_ERR(export_range(region, UINT64_MAX, 2, KVERBS_REMOTE_READ), EINVAL);
	CHECK_ERR(export_range(region, 2, UINT64_MAX, KVERBS_REMOTE_READ), EINVAL);
	CHECK_OK(export_range(region, 4999, 1, KVERBS_REMOTE_READ));
}

TEST(EXPORT_of_nothing_gives_EINVAL)
{
	uint32_t region;

	pair_open(&pair);
	region = dev_region(pair.fd, memory, 5000, 0);
	CHECK_ERR(export_range(region, 0, 0, KVERBS_REMOTE_READ), EINVAL);
	CHECK_ERR(export_range(region, 5000, 0, KVERBS_REMOTE_READ), EINVAL);
}

TEST(EXPORT_for_WRITE_of_a_READ_ONLY_region_gives_EINVAL)
{
	uint32_t region;

	pair_open(&pair);
	region = dev_region(pair.fd, memory, 4096, KVERBS_REGION_READ_ONLY);
	CHECK_ERR(export_range(region, 0, 1, KVERBS_REMOTE_WRITE), EINVAL);
	CHECK_ERR(export_range(region, 0, 1, KVERBS_REMOTE_WRITE | KVERBS_REMOTE_READ),
		  EINVAL);
	CHECK_OK(export_range(region, 0, 1, KVERBS_REMOTE_READ));
}

TEST(EXPORT_without_room_gives_EMSGSIZE_and_the_count)
{
	uint32_t region;

	pair_open(&pair);
	region = dev_region(pair.fd, memory, sizeof(memory), 0);
	cmd.export = (struct kverbs_cmd_export){
		.conn_id = pair.client,
		.region_id = region,
		.access = KVERBS_REMOTE_READ,
		.length = sizeof(memory),
	};
	CHECK_ERR(run(KVERBS_EXPORT), EMSGSIZE);
	CHECK_EQ(cmd.export.inout_segs_len, 1);
	CHECK_OK(dev_destroy(pair.fd, region));
}

TEST(EXPORT_to_an_unmapped_array_gives_EFAULT_and_leaves_no_export)
{
	uint32_t region;

	pair_open(&pair);
	region = dev_region(pair.fd, memory, sizeof(memory), 0);
	cmd.export = (struct kverbs_cmd_export){
		.conn_id = pair.client,
		.region_id = region,
		.access = KVERBS_REMOTE_READ,
		.inout_segs_len = 1,
		.length = sizeof(memory),
		.segs_uptr = 8,
	};
	CHECK_ERR(run(KVERBS_EXPORT), EFAULT);
	CHECK_OK(dev_destroy(pair.fd, region));
	CHECK_EQ(dev_query(pair.fd, pair.client).out_state, KVERBS_CONN_ESTABLISHED);
}

TEST(EXPORT_on_a_connection_that_is_not_up_gives_ENOTCONN)
{
	uint32_t region, conn;

	pair_open(&pair);
	region = dev_region(pair.fd, memory, 4096, 0);
	conn = dev_connect(&pair.ring, &pair.addr);
	pair.server = conn;
	CHECK_ERR(export_range(region, 0, 1, KVERBS_REMOTE_READ), ENOTCONN);
	pair.server = ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	CHECK_ERR(export_range(region, 0, 1, KVERBS_REMOTE_READ), ENOTCONN);
	CHECK_OK(dev_disconnect(pair.fd, pair.client));
	ring_end_of(&pair.ring, pair.client);
	pair.server = pair.client;
	CHECK_ERR(export_range(region, 0, 1, KVERBS_REMOTE_READ), ENOTCONN);
}

TEST(a_region_is_busy_while_it_is_exported)
{
	uint32_t region, export;

	pair_open(&pair);
	region = dev_region(pair.fd, memory, 4096, 0);
	CHECK_OK(export_range(region, 0, 4096, KVERBS_REMOTE_READ));
	export = cmd.export.out_id;
	CHECK_ERR(dev_destroy(pair.fd, region), EBUSY);
	CHECK_OK(dev_destroy(pair.fd, export));
	CHECK_OK(dev_destroy(pair.fd, region));
}

TEST(a_region_is_busy_while_a_receive_uses_it)
{
	struct kverbs_sqe recv;
	uint32_t region;

	pair_open(&pair);
	region = dev_region(pair.fd, memory, 4096, 0);
	recv = sqe_recv(pair.server, region, 0, 4096);
	CHECK_OK(ring_put(&pair.ring, &recv));
	CHECK_ERR(dev_destroy(pair.fd, region), EBUSY);
	CHECK_OK(dev_disconnect(pair.fd, pair.server));
	ring_end_of(&pair.ring, pair.server);
	CHECK_OK(dev_destroy(pair.fd, region));
}

TEST(a_ring_is_busy_while_a_listener_or_connection_is_attached)
{
	pair_open(&pair);
	CHECK_ERR(dev_destroy(pair.fd, pair.ring.id), EBUSY);
	CHECK_OK(dev_destroy(pair.fd, pair.client));
	CHECK_ERR(dev_destroy(pair.fd, pair.ring.id), EBUSY);
	CHECK_OK(dev_destroy(pair.fd, pair.server));
	CHECK_ERR(dev_destroy(pair.fd, pair.ring.id), EBUSY);
	CHECK_OK(dev_destroy(pair.fd, pair.listener));
	CHECK_OK(dev_destroy(pair.fd, pair.ring.id));
}

TEST(DESTROY_of_a_connection_takes_its_exports_with_it)
{
	uint32_t region, export;

	pair_open(&pair);
	region = dev_region(pair.fd, memory, 4096, 0);
	CHECK_OK(export_range(region, 0, 4096, KVERBS_REMOTE_READ));
	export = cmd.export.out_id;
	CHECK_OK(dev_destroy(pair.fd, pair.server));
	CHECK_ERR(dev_destroy(pair.fd, export), ENOENT);
	CHECK_OK(dev_destroy(pair.fd, region));
}

TEST(DISCONNECT_twice_gives_ENOTCONN)
{
	pair_open(&pair);
	CHECK_OK(dev_disconnect(pair.fd, pair.client));
	CHECK_ERR(dev_disconnect(pair.fd, pair.client), ENOTCONN);
	CHECK_EQ(ring_end_of(&pair.ring, pair.client).type, KVERBS_CQE_DISCONNECTED);
	CHECK_ERR(dev_disconnect(pair.fd, pair.client), ENOTCONN);
}

TEST(ACCEPT_and_REJECT_of_a_connection_without_a_request_give_ENOTCONN)
{
	pair_open(&pair);
	CHECK_ERR(dev_accept(&pair.ring, pair.client, NULL), ENOTCONN);
	CHECK_ERR(dev_accept(&pair.ring, pair.server, NULL), ENOTCONN);
	fill(KVERBS_REJECT);
	cmd.reject.conn_id = pair.server;
	CHECK_ERR(run(KVERBS_REJECT), ENOTCONN);
	CHECK_EQ(dev_query(pair.fd, pair.client).out_state, KVERBS_CONN_ESTABLISHED);
	CHECK_EQ(dev_query(pair.fd, pair.server).out_state, KVERBS_CONN_ESTABLISHED);
}

TEST(ACCEPT_to_an_unknown_ring_gives_ENOENT_and_can_be_repeated)
{
	uint32_t client, server;

	pair_open(&pair);
	client = dev_connect(&pair.ring, &pair.addr);
	server = ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	fill(KVERBS_ACCEPT);
	cmd.accept.conn_id = server;
	cmd.accept.ring_id = server;
	CHECK_ERR(run(KVERBS_ACCEPT), ENOENT);
	CHECK_OK(dev_accept(&pair.ring, server, NULL));
	ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, client);
	ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, server);
}

TEST(LISTEN_on_a_port_in_use_gives_EADDRINUSE)
{
	pair_open(&pair);
	fill(KVERBS_LISTEN);
	cmd.listen.inout_addr = pair.addr;
	CHECK_ERR(run(KVERBS_LISTEN), EADDRINUSE);
}

TEST(LISTEN_below_port_1024_without_the_capability_gives_EACCES)
{
	struct kverbs_addr addr = addr_of("a", 80);
	static struct ring ring;

	ring_open(&ring, dev_open(), 8, 32);
	CHECK_EQ(setuid(65534), 0);
	command_fill(command_by_number(KVERBS_LISTEN), &ring, &cmd);
	cmd.listen.inout_addr = addr;
	CHECK_ERR(dev_cmd(ring.fd, KVERBS_LISTEN, &cmd), EACCES);
}

TEST(LISTEN_on_address_0_and_port_0_reports_the_port)
{
	struct kverbs_addr any = { .family = 2 };
	static struct ring ring;

	ring_open(&ring, dev_open(), 8, 32);
	CHECK(dev_listen(&ring, &any));
	CHECK_EQ(any.family, 2);
	CHECK(any.port);
}

TEST(DEVICE_QUERY_without_room_for_arrays_fills_everything_else)
{
	struct kverbs_cmd_device_query query = { .size = sizeof(query) };

	CHECK_ERR(dev_cmd(dev_open(), KVERBS_DEVICE_QUERY, &query), EMSGSIZE);
	CHECK_EQ(query.inout_ports_len, 1);
	CHECK(query.inout_gids_len >= 1);
	CHECK(strstr(query.out_name, dev_provider()));
	CHECK(query.out_max_mr_pages && query.out_max_qp && query.out_max_cqe);
}

/* Elements as a newer header has them: 8 bytes longer, which this kernel zeroes. */
TEST(longer_elements_of_an_array_are_zeroed_at_their_ends)
{
	struct {
		struct kverbs_port port;
		uint64_t newer;
	} ports[2];
	struct {
		struct kverbs_gid gid;
		uint64_t newer;
	} gids[64];
	struct kverbs_cmd_device_query query = {
		.size = sizeof(query),
		.inout_ports_len = ARRAY_SIZE(ports),
		.ports_stride = sizeof(ports[0]),
		.inout_gids_len = ARRAY_SIZE(gids),
		.gids_stride = sizeof(gids[0]),
		.ports_uptr = (uintptr_t)ports,
		.gids_uptr = (uintptr_t)gids,
	};
	unsigned int i;

	memset(ports, 0xff, sizeof(ports));
	memset(gids, 0xff, sizeof(gids));
	CHECK_OK(dev_cmd(dev_open(), KVERBS_DEVICE_QUERY, &query));
	CHECK_EQ(ports[0].port.port, 1);
	CHECK_EQ(ports[0].newer, 0);
	CHECK_EQ(ports[1].newer, UINT64_MAX);
	CHECK(query.inout_gids_len >= 1);
	for (i = 0; i < query.inout_gids_len; i++) {
		CHECK_EQ(gids[i].gid.port, 1);
		CHECK_EQ(gids[i].newer, 0);
	}
	CHECK_EQ(gids[i].newer, UINT64_MAX);
}

TEST(segments_of_an_export_are_as_far_apart_as_asked)
{
	struct {
		struct kverbs_segment seg;
		uint64_t newer;
	} segs[2];
	static char memory[4096] __aligned(4096);

	memset(segs, 0xff, sizeof(segs));
	pair_open(&pair);
	cmd.export = (struct kverbs_cmd_export){
		.conn_id = pair.client,
		.region_id = dev_region(pair.fd, memory, sizeof(memory), 0),
		.access = KVERBS_REMOTE_READ,
		.inout_segs_len = 2,
		.segs_stride = sizeof(segs[0]),
		.length = sizeof(memory),
		.segs_uptr = (uintptr_t)segs,
	};
	CHECK_OK(run(KVERBS_EXPORT));
	CHECK_EQ(cmd.export.inout_segs_len, 1);
	CHECK_EQ(segs[0].seg.length, sizeof(memory));
	CHECK_EQ(segs[0].newer, 0);
	CHECK_EQ(segs[1].newer, UINT64_MAX);
}

TEST(DEVICE_QUERY_walks_all_devices_and_ends_with_ENODEV)
{
	struct kverbs_cmd_info info = { .size = sizeof(info) };
	struct kverbs_cmd_device_query query = { .size = sizeof(query) };
	unsigned int found = 0;
	int fd = dev_open();

	CHECK_OK(dev_cmd(fd, KVERBS_INFO, &info));
	while (dev_cmd(fd, KVERBS_DEVICE_QUERY, &query) == -EMSGSIZE) {
		found++;
		query = (struct kverbs_cmd_device_query){
			.size = sizeof(query),
			.index = query.out_index + 1,
		};
	}
	CHECK_ERR(dev_cmd(fd, KVERBS_DEVICE_QUERY, &query), ENODEV);
	CHECK(found);
	CHECK_EQ(info.out_nr_devices, found);
}

TEST(INFO_names_the_ABI_the_opcodes_and_the_limits)
{
	struct kverbs_cmd_info info;

	memset(&info, 0xff, sizeof(info));
	info.size = sizeof(info);
	info.flags = 0;
	info.inout_ops_len = 0;
	info.ops_stride = 0;
	CHECK_OK(dev_cmd(dev_open(), KVERBS_INFO, &info));
	CHECK_EQ(info.out_abi, KVERBS_ABI_VERSION);
	CHECK_EQ(info.out_features, KVERBS_FEATURE_BENCH | KVERBS_FEATURE_GROUP |
				    KVERBS_FEATURE_IOVA | KVERBS_FEATURE_POOL |
				    KVERBS_FEATURE_TRACK | KVERBS_FEATURE_REGION_FD |
				    KVERBS_FEATURE_RING_FD | KVERBS_FEATURE_WAKE |
				    KVERBS_FEATURE_DMABUF);
	CHECK_EQ(info.inout_ops_len, KVERBS_OP_FETCH_ADD);
	CHECK(info.out_max_objects && info.out_max_sq_entries && info.out_max_cq_entries);
	CHECK(memchr(info.out_version, 0, sizeof(info.out_version)));
	CHECK(info.out_version[0]);
}

TEST(INFO_describes_each_opcode)
{
	struct kverbs_op_info ops[32] = { 0 };
	struct kverbs_cmd_info info = {
		.size = sizeof(info),
		.inout_ops_len = ARRAY_SIZE(ops),
		.ops_stride = sizeof(ops[0]),
		.ops_uptr = (uintptr_t)ops,
	};
	unsigned int i;

	CHECK_OK(dev_cmd(dev_open(), KVERBS_INFO, &info));
	CHECK_EQ(info.inout_ops_len, KVERBS_OP_FETCH_ADD);
	for (i = 0; i < info.inout_ops_len; i++)
		CHECK_EQ(ops[i].opcode, KVERBS_OP_SEND + i);
	CHECK_EQ(ops[KVERBS_OP_RECV - 1].sqe_flags, KVERBS_SQE_LIST);
	CHECK_EQ(ops[KVERBS_OP_RECV - 1].flags, KVERBS_OP_INFO_STORES);
	CHECK_EQ(ops[KVERBS_OP_SEND - 1].flags, KVERBS_OP_INFO_CONSUMES);
	CHECK_EQ(ops[KVERBS_OP_WRITE - 1].flags, KVERBS_OP_INFO_REMOTE);
	CHECK_EQ(ops[KVERBS_OP_SEND_IMM - 1].flags,
		 KVERBS_OP_INFO_CONSUMES | KVERBS_OP_INFO_NO_IWARP);
	CHECK_EQ(ops[KVERBS_OP_FETCH_ADD - 1].caps, KVERBS_CAP_ATOMIC);
	CHECK_EQ(ops[KVERBS_OP_READ - 1].caps, 0);
}

TEST(INFO_with_room_for_too_few_opcodes_fills_the_room_and_gives_EMSGSIZE)
{
	struct kverbs_op_info ops[3] = { 0 };
	struct kverbs_cmd_info info = {
		.size = sizeof(info),
		.inout_ops_len = 2,
		.ops_uptr = (uintptr_t)ops,
	};

	CHECK_ERR(dev_cmd(dev_open(), KVERBS_INFO, &info), EMSGSIZE);
	CHECK_EQ(info.inout_ops_len, KVERBS_OP_FETCH_ADD);
	CHECK_EQ(info.out_abi, KVERBS_ABI_VERSION);
	CHECK_EQ(ops[1].opcode, KVERBS_OP_RECV);
	CHECK_EQ(ops[2].opcode, 0);
}

TEST(rings_can_be_as_large_as_INFO_reports_and_no_larger)
{
	struct kverbs_cmd_info info = { .size = sizeof(info) };
	struct kverbs_cmd_ring_create make = { .size = sizeof(make) };
	int fd = dev_open();

	CHECK_OK(dev_cmd(fd, KVERBS_INFO, &info));
	make.sq_entries = info.out_max_sq_entries;
	make.cq_entries = info.out_max_cq_entries;
	CHECK_OK(dev_cmd(fd, KVERBS_RING_CREATE, &make));
	CHECK(make.out_sq_size >= info.out_max_sq_entries * sizeof(struct kverbs_sqe));
	CHECK_OK(dev_destroy(fd, make.out_id));
	make.sq_entries *= 2;
	CHECK_ERR(dev_cmd(fd, KVERBS_RING_CREATE, &make), EINVAL);
	make.sq_entries = 8;
	make.cq_entries *= 2;
	CHECK_ERR(dev_cmd(fd, KVERBS_RING_CREATE, &make), EINVAL);
}

TEST(a_backlog_can_be_as_large_as_INFO_reports_and_no_larger)
{
	struct kverbs_cmd_info info = { .size = sizeof(info) };

	pair_open(&pair);
	CHECK_OK(dev_cmd(pair.fd, KVERBS_INFO, &info));
	fill(KVERBS_LISTEN);
	cmd.listen.backlog = info.out_max_backlog + 1;
	CHECK_ERR(run(KVERBS_LISTEN), EINVAL);
	cmd.listen.backlog = info.out_max_backlog;
	CHECK_OK(run(KVERBS_LISTEN));
}
