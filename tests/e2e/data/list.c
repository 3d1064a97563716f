// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Buffers in pieces: gathered and scattered in the order of the list. */
#include <stdio.h>
#include <string.h>

#include "buf.h"

#define SIZE		(16 * PAGE)
#define LARGE		(3 * MIB)
#define SEGMENTS	8

static struct pair pair;
static struct buf from, other, to;

static void set_up(size_t size)
{
	pair_open(&pair);
	buf_open(&from, pair.fd, BUF_ANON, size);
	buf_open(&other, pair.fd, BUF_SCATTERED, size);
	buf_open(&to, pair.fd, BUF_ANON, size);
	buf_fill(&from, 1);
	buf_fill(&other, 2);
	buf_poison(&to);
}

static struct kverbs_piece piece(const struct buf *buf, size_t offset, size_t length)
{
	return (struct kverbs_piece) {
		.region_id = buf->region,
		.offset = offset,
		.length = length,
	};
}

static struct kverbs_sqe listed(struct kverbs_sqe sqe, const struct kverbs_piece *pieces,
				size_t nr)
{
	sqe.flags |= KVERBS_SQE_LIST;
	sqe.region_id = 0;
	sqe.offset = (uintptr_t)pieces;
	sqe.length = nr;
	return sqe;
}

static void put_recv(uint32_t region, uint64_t offset, uint64_t length)
{
	struct kverbs_sqe recv = sqe_recv(pair.server, region, offset, length);

	recv.user_data = 77;
	CHECK_OK(ring_put(&pair.ring, &recv));
}

static void put_recv_list(const struct kverbs_piece *pieces, size_t nr)
{
	struct kverbs_sqe recv = listed(sqe_recv(pair.server, 0, 0, 0), pieces, nr);

	recv.user_data = 77;
	CHECK_OK(ring_put(&pair.ring, &recv));
}

/* Check that bytes [at, at + length) of @to are those of @buf from @offset on. */
static void check_part(size_t at, const struct buf *buf, size_t offset, size_t length)
{
	const unsigned char *want = buf->twin ? buf->twin : buf->addr;

	CHECK(!memcmp(to.addr + at, want + offset, length));
}

TEST(a_list_is_sent_in_its_order)
{
	struct kverbs_piece pieces[3];

	set_up(SIZE);
	pieces[0] = piece(&other, 5, 100);
	pieces[1] = piece(&from, PAGE - 1, 2);
	pieces[2] = piece(&other, 0, 1);
	put_recv(to.region, 0, SIZE);
	CHECK_DONE(ring_do(&pair.ring, listed(sqe_send(pair.client, 0, 0, 0), pieces, 3)));
	CHECK_EQ(ring_work(&pair.ring, 77).byte_len, 103);
	check_part(0, &other, 5, 100);
	check_part(100, &from, PAGE - 1, 2);
	check_part(102, &other, 0, 1);
}

/* Pieces as a newer header has them: 8 bytes longer, which must be zero. */
TEST(the_pieces_of_a_list_are_as_far_apart_as_the_entry_says)
{
	struct {
		struct kverbs_piece piece;
		uint64_t newer;
	} pieces[2] = { 0 };
	struct kverbs_sqe sqe;

	set_up(SIZE);
	pieces[0].piece = piece(&other, 5, 100);
	pieces[1].piece = piece(&from, 1, 2);
	put_recv(to.region, 0, SIZE);
	sqe = listed(sqe_send(pair.client, 0, 0, 0), &pieces[0].piece, 2);
	sqe.piece_stride = sizeof(pieces[0]);
	CHECK_DONE(ring_do(&pair.ring, sqe));
	CHECK_EQ(ring_work(&pair.ring, 77).byte_len, 102);
	check_part(0, &other, 5, 100);
	check_part(100, &from, 1, 2);

	pieces[1].newer = 1;
	CHECK_ERR(ring_put(&pair.ring, &sqe), EINVAL);
	sqe.piece_stride = sizeof(pieces[0].piece) - 1;
	CHECK_ERR(ring_put(&pair.ring, &sqe), EINVAL);
	sqe.piece_stride = 0xffffffff;
	CHECK_ERR(ring_put(&pair.ring, &sqe), EINVAL);
}

