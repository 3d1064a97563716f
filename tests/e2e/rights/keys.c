// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A key is valid only on the connection of its export. Other connections try it with the correct
 * address, from every possible place.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proc.h"

#define SIZE		(2 * PAGE)
#define START		256
#define LENGTH		PAGE
#define WC_WR_FLUSH	5
#define WC_REM_ACCESS	10
#define READ_WRITE	(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE)

/* The owner's connection, its memory, and the key that the peer received. */
static struct pair owner;
static struct buf own, target;
static struct kverbs_segment seg;
static uint32_t export;

/* The attacker's connection and memory. */
static struct pair thief;
static struct buf loot;

static void set_up(uint32_t access)
{
	pair_open(&owner);
	buf_open(&own, owner.fd, BUF_ANON, SIZE);
	buf_open(&target, owner.fd, BUF_SCATTERED, SIZE);
	buf_poison(&target);
	export = dev_export(owner.fd, owner.server, target.region, START, LENGTH, access, &seg,
			    NULL);
}

static struct kverbs_sqe attack(uint8_t opcode)
{
	struct kverbs_sqe sqe = sqe_rdma(opcode, thief.client, loot.region, 0, 64, &seg);

	if (opcode == KVERBS_OP_CMP_SWAP || opcode == KVERBS_OP_FETCH_ADD) {
		sqe.length = 8;
		sqe.operand = 1;
	}
	if (opcode == KVERBS_OP_CMP_SWAP) {
		/* The expected value matches, so a CMP_SWAP would swap. */
		memset(&sqe.operand, 0xa5, sizeof(sqe.operand));
		sqe.swap = 1;
	}
	return sqe;
}

/*
 * On iWARP a refused WRITE has completed before the refusal arrives. A WRITE_IMM needs a receive,
 * which fails, too, and the end of that side may be reported first.
 */
static void check_status(struct kverbs_cqe cqe, uint8_t opcode)
{
	if (dev_is_iwarp() && opcode != KVERBS_OP_READ)
		return;
	CHECK_EQ(cqe.result, -EIO);
	if (opcode == KVERBS_OP_WRITE_IMM && cqe.wc_status == WC_WR_FLUSH)
		return;
	if (!dev_is_iwarp())
		CHECK_EQ(cqe.wc_status, WC_REM_ACCESS);
}

static void await_message(struct ring *ring, uint32_t conn)
{
	struct kverbs_sqe sqe = sqe_recv(conn, 0, 0, 0);

	CHECK_OK(ring_put(ring, &sqe));
}

/* The attempt fails, ends the attacker's connection, and transfers nothing. */
static void try_key(uint8_t opcode)
{
	buf_open(&loot, thief.fd, BUF_ANON, SIZE);
	if (opcode != KVERBS_OP_READ)
		buf_fill(&loot, 9);
	else
		buf_poison(&loot);
	if (thief.server && opcode == KVERBS_OP_WRITE_IMM)
		await_message(&thief.ring, thief.server);
	check_status(ring_do(&thief.ring, attack(opcode)), opcode);
	CHECK_EQ(ring_end_of(&thief.ring, thief.client).type, KVERBS_CQE_DISCONNECTED);
	if (thief.server)
		CHECK_EQ(ring_end_of(&thief.ring, thief.server).type,
			 KVERBS_CQE_DISCONNECTED);
	if (opcode == KVERBS_OP_READ)
		buf_check_untouched(&loot);
}

static uint8_t opcode_to_try;

static void from_the_same_file(void)
{
	thief = owner;
	pair_join(&thief, &thief.client, &thief.server);
	try_key(opcode_to_try);
	/* Indices that were read from the ring in the meantime. */
	owner.ring = thief.ring;
}

static void from_another_file(void)
{
	pair_open(&thief);
	try_key(opcode_to_try);
}

static void from_another_process(void)
{
	in_child(from_another_file);
}

static void open_and_try(void)
{
	close(owner.fd);
	node_give(0666, 0);
	limit_to(LIMIT * PAGE);
	become(SOMEBODY);
	thief = (struct pair){ .fd = dev_open() };
	ring_open(&thief.ring, thief.fd, 8, 32);
	thief.client = dev_connect(&thief.ring, &owner.addr);
	CHECK_OK(ring_event(&thief.ring, KVERBS_CQE_ESTABLISHED, thief.client).result);
	try_key(opcode_to_try);
}

