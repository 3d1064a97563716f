// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Limit of objects per file, of any types; other files are not affected. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "proc.h"

#define RINGS		256
#define DATA		0xdada

static char memory[PAGE] __aligned(4096);

/* The full file, with a connection to itself, and a file that connects to it. */
static struct pair pair;
static struct ring asking;
static uint32_t region, last;
static struct kverbs_segment seg;

static int make_region(struct ring *ring, uint32_t *id)
{
	return dev_try_region(ring->fd, memory, 1, 0, id);
}

static int make_ring(struct ring *ring, uint32_t *id)
{
	struct kverbs_cmd_ring_create make = { .size = sizeof(make) };
	int ret;

	make.sq_entries = 1;
	make.cq_entries = 1;
	ret = dev_cmd(ring->fd, KVERBS_RING_CREATE, &make);
	*id = make.out_id;
	return ret;
}

static int make_listener(struct ring *ring, uint32_t *id)
{
	struct kverbs_cmd_listen make = { .size = sizeof(make), .ring_id = ring->id };
	int ret;

	make.inout_addr = addr_of("a", 0);
	ret = dev_cmd(ring->fd, KVERBS_LISTEN, &make);
	*id = make.out_id;
	return ret;
}

/* Connect to an address without a listener: the result does not matter. */
static int make_connection(struct ring *ring, uint32_t *id)
{
	struct kverbs_cmd_connect make = { .size = sizeof(make), .ring_id = ring->id };
	int ret;

	make.dst = addr_of("a", 1);
	ret = dev_cmd(ring->fd, KVERBS_CONNECT, &make);
	*id = make.out_id;
	return ret;
}

static int make_export(struct ring *ring, uint32_t *id)
{
	struct kverbs_cmd_export make = { .size = sizeof(make), .conn_id = pair.server };
	int ret;

	make.region_id = region;
	make.access = KVERBS_REMOTE_READ;
	make.length = 1;
	make.inout_segs_len = 1;
	make.segs_uptr = (uintptr_t)&seg;
	ret = dev_cmd(ring->fd, KVERBS_EXPORT, &make);
	*id = make.out_id;
	return ret;
}

/* One function for each type that a command creates; 0 or -errno. */
static int (*const makers[])(struct ring *ring, uint32_t *id) = {
	make_region, make_ring, make_listener, make_connection, make_export,
};

static void open_all(void)
{
	if (test_kernel_is("debug"))
		test_skip("too slow with a debug kernel");
	pair_open(&pair);
	ring_open(&asking, dev_open(), 8, 64);
	region = dev_region(pair.fd, memory, PAGE, 0);
}

static void fill_file(void)
{
	struct kverbs_cmd_info info = { .size = sizeof(info) };
	uint32_t nr = 5;

	CHECK_OK(dev_cmd(pair.fd, KVERBS_INFO, &info));
	for (; nr < info.out_max_objects; nr++)
		CHECK_OK(make_region(&pair.ring, &last));
}

/* Check whether the full file's listener accepts a request. */
static void ask(void)
{
	dev_connect(&asking, &pair.addr);
}

static void check_refused(void)
{
	struct kverbs_cqe cqe = ring_next(&asking);

	CHECK(cqe.type == KVERBS_CQE_REJECTED || cqe.type == KVERBS_CQE_FAILED);
	if (cqe.result != -ECONNREFUSED && cqe.result != -ECONNRESET)
		FAIL("refused with %s", test_errno(cqe.result));
	CHECK_OK(dev_destroy(asking.fd, cqe.id));
}

static void send_one(void)
{
	struct kverbs_sqe recv = sqe_recv(pair.server, region, 0, 64);

	recv.user_data = DATA;
	CHECK_OK(ring_put(&pair.ring, &recv));
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, region, 64, 64)));
	CHECK_DONE(ring_work(&pair.ring, DATA));
}

TEST(a_full_file_gives_ENOMEM_for_an_object_of_any_type)
{
	uint32_t id;
	size_t i;

	open_all();
	fill_file();
	for (i = 0; i < ARRAY_SIZE(makers); i++)
		CHECK_ERR(makers[i](&pair.ring, &id), ENOMEM);
	send_one();
	CHECK_EQ(ring_unread(&pair.ring), 0);
}

TEST(DESTROY_in_a_full_file_makes_room_for_an_object_of_any_type)
{
	uint32_t id, none;
	size_t i;

	open_all();
	fill_file();
	for (i = 0; i < ARRAY_SIZE(makers); i++) {
		CHECK_OK(dev_destroy(pair.fd, last));
		CHECK_OK(makers[i](&pair.ring, &id));
		CHECK_ERR(make_region(&pair.ring, &none), ENOMEM);
		CHECK_OK(dev_destroy(pair.fd, id));
		CHECK_OK(make_region(&pair.ring, &last));
	}
}

TEST(a_full_file_refuses_connection_requests_until_there_is_room)
{
	struct kverbs_cqe cqe;

	open_all();
	fill_file();
	ask();
	check_refused();
	CHECK_EQ(ring_unread(&pair.ring), 0);
	CHECK_OK(dev_destroy(pair.fd, last));
	ask();
	cqe = ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0);
	CHECK_ERR(make_region(&pair.ring, &last), ENOMEM);
	CHECK_OK(dev_accept(&pair.ring, cqe.id, NULL));
	CHECK_OK(ring_event(&asking, KVERBS_CQE_ESTABLISHED, 0).result);
	CHECK_OK(ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, cqe.id).result);
}

static void check_room_elsewhere(void)
{
	struct pair full = pair;
	uint32_t id, i;

	pair_open(&pair);
	region = dev_region(pair.fd, memory, PAGE, 0);
	for (i = 0; i < ARRAY_SIZE(makers); i++)
		CHECK_OK(makers[i](&pair.ring, &id));
	send_one();
	pair = full;
}

TEST(the_limit_of_objects_is_per_file)
{
	uint32_t id;

	open_all();
	fill_file();
	CHECK_ERR(make_region(&pair.ring, &id), ENOMEM);
	check_room_elsewhere();
	in_child(check_room_elsewhere);
	CHECK_ERR(make_region(&pair.ring, &id), ENOMEM);
}

TEST(a_file_that_was_full_can_be_closed_and_its_memory_is_free)
{
	open_all();
	fill_file();
	CHECK(test_status_kb(0, "VmPin") > 4 * 65000);
	ring_unmap(&pair.ring);
	CHECK_EQ(close(pair.fd), 0);
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
}

TEST(a_file_with_all_its_rings_leaves_other_files_theirs)
{
	struct ring full = { .fd = dev_open() }, rings[2];
	uint32_t id, i;

	for (i = 0; i < RINGS; i++)
		CHECK_OK(make_ring(&full, &id));
	CHECK_ERR(make_ring(&full, &id), ENOMEM);
	ring_open(&rings[0], dev_open(), 4, 16);
	ring_open(&rings[1], rings[0].fd, 4, 16);
	make_connection(&rings[1], &id);
	CHECK_EQ(ring_end_of(&rings[1], id).result, -ECONNREFUSED);
	CHECK_ERR(make_ring(&full, &id), ENOMEM);
}
