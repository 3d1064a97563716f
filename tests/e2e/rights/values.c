// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Values reported for the module, devices, connections and exports, one by one. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "bytes.h"
#include "proc.h"

#define EXPORTS		300
#define ALL_CAPS	(KVERBS_CAP_ATOMIC | KVERBS_CAP_REMOTE_INV | KVERBS_CAP_VIRT_DMA)

static struct pair pair;

TEST(INFO_fills_its_fields_and_zeroes_the_rest)
{
	struct kverbs_cmd_info info;

	memset(&info, STALE, sizeof(info));
	info.size = sizeof(info);
	info.flags = 0;
	info.inout_ops_len = 0;
	info.ops_stride = 0;
	info.ops_uptr = 0;
	CHECK_OK(dev_cmd(dev_open(), KVERBS_INFO, &info));
	CHECK_EQ(info.out_abi, KVERBS_ABI_VERSION);
	CHECK_EQ(info.out_nr_devices, 1);
	CHECK_EQ(info.out_features, KVERBS_FEATURE_BENCH | KVERBS_FEATURE_GROUP |
				    KVERBS_FEATURE_IOVA | KVERBS_FEATURE_POOL |
				    KVERBS_FEATURE_TRACK | KVERBS_FEATURE_REGION_FD |
				    KVERBS_FEATURE_RING_FD | KVERBS_FEATURE_WAKE |
				    KVERBS_FEATURE_DMABUF);
	check_text(info.out_version, sizeof(info.out_version), "the version");
	check_no_address(&info, sizeof(info), "INFO");
}

/* More room than needed, filled with stale bytes. */
static struct kverbs_port ports[4];
static struct kverbs_gid gids[64];

static struct kverbs_cmd_device_query stale_query(uint32_t nr_ports, uint32_t nr_gids)
{
	struct kverbs_cmd_device_query query;

	memset(ports, STALE, sizeof(ports));
	memset(gids, STALE, sizeof(gids));
	memset(&query, STALE, sizeof(query));
	query.size = sizeof(query);
	query.flags = 0;
	query.index = 0;
	query.__reserved = 0;
	query.ports_stride = 0;
	query.gids_stride = 0;
	query.inout_ports_len = nr_ports;
	query.inout_gids_len = nr_gids;
	query.ports_uptr = (uintptr_t)ports;
	query.gids_uptr = (uintptr_t)gids;
	return query;
}

TEST(DEVICE_QUERY_pads_its_names_with_zeroes)
{
	struct kverbs_cmd_device_query query = stale_query(ARRAY_SIZE(ports), ARRAY_SIZE(gids));

	CHECK_OK(dev_cmd(dev_open(), KVERBS_DEVICE_QUERY, &query));
	check_text(query.out_name, sizeof(query.out_name), "the name");
	check_text(query.out_fw_version, sizeof(query.out_fw_version), "the firmware");
	check_text(query.out_driver, sizeof(query.out_driver), "the driver");
	CHECK(!strcmp(query.out_driver, dev_is_iwarp() ? "siw" : "rdma_rxe"));
	CHECK_EQ(query.out_caps & ~ALL_CAPS, 0);
	CHECK_EQ(!!(query.out_caps & KVERBS_CAP_ATOMIC), !dev_is_iwarp());
}

TEST(DEVICE_QUERY_fills_whole_ports_and_nothing_beyond)
{
	struct kverbs_cmd_device_query query = stale_query(ARRAY_SIZE(ports), ARRAY_SIZE(gids));

	CHECK_OK(dev_cmd(dev_open(), KVERBS_DEVICE_QUERY, &query));
	CHECK_EQ(query.inout_ports_len, 1);
	CHECK_EQ(ports[0].port, 1);
	CHECK_EQ(ports[0].transport,
		 dev_is_iwarp() ? KVERBS_TRANSPORT_IWARP : KVERBS_TRANSPORT_ROCE);
	CHECK_EQ(ports[0].__reserved, 0);
	CHECK_EQ(ports[0].__reserved2, 0);
	CHECK_EQ(ports[0].lid, 0);
	CHECK_EQ(ports[0].sm_lid, 0);
	check_text(ports[0].ifname, sizeof(ports[0].ifname), "the interface");
	CHECK(ports[0].ifname[0]);
	check_no_address(&ports[0], sizeof(ports[0]), "the port");
	check_all(&ports[1], sizeof(ports) - sizeof(ports[0]), STALE, "the rest of the ports");
}

