// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A key of a group is valid on all connections of the group, and on no other. */
#include <string.h>

#include "proc.h"

#define SIZE		(2 * PAGE)
#define START		256
#define LENGTH		PAGE
#define MEMBERS		4
#define READ_WRITE	(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE)

/* The passive connections are in the group; their peers read and write @target. */
static struct pair owner;
static uint32_t clients[MEMBERS], servers[MEMBERS];
static struct buf own, target;
static struct kverbs_segment seg;
static uint32_t export;

static void join(unsigned int first, unsigned int nr)
{
	unsigned int i;

	for (i = first; i < first + nr; i++)
		pair_join(&owner, &clients[i], &servers[i]);
}

/* Half of the connections are established before the export, and half after it. */
static void set_up(void)
{
	owner = (struct pair){ .fd = dev_open(), .addr = addr_of("a", 0) };
	ring_open(&owner.ring, owner.fd, 256, 1024);
	owner.listener = dev_listen(&owner.ring, &owner.addr);
	owner.group = dev_group(owner.fd);
	buf_open(&own, owner.fd, BUF_ANON, SIZE);
	buf_open(&target, owner.fd, BUF_SCATTERED, SIZE);
	join(0, MEMBERS / 2);
	export = dev_export(owner.fd, owner.group, target.region, START, LENGTH, READ_WRITE,
			    &seg, NULL);
	join(MEMBERS / 2, MEMBERS / 2);
}

static struct kverbs_cqe do_rdma(uint8_t opcode, uint32_t client)
{
	return ring_do(&owner.ring, sqe_rdma(opcode, client, own.region, 5, LENGTH, &seg));
}

static void check_reads(uint32_t client)
{
	buf_poison(&own);
	CHECK_DONE(do_rdma(KVERBS_OP_READ, client));
	buf_check_moved(&own, 5, &target, START, LENGTH);
}

/* The attempt ends the connection, and transfers nothing. */
static void check_refused(uint32_t client, uint32_t server)
{
	buf_poison(&own);
	CHECK_EQ(do_rdma(KVERBS_OP_READ, client).result, -EIO);
	CHECK_EQ(ring_end_of(&owner.ring, client).type, KVERBS_CQE_DISCONNECTED);
	CHECK_EQ(ring_end_of(&owner.ring, server).type, KVERBS_CQE_DISCONNECTED);
	buf_check_untouched(&own);
}

static void check_refused_outside(uint32_t group)
{
	struct pair outside = owner;
	uint32_t client, server;

	outside.group = group;
	pair_join(&outside, &client, &server);
	/* Indices that were read from the ring in the meantime. */
	owner.ring = outside.ring;
	check_refused(client, server);
}

TEST(one_export_of_a_group_is_read_over_all_its_connections)
{
	unsigned int i;

	set_up();
	for (i = 0; i < MEMBERS; i++) {
		buf_fill(&target, i);
		check_reads(clients[i]);
	}
}

TEST(one_export_of_a_group_is_written_over_all_its_connections)
{
	unsigned int i;

	set_up();
	for (i = 0; i < MEMBERS; i++) {
		buf_fill(&own, i);
		buf_poison(&target);
		CHECK_DONE(do_rdma(KVERBS_OP_WRITE, clients[i]));
		buf_check_moved(&target, START, &own, 5, LENGTH);
	}
}

TEST(a_key_of_a_group_is_refused_on_a_connection_without_a_group)
{
	set_up();
	check_refused_outside(0);
	check_reads(clients[0]);
}

TEST(a_key_of_a_group_is_refused_on_a_connection_of_another_group)
{
	set_up();
	check_refused_outside(dev_group(owner.fd));
	check_reads(clients[0]);
}

TEST(a_key_of_a_connection_without_a_group_is_refused_on_those_of_a_group)
{
	uint32_t group, client, server;

	set_up();
	group = owner.group;
	owner.group = 0;
	pair_join(&owner, &client, &server);
	owner.group = group;
	CHECK_OK(dev_destroy(owner.fd, export));
	dev_export(owner.fd, server, target.region, START, LENGTH, READ_WRITE, &seg, NULL);
	check_refused(clients[0], servers[0]);
	check_reads(client);
}

TEST(an_export_of_a_group_outlives_the_connections_that_were_there)
{
	unsigned int i;

	set_up();
	buf_fill(&target, 7);
	for (i = 0; i < MEMBERS; i++) {
		CHECK_OK(dev_destroy(owner.fd, servers[i]));
		CHECK_EQ(ring_end_of(&owner.ring, clients[i]).id, clients[i]);
	}
	join(0, 1);
	check_reads(clients[0]);
}

TEST(after_DESTROY_of_an_export_its_key_is_refused_on_all_connections)
{
	unsigned int i;

	set_up();
	check_reads(clients[0]);
	CHECK_OK(dev_destroy(owner.fd, export));
	for (i = 0; i < MEMBERS; i++)
		check_refused(clients[i], servers[i]);
	CHECK_OK(dev_destroy(owner.fd, target.region));
}

static void revoke_over(unsigned int i)
{
	struct kverbs_sqe sqe = sqe_recv(servers[i], 0, 0, 0);
	struct kverbs_cqe cqe;

	CHECK_OK(ring_put(&owner.ring, &sqe));
	sqe = sqe_send(clients[i], 0, 0, 0);
	sqe.opcode = KVERBS_OP_SEND_INV;
	sqe.rkey = seg.rkey;
	CHECK_DONE(ring_do(&owner.ring, sqe));
	cqe = ring_event(&owner.ring, KVERBS_CQE_WORK, servers[i]);
	CHECK_OK(cqe.result);
	CHECK(cqe.flags & KVERBS_CQE_F_INV);
	CHECK_EQ(cqe.revoked_key, seg.rkey);
}

TEST(SEND_INV_of_one_peer_revokes_a_key_for_the_whole_group)
{
	set_up();
	revoke_over(2);
	check_refused(clients[0], servers[0]);
	CHECK_OK(dev_destroy(owner.fd, export));
	export = dev_export(owner.fd, owner.group, target.region, START, LENGTH, READ_WRITE,
			    &seg, NULL);
	check_reads(clients[1]);
	check_reads(clients[2]);
}

/* The peer that revokes the key must not break the connection that the key was made over. */
TEST(DESTROY_of_a_revoked_export_leaves_all_connections_alone)
{
	unsigned int i;

	set_up();
	CHECK_OK(dev_destroy(owner.fd, export));
	export = dev_export(owner.fd, servers[0], target.region, START, LENGTH, READ_WRITE,
			    &seg, NULL);
	revoke_over(3);
	CHECK_OK(dev_destroy(owner.fd, export));
	export = dev_export(owner.fd, owner.group, target.region, START, LENGTH, READ_WRITE,
			    &seg, NULL);
	for (i = 0; i < MEMBERS; i++)
		check_reads(clients[i]);
}