/* The owner itself is at the other end, and so is the memory. */
static void from_another_user_whom_the_owner_accepted(void)
{
	int pid = fork();
	struct kverbs_cqe end;
	uint32_t server;

	CHECK(pid >= 0);
	if (!pid) {
		open_and_try();
		_exit(0);
	}
	server = ring_event(&owner.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	if (opcode_to_try == KVERBS_OP_WRITE_IMM)
		await_message(&owner.ring, server);
	CHECK_OK(dev_accept(&owner.ring, server, NULL));
	end = ring_end_of(&owner.ring, server);
	/* The attempt may precede ESTABLISHED on this side. */
	CHECK(end.type == KVERBS_CQE_DISCONNECTED || end.type == KVERBS_CQE_FAILED);
	child_join(pid);
}

/* Check both directions and all bytes. */
static void check_owner_goes_on(void)
{
	struct buf back;

	CHECK_EQ(dev_query(owner.fd, owner.client).out_state, KVERBS_CONN_ESTABLISHED);
	CHECK_EQ(dev_query(owner.fd, owner.server).out_state, KVERBS_CONN_ESTABLISHED);
	buf_open(&back, owner.fd, BUF_ANON, SIZE);
	buf_poison(&back);
	buf_fill(&own, 3);
	CHECK_DONE(ring_do(&owner.ring, sqe_rdma(KVERBS_OP_WRITE, owner.client, own.region, 0,
						 LENGTH, &seg)));
	CHECK_DONE(ring_do(&owner.ring, sqe_rdma(KVERBS_OP_READ, owner.client, back.region, 5,
						 LENGTH, &seg)));
	buf_check_moved(&target, START, &own, 0, LENGTH);
	buf_check_moved(&back, 5, &own, 0, LENGTH);
}

static const struct place {
	const char *name;
	void (*try)(void);
} places[] = {
	{ "another connection of the same file", from_the_same_file },
	{ "another file of the same process", from_another_file },
	{ "another process", from_another_process },
	{ "another user, accepted by the owner", from_another_user_whom_the_owner_accepted },
};

static const struct {
	const char *name;
	uint8_t opcode;
	bool on_iwarp;
} opcodes[] = {
	{ "WRITE", KVERBS_OP_WRITE, true },
	{ "READ", KVERBS_OP_READ, true },
	{ "WRITE_IMM", KVERBS_OP_WRITE_IMM, false },
	{ "CMP_SWAP", KVERBS_OP_CMP_SWAP, false },
	{ "FETCH_ADD", KVERBS_OP_FETCH_ADD, false },
};

/**
 * struct attempt - an opcode and the attacker's place
 * @from: the attacker's place
 * @opcode: the opcode
 */
static struct attempt {
	const struct place *from;
	uint8_t opcode;
} attempts[ARRAY_SIZE(places) * ARRAY_SIZE(opcodes)];

static void refused(const void *arg)
{
	const struct attempt *attempt = arg;

	opcode_to_try = attempt->opcode;
	set_up(dev_is_iwarp() ? READ_WRITE : READ_WRITE | KVERBS_REMOTE_ATOMIC);
	attempt->from->try();
	buf_check_untouched(&target);
	check_owner_goes_on();
}

TEST_GROUP(all_attempts)
{
	struct attempt *attempt = attempts;
	char name[128];
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		for (j = 0; j < ARRAY_SIZE(places); j++) {
			if (dev_is_iwarp() && !opcodes[i].on_iwarp)
				continue;
			*attempt = (struct attempt){ &places[j], opcodes[i].opcode };
			snprintf(name, sizeof(name), "%s with a key is refused from %s",
				 opcodes[i].name, places[j].name);
			test_add(name, refused, attempt++);
		}
}

/* siw does not check the right to READ, but it does check which connection the key belongs to. */
TEST(READ_with_a_key_for_WRITE_is_refused_from_every_other_connection)
{
	opcode_to_try = KVERBS_OP_READ;
	set_up(KVERBS_REMOTE_WRITE);
	from_the_same_file();
	from_another_file();
	from_another_process();
	from_another_user_whom_the_owner_accepted();
	buf_check_untouched(&target);
	CHECK_EQ(dev_query(owner.fd, owner.client).out_state, KVERBS_CONN_ESTABLISHED);
}

TEST(keys_work_only_on_the_connection_that_they_were_made_for)
{
	struct kverbs_segment other_seg;
	uint32_t client, server;
	struct buf other;

	set_up(READ_WRITE);
	pair_join(&owner, &client, &server);
	buf_open(&other, owner.fd, BUF_SCATTERED, SIZE);
	buf_poison(&other);
	dev_export(owner.fd, server, other.region, START, LENGTH, READ_WRITE, &other_seg, NULL);
	CHECK(other_seg.rkey != seg.rkey);
	CHECK_EQ(other_seg.addr, seg.addr);
	check_owner_goes_on();
	buf_check_untouched(&other);
	CHECK_DONE(ring_do(&owner.ring, sqe_rdma(KVERBS_OP_WRITE, client, own.region, 0, LENGTH,
						 &other_seg)));
	buf_check_moved(&other, START, &own, 0, LENGTH);
}

/* Revoke from another connection of the file, which may end by that. */
static void take_back(struct kverbs_segment what)
{
	struct kverbs_sqe sqe;

	thief = owner;
	pair_join(&thief, &thief.client, &thief.server);
	await_message(&thief.ring, thief.server);
	sqe = sqe_send(thief.client, 0, 0, 0);
	sqe.opcode = KVERBS_OP_SEND_INV;
	sqe.rkey = what.rkey;
	ring_do(&thief.ring, sqe);
	ring_event(&thief.ring, KVERBS_CQE_WORK, thief.server);
	owner.ring = thief.ring;
}

TEST(SEND_INV_with_a_key_of_another_connection_does_not_revoke_it)
{
	if (!dev_is_iwarp())
		test_skip("rxe invalidates the keys of other connections too");
	set_up(READ_WRITE);
	take_back(seg);
	CHECK_EQ(ring_end_of(&owner.ring, thief.server).type, KVERBS_CQE_DISCONNECTED);
	check_owner_goes_on();
}

/* This also holds where the device revoked the key although it should not. */
TEST(after_SEND_INV_with_a_key_of_another_connection_a_new_export_works)
{
	set_up(READ_WRITE);
	take_back(seg);
	buf_check_untouched(&target);
	CHECK_OK(dev_destroy(owner.fd, export));
	export = dev_export(owner.fd, owner.server, target.region, START, LENGTH, READ_WRITE,
			    &seg, NULL);
	check_owner_goes_on();
	CHECK_OK(dev_destroy(owner.fd, export));
	CHECK_OK(dev_destroy(owner.fd, target.region));
}