TEST(DEVICE_QUERY_fills_whole_GIDs_and_nothing_beyond)
{
	struct kverbs_cmd_device_query query = stale_query(ARRAY_SIZE(ports), ARRAY_SIZE(gids));
	uint32_t i;

	CHECK_OK(dev_cmd(dev_open(), KVERBS_DEVICE_QUERY, &query));
	CHECK(query.inout_gids_len >= 1 && query.inout_gids_len < ARRAY_SIZE(gids));
	for (i = 0; i < query.inout_gids_len; i++) {
		CHECK_EQ(gids[i].port, 1);
		CHECK(gids[i].index < ports[0].gid_table_len);
		CHECK_EQ(gids[i].type, dev_is_iwarp() ? KVERBS_GID_IB : KVERBS_GID_ROCE_V2);
		CHECK(!gids[i].ifindex || gids[i].ifindex == ports[0].ifindex);
	}
	check_all(&gids[i], sizeof(gids) - i * sizeof(gids[0]), STALE, "the rest of the GIDs");
}

TEST(DEVICE_QUERY_with_little_room_fills_only_that_room)
{
	struct kverbs_cmd_device_query query = stale_query(0, 1);
	int fd = dev_open();

	CHECK_ERR(dev_cmd(fd, KVERBS_DEVICE_QUERY, &query), EMSGSIZE);
	CHECK_EQ(query.inout_ports_len, 1);
	check_all(ports, sizeof(ports), STALE, "the ports");
	CHECK_EQ(gids[0].port, 1);
	check_all(&gids[1], sizeof(gids) - sizeof(gids[0]), STALE, "the rest of the GIDs");
}

/* IPv4 uses only four bytes; all bytes of an unknown address are zero. */
static void check_addr(const struct kverbs_addr *addr, int family, const char *what)
{
	CHECK_EQ(addr->family, family);
	if (family == AF_INET6)
		return;
	CHECK_EQ(addr->scope_id, 0);
	check_all(&addr->addr[4], sizeof(addr->addr) - 4, 0, what);
	if (!family)
		check_all(addr, sizeof(*addr), 0, what);
}

static struct kverbs_cmd_conn_query check_query(uint32_t conn, unsigned int state, int local,
						int remote)
{
	struct kverbs_cmd_conn_query query;

	memset(&query, STALE, sizeof(query));
	query.size = sizeof(query);
	query.flags = 0;
	query.conn_id = conn;
	query.inout_priv_len = 0;
	query.priv_uptr = 0;
	CHECK_OK(dev_cmd(pair.fd, KVERBS_CONN_QUERY, &query));
	CHECK_EQ(query.out_state, state);
	check_addr(&query.out_local, local, "the local address");
	check_addr(&query.out_remote, remote, "the peer's address");
	CHECK(query.out_sq_used <= query.out_sq_depth);
	CHECK(query.out_rq_used <= query.out_rq_depth);
	check_no_address(&query, sizeof(query), "CONN_QUERY");
	return query;
}

TEST(CONN_QUERY_zeroes_unknown_fields)
{
	struct kverbs_addr nobody = { .family = AF_INET, .addr = { 203, 0, 113, 1 } };
	struct kverbs_cmd_conn_query query;
	uint32_t conn;

	pair_open(&pair);
	conn = dev_connect(&pair.ring, &nobody);
	CHECK_EQ(ring_end_of(&pair.ring, conn).type, KVERBS_CQE_FAILED);
	query = check_query(conn, KVERBS_CONN_DEAD, 0, AF_INET);
	CHECK(query.out_error < 0);
	CHECK_EQ(query.out_device_index, UINT32_MAX);
	CHECK_EQ(query.out_port, 0);
	CHECK_EQ(query.out_transport, 0);
	CHECK_EQ(query.out_mtu, 0);
	CHECK_EQ(query.out_max_segment, 0);
	CHECK_EQ(query.out_ops + query.out_errors, 0);
	CHECK_EQ(query.out_bytes_out + query.out_bytes_in, 0);
}