TEST(a_message_is_scattered_to_a_list)
{
	struct kverbs_piece pieces[3];

	set_up(SIZE);
	pieces[0] = piece(&to, PAGE, 10);
	pieces[1] = piece(&to, 0, 1);
	pieces[2] = piece(&to, 2 * PAGE, 1000);
	put_recv_list(pieces, 3);
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, from.region, 7, 500)));
	CHECK_EQ(ring_work(&pair.ring, 77).byte_len, 500);
	check_part(PAGE, &from, 7, 10);
	check_part(0, &from, 17, 1);
	check_part(2 * PAGE, &from, 18, 489);
}

static uint32_t export(const struct buf *buf, size_t length, uint32_t access,
		       struct kverbs_segment *segs)
{
	uint32_t nr = SEGMENTS;

	dev_export(pair.fd, pair.server, buf->region, 0, length, access, segs, &nr);
	return nr;
}

/* On iWARP a WRITE completes when it is sent. A later message arrives after its data. */
static void barrier(void)
{
	put_recv(0, 0, 0);
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, 0, 0, 0)));
	CHECK_DONE(ring_work(&pair.ring, 77));
}

/* Fill the list with more pieces than any device here has scatter/gather entries. */
static void pieces_of(struct kverbs_piece *pieces, const struct buf *a, const struct buf *b)
{
	size_t i;

	for (i = 0; i < KVERBS_LIST_MAX; i++)
		pieces[i] = piece(i % 2 ? a : b, i * 1000, 777);
}

TEST(a_list_of_32_is_written)
{
	struct kverbs_piece pieces[KVERBS_LIST_MAX];
	struct kverbs_segment seg;
	struct kverbs_cqe cqe;
	size_t i;

	set_up(SIZE);
	export(&to, SIZE, KVERBS_REMOTE_WRITE, &seg);
	pieces_of(pieces, &from, &other);
	cqe = ring_do(&pair.ring, listed(sqe_rdma(KVERBS_OP_WRITE, pair.client, 0, 0, 0, &seg),
					 pieces, KVERBS_LIST_MAX));
	CHECK_DONE(cqe);
	CHECK_EQ(cqe.byte_len, KVERBS_LIST_MAX * 777);
	barrier();
	for (i = 0; i < KVERBS_LIST_MAX; i++)
		check_part(i * 777, i % 2 ? &from : &other, i * 1000, 777);
}

TEST(a_list_of_32_is_read_into)
{
	struct kverbs_piece pieces[KVERBS_LIST_MAX];
	struct kverbs_segment seg;
	size_t i;

	set_up(SIZE);
	export(&from, SIZE, KVERBS_REMOTE_READ, &seg);
	pieces_of(pieces, &to, &to);
	CHECK_DONE(ring_do(&pair.ring, listed(sqe_rdma(KVERBS_OP_READ, pair.client, 0, 0, 0,
						       &seg), pieces, KVERBS_LIST_MAX)));
	for (i = 0; i < KVERBS_LIST_MAX; i++)
		check_part(i * 1000, &from, i * 777, 777);
}

TEST(pieces_larger_than_an_MR_are_written)
{
	struct kverbs_segment segs[SEGMENTS];
	struct kverbs_piece pieces[2];
	size_t first;

	set_up(LARGE);
	export(&to, LARGE, KVERBS_REMOTE_WRITE, segs);
	first = segs[0].length;
	pieces[0] = piece(&other, 11, first / 2);
	pieces[1] = piece(&from, 3, first - first / 2);
	CHECK_DONE(ring_do(&pair.ring, listed(sqe_rdma(KVERBS_OP_WRITE, pair.client, 0, 0, 0,
						       &segs[0]), pieces, 2)));
	barrier();
	check_part(0, &other, 11, first / 2);
	check_part(first / 2, &from, 3, first - first / 2);
}