TEST(CONN_QUERY_fills_the_same_fields_in_every_state)
{
	struct kverbs_cmd_conn_query query;
	uint32_t asked;

	pair_open(&pair);
	dev_connect(&pair.ring, &pair.addr);
	asked = ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	check_query(asked, KVERBS_CONN_REQUESTED, AF_INET, AF_INET);
	check_query(pair.client, KVERBS_CONN_ESTABLISHED, AF_INET, AF_INET);
	query = check_query(pair.server, KVERBS_CONN_ESTABLISHED, AF_INET, AF_INET);
	CHECK_EQ(query.out_error, 0);
	CHECK_EQ(query.out_local.port, pair.addr.port);
	CHECK_OK(dev_disconnect(pair.fd, pair.client));
	ring_end_of(&pair.ring, pair.client);
	ring_end_of(&pair.ring, pair.server);
	check_query(pair.client, KVERBS_CONN_DEAD, AF_INET, AF_INET);
	query = check_query(pair.server, KVERBS_CONN_DEAD, AF_INET, AF_INET);
	CHECK_EQ(query.out_error, -ECONNRESET);
}

TEST(LISTEN_fills_its_address_and_zeroes_the_rest)
{
	struct kverbs_addr addr = addr_of("a", 0);
	struct kverbs_addr addr6 = { .family = AF_INET6 };
	static struct ring ring;

	ring_open(&ring, dev_open(), 8, 32);
	dev_listen(&ring, &addr);
	check_addr(&addr, AF_INET, "where it listens");
	CHECK(addr.port);
	dev_listen(&ring, &addr6);
	CHECK_EQ(addr6.family, AF_INET6);
	CHECK(addr6.port);
	CHECK_EQ(addr6.scope_id, 0);
	check_all(addr6.addr, sizeof(addr6.addr), 0, "the IPv6 address");
}

static unsigned char priv[256];

/* @text, then perhaps zeroes from the CM, then the buffer is unchanged. */
static void check_priv(uint32_t conn, const char *text)
{
	struct kverbs_cmd_conn_query query = {
		.size = sizeof(query),
		.conn_id = conn,
		.inout_priv_len = sizeof(priv),
		.priv_uptr = (uintptr_t)priv,
	};
	size_t length = strlen(text);

	memset(priv, STALE, sizeof(priv));
	CHECK_OK(dev_cmd(pair.fd, KVERBS_CONN_QUERY, &query));
	CHECK(query.inout_priv_len >= length && query.inout_priv_len <= KVERBS_PRIV_ACCEPT_MAX);
	check_same(priv, text, length, "private data");
	check_all(priv + length, query.inout_priv_len - length, 0, "the CM's padding");
	check_all(priv + query.inout_priv_len, sizeof(priv) - query.inout_priv_len, STALE,
		  "what is beyond the private data");
}

static uint32_t ask_with(const char *text)
{
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = pair.ring.id,
		.dst = pair.addr,
		.timeout_ns = MS_TO_NS(test_patience_ms()),
		.priv_uptr = (uintptr_t)text,
		.priv_len = strlen(text),
	};

	CHECK_OK(dev_cmd(pair.fd, KVERBS_CONNECT, &cmd));
	return cmd.out_id;
}

TEST(private_data_of_a_request_is_padded_with_zeroes)
{
	struct kverbs_cmd_accept accept = { .size = sizeof(accept),
					    .timeout_ns = MS_TO_NS(test_patience_ms()) };
	uint32_t client, server;

	pair_open(&pair);
	client = ask_with("may I?");
	server = ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	check_priv(server, "may I?");
	accept.conn_id = server;
	accept.priv_uptr = (uintptr_t)"yes";
	accept.priv_len = 3;
	CHECK_OK(dev_cmd(pair.fd, KVERBS_ACCEPT, &accept));
	CHECK_OK(ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, client).result);
	check_priv(client, "yes");
	check_priv(server, "may I?");
}

TEST(private_data_of_a_rejection_is_padded_with_zeroes)
{
	struct kverbs_cmd_reject reject = { .size = sizeof(reject) };
	uint32_t client;

	pair_open(&pair);
	client = ask_with("may I?");
	reject.conn_id = ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	reject.priv_uptr = (uintptr_t)"no";
	reject.priv_len = 2;
	CHECK_OK(dev_cmd(pair.fd, KVERBS_REJECT, &reject));
	CHECK_EQ(ring_end_of(&pair.ring, client).type, KVERBS_CQE_REJECTED);
	check_priv(client, "no");
}

/* An export of a range has one segment; the rest of the array is unchanged. */
static void check_export(uint32_t region, uint64_t offset, uint64_t length, uint32_t *rkey)
{
	struct kverbs_segment segs[4];
	uint32_t nr = ARRAY_SIZE(segs);

	memset(segs, STALE, sizeof(segs));
	dev_export(pair.fd, pair.server, region, offset, length, KVERBS_REMOTE_READ, segs, &nr);
	CHECK_EQ(nr, 1);
	CHECK_EQ(segs[0].addr, offset % PAGE);
	CHECK_EQ(segs[0].length, length);
	CHECK_EQ(segs[0].__reserved, 0);
	CHECK(segs[0].rkey);
	check_no_address(&segs[0], sizeof(segs[0]), "a segment");
	check_all(&segs[1], sizeof(segs) - sizeof(segs[0]), STALE, "the rest of the array");
	*rkey = segs[0].rkey;
}

TEST(EXPORT_fills_offset_length_and_key_of_each_segment)
{
	uint32_t keys[EXPORTS], i, j;
	struct buf buf;

	pair_open(&pair);
	buf_open(&buf, pair.fd, BUF_SCATTERED, 16 * PAGE);
	for (i = 0; i < EXPORTS; i++) {
		check_export(buf.region, i * 211 % (15 * PAGE), 1 + i * 13 % PAGE, &keys[i]);
		for (j = 0; j < i; j++)
			CHECK(keys[j] != keys[i]);
	}
}

TEST(the_segments_of_a_large_export_begin_at_zero_but_for_the_first)
{
	struct kverbs_segment segs[16];
	uint32_t nr = ARRAY_SIZE(segs), i;
	uint64_t left = 5 * MIB;
	struct buf buf;

	pair_open(&pair);
	buf_open(&buf, pair.fd, BUF_ANON, 6 * MIB);
	memset(segs, STALE, sizeof(segs));
	dev_export(pair.fd, pair.server, buf.region, 300, left, KVERBS_REMOTE_READ, segs, &nr);
	CHECK(nr > 1 && nr < ARRAY_SIZE(segs));
	for (i = 0; i < nr; i++) {
		CHECK_EQ(segs[i].addr, i ? 0 : 300);
		CHECK_EQ(segs[i].__reserved, 0);
		left -= segs[i].length;
	}
	CHECK_EQ(left, 0);
	check_all(&segs[nr], sizeof(segs) - nr * sizeof(segs[0]), STALE, "the rest");
}

TEST(EXPORT_without_room_reports_the_number_of_segments_and_no_key)
{
	struct kverbs_segment segs[2];
	struct kverbs_cmd_export cmd = { .size = sizeof(cmd) };
	struct buf buf;

	pair_open(&pair);
	buf_open(&buf, pair.fd, BUF_ANON, 6 * MIB);
	memset(segs, STALE, sizeof(segs));
	cmd.conn_id = pair.server;
	cmd.region_id = buf.region;
	cmd.access = KVERBS_REMOTE_READ;
	cmd.length = 6 * MIB;
	cmd.inout_segs_len = 2;
	cmd.segs_uptr = (uintptr_t)segs;
	CHECK_ERR(dev_cmd(pair.fd, KVERBS_EXPORT, &cmd), EMSGSIZE);
	CHECK(cmd.inout_segs_len > 2);
	check_all(segs, sizeof(segs), STALE, "the segments");
}