TEST(a_message_of_more_pieces_than_entries_gives_EMSGSIZE)
{
	struct kverbs_conn_param param = { .max_sge = 2 };
	struct kverbs_piece pieces[3];
	struct kverbs_sqe sqe;

	pair_open_with(&pair, &param, 256);
	buf_open(&from, pair.fd, BUF_ANON, SIZE);
	pieces[0] = piece(&from, 0, 1);
	pieces[1] = piece(&from, 2, 1);
	pieces[2] = piece(&from, 4, 1);
	sqe = listed(sqe_send(pair.client, 0, 0, 0), pieces, 3);
	CHECK_ERR(ring_put(&pair.ring, &sqe), EMSGSIZE);
	CHECK_OK(dev_destroy(pair.fd, from.region));
}

/**
 * struct bad_piece - an invalid second piece
 * @what: what is wrong
 * @err: expected error
 * @offset: its offset
 * @length: its length
 * @region: XORed with its region's id
 * @reserved: its reserved field
 */
struct bad_piece {
	const char *what;
	int err;
	uint64_t offset;
	uint64_t length;
	uint32_t region;
	uint32_t reserved;
};

static const struct bad_piece bad_pieces[] = {
	{ "of no bytes gives EINVAL", EINVAL, 0, 0, 0, 0 },
	{ "beyond its region gives EINVAL", EINVAL, SIZE - 7, 8, 0, 0 },
	{ "that overflows gives EINVAL", EINVAL, UINT64_MAX, 2, 0, 0 },
	{ "of no region gives ENOENT", ENOENT, 0, 8, 0x40000000, 0 },
	{ "with a reserved field gives EINVAL", EINVAL, 0, 8, 0, 1 },
};

static void refuses(const void *arg)
{
	const struct bad_piece *bad = arg;
	struct kverbs_piece pieces[2];
	struct kverbs_sqe sqe;

	set_up(SIZE);
	pieces[0] = piece(&from, 0, 8);
	pieces[1] = piece(&from, bad->offset, bad->length);
	pieces[1].region_id ^= bad->region;
	pieces[1].__reserved = bad->reserved;
	sqe = listed(sqe_send(pair.client, 0, 0, 0), pieces, 2);
	CHECK_ERR(ring_put(&pair.ring, &sqe), bad->err);
	/* The refused list holds no reference on the region of its first piece. */
	CHECK_OK(dev_destroy(pair.fd, from.region));
}

TEST_GROUP(bad_lists)
{
	char name[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad_pieces); i++) {
		snprintf(name, sizeof(name), "a piece %s", bad_pieces[i].what);
		test_add(name, refuses, &bad_pieces[i]);
	}
}

TEST(a_list_at_a_wrong_address_gives_EFAULT)
{
	struct kverbs_sqe sqe;

	set_up(SIZE);
	sqe = listed(sqe_send(pair.client, 0, 0, 0), (void *)8, 1);
	CHECK_ERR(ring_put(&pair.ring, &sqe), EFAULT);
}

TEST(a_READ_into_a_list_with_a_READ_ONLY_region_gives_EINVAL)
{
	struct kverbs_segment seg;
	struct kverbs_piece pieces[2];
	struct kverbs_sqe sqe;
	struct buf sealed;

	set_up(SIZE);
	buf_open(&sealed, pair.fd, BUF_READ_ONLY, PAGE);
	export(&from, SIZE, KVERBS_REMOTE_READ, &seg);
	pieces[0] = piece(&to, 0, 8);
	pieces[1] = piece(&sealed, 0, 8);
	sqe = listed(sqe_rdma(KVERBS_OP_READ, pair.client, 0, 0, 0, &seg), pieces, 2);
	CHECK_ERR(ring_put(&pair.ring, &sqe), EINVAL);
	buf_check_untouched(&to);
}
