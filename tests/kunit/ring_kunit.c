// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Slots of a completion ring, and any value that user space writes into its index. */
#include "fake_file.h"
#include "slot.h"

#define SLOTS	8

static int ring_init(struct kunit *test)
{
	test->priv = fake_ring_create(test, fake_file_create(test), 4, SLOTS);
	return 0;
}

/* Set the indices as after @tail completions, all of them read. */
static void set_age(struct kverbs_ring *ring, u32 tail)
{
	ring->cq_tail = tail;
	fake_ring_user(ring)->cq_head = tail;
}

static void fill(struct kunit *test, struct kverbs_ring *ring)
{
	u64 n;

	for (n = 0; n < ring->cq_entries; n++)
		KUNIT_ASSERT_EQ(test, 0, fake_ring_event(ring, n));
}

static void ring_reserves_as_many_slots_as_there_are(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;

	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_ring_reserve(ring, SLOTS + 1));
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_reserve(ring, SLOTS - 1));
	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_ring_reserve(ring, 2));
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_reserve(ring, 1));
	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_ring_reserve(ring, 1));
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_unread(ring));
	kverbs_ring_unreserve(ring, SLOTS);
}

static void ring_reserves_returned_slots_again(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;

	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_reserve(ring, SLOTS));
	kverbs_ring_unreserve(ring, 3);
	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_ring_reserve(ring, 4));
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_reserve(ring, 3));
	kverbs_ring_unreserve(ring, SLOTS);
}

/* A completion turns from reserved to unread; reading it frees its slot. */
static void ring_slot_is_free_again_when_its_completion_is_read(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;

	fill(test, ring);
	KUNIT_EXPECT_EQ(test, 0, ring->reserved);
	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_ring_reserve(ring, 1));
	fake_ring_user(ring)->cq_head = 3;
	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_ring_reserve(ring, 4));
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_reserve(ring, 3));
	kverbs_ring_unreserve(ring, 3);
}

static void ring_that_is_full_loses_nothing(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;
	u32 n;

	fill(test, ring);
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_ring_event(ring, 100));
	KUNIT_EXPECT_NULL(test, kverbs_slots_get(ring, 1));
	KUNIT_EXPECT_EQ(test, SLOTS, fake_ring_kernel(ring)->cq_tail);
	KUNIT_EXPECT_EQ(test, SLOTS, kverbs_ring_unread(ring));
	for (n = 0; n < SLOTS; n++)
		KUNIT_EXPECT_EQ(test, n, fake_ring_cqe(ring, n)->user_data);
}

static void ring_overwrites_only_completions_that_were_read(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;
	u32 n;

	fill(test, ring);
	fake_ring_user(ring)->cq_head = 1;
	KUNIT_EXPECT_EQ(test, 0, fake_ring_event(ring, SLOTS));
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_ring_event(ring, 100));
	KUNIT_EXPECT_EQ(test, SLOTS + 1, fake_ring_kernel(ring)->cq_tail);
	for (n = 1; n <= SLOTS; n++)
		KUNIT_EXPECT_EQ(test, n, fake_ring_cqe(ring, n)->user_data);
}

static void ring_numbers_wrap_at_2_to_the_32(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;
	u32 first = U32_MAX - 2, n;

	set_age(ring, first);
	fill(test, ring);
	KUNIT_EXPECT_EQ(test, first + SLOTS, fake_ring_kernel(ring)->cq_tail);
	KUNIT_EXPECT_EQ(test, SLOTS, kverbs_ring_unread(ring));
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_ring_event(ring, 100));
	for (n = 0; n < SLOTS; n++)
		KUNIT_EXPECT_EQ(test, n, fake_ring_cqe(ring, first + n)->user_data);
	fake_ring_user(ring)->cq_head = first + 4;
	KUNIT_EXPECT_EQ(test, SLOTS - 4, kverbs_ring_unread(ring));
	KUNIT_EXPECT_EQ(test, 0, fake_ring_event(ring, SLOTS));
}

static void ring_wraps_many_times(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;
	u32 first = U32_MAX - 500, n;

	set_age(ring, first);
	for (n = first; n != 500; n++) {
		KUNIT_ASSERT_EQ(test, 0, fake_ring_event(ring, n));
		KUNIT_ASSERT_EQ(test, 1, kverbs_ring_unread(ring));
		KUNIT_ASSERT_EQ(test, n, fake_ring_cqe(ring, n)->user_data);
		fake_ring_user(ring)->cq_head = n + 1;
	}
}

/* Two completions were written, and user space claims to have read @head of them. */
static const struct hostile {
	const char *what;
	u32 tail;
	u32 head;
} hostile[] = {
	{ "one more than there are", 2, 3 },
	{ "a ring's size too many", 2, 2 + SLOTS },
	{ "far too many", 2, 1U << 31 },
	{ "one less than a ring ago", 2, 2 - (SLOTS + 1) },
	{ "none for long", 2, (1U << 31) + 2 },
	{ "as many as there can be", 2, 1 + (1U << 31) },
	{ "one more, beyond the wrap", U32_MAX, 0 },
	{ "none since before the wrap", 1, U32_MAX - SLOTS },
};

KUNIT_ARRAY_PARAM_DESC(hostile, hostile, what);

static void ring_treats_a_wrong_head_as_nothing_read(struct kunit *test)
{
	const struct hostile *user = test->param_value;
	struct kverbs_ring *ring = test->priv;

	set_age(ring, user->tail);
	fake_ring_user(ring)->cq_head = user->head;
	KUNIT_EXPECT_EQ(test, SLOTS, kverbs_ring_unread(ring));
	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_ring_reserve(ring, 1));
	KUNIT_EXPECT_NULL(test, kverbs_slots_get(ring, 1));
}

static void ring_recovers_from_a_wrong_head(struct kunit *test)
{
	const struct hostile *user = test->param_value;
	struct kverbs_ring *ring = test->priv;

	set_age(ring, user->tail);
	fake_ring_user(ring)->cq_head = user->head;
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_ring_event(ring, 1));
	fake_ring_user(ring)->cq_head = user->tail;
	KUNIT_EXPECT_EQ(test, 0, fake_ring_event(ring, 2));
	KUNIT_EXPECT_EQ(test, 2, fake_ring_cqe(ring, user->tail)->user_data);
}

/* Reserved slots stay reserved, whatever user space writes into its index. */
static void ring_keeps_its_reservations_despite_a_wrong_head(struct kunit *test)
{
	const struct kverbs_cqe cqe = { .user_data = 7 };
	const struct hostile *user = test->param_value;
	struct kverbs_ring *ring = test->priv;
	u32 n;

	set_age(ring, user->tail);
	KUNIT_ASSERT_EQ(test, 0, kverbs_ring_reserve(ring, SLOTS));
	fake_ring_user(ring)->cq_head = user->head;
	for (n = 0; n < SLOTS; n++)
		kverbs_ring_event(ring, &cqe);
	KUNIT_EXPECT_EQ(test, 0, ring->reserved);
	KUNIT_EXPECT_EQ(test, user->tail + SLOTS, fake_ring_kernel(ring)->cq_tail);
	KUNIT_EXPECT_LE(test, kverbs_ring_unread(ring), SLOTS);
}

static void ring_head_that_moves_back_frees_nothing(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;

	fill(test, ring);
	fake_ring_user(ring)->cq_head = SLOTS;
	KUNIT_ASSERT_EQ(test, 0, kverbs_ring_reserve(ring, 2));
	fake_ring_user(ring)->cq_head = 4;
	KUNIT_EXPECT_EQ(test, 4, kverbs_ring_unread(ring));
	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_ring_reserve(ring, 3));
	fake_ring_user(ring)->cq_head = 0;
	KUNIT_EXPECT_EQ(test, SLOTS, kverbs_ring_unread(ring));
	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_ring_reserve(ring, 1));
	kverbs_ring_unreserve(ring, 2);
}

static void ring_ignores_changes_of_its_own_indices(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;

	memset(fake_ring_kernel(ring), 0xff, sizeof(struct kverbs_ring_kernel));
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_unread(ring));
	KUNIT_EXPECT_EQ(test, 0, fake_ring_event(ring, 1));
	KUNIT_EXPECT_EQ(test, 1, fake_ring_kernel(ring)->cq_tail);
}

static void ring_has_a_request_for_every_slot(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;
	struct kverbs_slot *work[SLOTS];
	int i, j;

	for (i = 0; i < SLOTS; i++) {
		work[i] = kverbs_slots_get(ring, 1);
		KUNIT_ASSERT_NOT_NULL(test, work[i]);
		KUNIT_EXPECT_PTR_EQ(test, ring, work[i]->ring);
		for (j = 0; j < i; j++)
			KUNIT_EXPECT_PTR_NE(test, work[j], work[i]);
	}
	KUNIT_EXPECT_NULL(test, kverbs_slots_get(ring, 1));
	KUNIT_EXPECT_EQ(test, SLOTS, ring->reserved);
	while (i--)
		kverbs_slots_put(ring, work[i]);
	KUNIT_EXPECT_EQ(test, 0, ring->reserved);
}

static void ring_gives_as_many_requests_as_it_has_slots(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;
	struct kverbs_slot *works, *work;
	int nr = 0;

	KUNIT_ASSERT_EQ(test, 0, kverbs_ring_reserve(ring, 1));
	works = kverbs_slots_get(ring, SLOTS + 1);
	for (work = works; work; work = work->next)
		nr++;
	KUNIT_EXPECT_EQ(test, SLOTS - 1, nr);
	KUNIT_EXPECT_EQ(test, SLOTS, ring->reserved);
	KUNIT_EXPECT_NULL(test, kverbs_slots_get(ring, 1));
	kverbs_slots_put(ring, works);
	KUNIT_EXPECT_EQ(test, 1, ring->reserved);
	kverbs_ring_unreserve(ring, 1);
}

/* A ring whose user has read fewer than before, or more than written, gives no slots. */
static void ring_with_a_wrong_head_gives_no_requests(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;
	struct kverbs_slot *work = kverbs_slots_get(ring, 1);

	KUNIT_ASSERT_NOT_NULL(test, work);
	fake_ring_user(ring)->cq_head = 1;
	KUNIT_EXPECT_NULL(test, kverbs_slots_get(ring, SLOTS));
	fake_ring_user(ring)->cq_head = -SLOTS;
	KUNIT_EXPECT_NULL(test, kverbs_slots_get(ring, SLOTS));
	kverbs_slots_put(ring, work);
}

static void ring_shares_slots_among_requests_and_events(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;
	struct kverbs_slot *work[2];

	KUNIT_ASSERT_EQ(test, 0, kverbs_ring_reserve(ring, SLOTS - 2));
	work[0] = kverbs_slots_get(ring, 1);
	work[1] = kverbs_slots_get(ring, 1);
	KUNIT_ASSERT_NOT_NULL(test, work[0]);
	KUNIT_ASSERT_NOT_NULL(test, work[1]);
	KUNIT_EXPECT_NULL(test, kverbs_slots_get(ring, 1));
	KUNIT_EXPECT_EQ(test, -EAGAIN, kverbs_ring_reserve(ring, 1));
	kverbs_slots_put(ring, work[1]);
	KUNIT_EXPECT_EQ(test, 0, kverbs_ring_reserve(ring, 1));
	kverbs_slots_put(ring, work[0]);
	kverbs_ring_unreserve(ring, SLOTS - 1);
}

/* The operations complete at the same time, and each is reported. */
static void end_works(struct kverbs_slot **works, int nr, int result)
{
	LIST_HEAD(over);
	int i;

	for (i = 0; i < nr; i++) {
		works[i]->signal = true;
		works[i]->req.done = kverbs_slots_done;
		works[i]->req.result = result;
		list_add_tail(&works[i]->req.entry, &over);
	}
	while (!list_empty(&over))
		kverbs_slots_done(&over);
}

/* Slots are returned in another order than they were taken, as operations complete. */
static void ring_request_is_there_whenever_a_slot_is(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv;
	struct kverbs_slot *work[SLOTS];
	int round, i;

	for (round = 0; round < 50; round++) {
		for (i = 0; i < SLOTS; i++) {
			work[i] = kverbs_slots_get(ring, 1);
			KUNIT_ASSERT_NOT_NULL(test, work[i]);
		}
		for (i = 0; i < SLOTS; i++)
			end_works(&work[i * 3 % SLOTS], 1, 0);
		KUNIT_ASSERT_NULL(test, kverbs_slots_get(ring, 1));
		KUNIT_ASSERT_EQ(test, SLOTS, kverbs_ring_unread(ring));
		fake_ring_user(ring)->cq_head += SLOTS;
	}
	KUNIT_EXPECT_EQ(test, 0, ring->reserved);
}

static void ring_completion_of_a_request_is_written_whole(struct kunit *test)
{
	const struct kverbs_cqe cqe = {
		.user_data = 1,
		.id = 3,
		.result = -EIO,
		.type = KVERBS_CQE_WORK,
		.wc_status = 5,
		.flags = KVERBS_CQE_F_IMM,
		.imm = 7,
	};
	struct kverbs_ring *ring = test->priv;
	struct kverbs_slot *work = kverbs_slots_get(ring, 1);

	work->user_data = cqe.user_data;
	work->conn_id = cqe.id;
	work->req.byte_len = 2;
	work->req.wc_status = cqe.wc_status;
	work->req.flags = cqe.flags;
	work->req.imm = cqe.imm;
	end_works(&work, 1, cqe.result);
	KUNIT_EXPECT_MEMEQ(test, &cqe, fake_ring_cqe(ring, 0), sizeof(cqe));
	KUNIT_EXPECT_EQ(test, 1, fake_ring_kernel(ring)->cq_tail);
}

/* Each ring receives its own completions, in order. */
static void ring_accepts_requests_that_complete_together(struct kunit *test)
{
	struct kverbs_ring *ring = test->priv, *other;
	struct kverbs_slot *work[4];
	int i;

	other = fake_ring_create(test, ring->obj.file, 1, 1);
	for (i = 0; i < 4; i++) {
		work[i] = kverbs_slots_get(i == 2 ? other : ring, 1);
		KUNIT_ASSERT_NOT_NULL(test, work[i]);
		work[i]->user_data = i;
	}
	end_works(work, 4, 0);
	KUNIT_EXPECT_EQ(test, 3, kverbs_ring_unread(ring));
	KUNIT_EXPECT_EQ(test, 1, kverbs_ring_unread(other));
	KUNIT_EXPECT_EQ(test, 3, fake_ring_cqe(ring, 2)->user_data);
	KUNIT_EXPECT_EQ(test, 2, fake_ring_cqe(other, 0)->user_data);
	KUNIT_EXPECT_EQ(test, 0, ring->reserved);
}

static void ring_of_one_entry_works(struct kunit *test)
{
	struct kverbs_ring *ring = fake_ring_create(test, fake_file_create(test), 1, 1);

	KUNIT_EXPECT_EQ(test, 0, fake_ring_event(ring, 1));
	KUNIT_EXPECT_EQ(test, -EAGAIN, fake_ring_event(ring, 2));
	fake_ring_user(ring)->cq_head = 1;
	KUNIT_EXPECT_EQ(test, 0, fake_ring_event(ring, 3));
	KUNIT_EXPECT_EQ(test, 3, fake_ring_cqe(ring, 1)->user_data);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(ring_reserves_as_many_slots_as_there_are),
	KUNIT_CASE(ring_reserves_returned_slots_again),
	KUNIT_CASE(ring_slot_is_free_again_when_its_completion_is_read),
	KUNIT_CASE(ring_that_is_full_loses_nothing),
	KUNIT_CASE(ring_overwrites_only_completions_that_were_read),
	KUNIT_CASE(ring_numbers_wrap_at_2_to_the_32),
	KUNIT_CASE(ring_wraps_many_times),
	KUNIT_CASE_PARAM(ring_treats_a_wrong_head_as_nothing_read, hostile_gen_params),
	KUNIT_CASE_PARAM(ring_recovers_from_a_wrong_head, hostile_gen_params),
	KUNIT_CASE_PARAM(ring_keeps_its_reservations_despite_a_wrong_head,
			 hostile_gen_params),
	KUNIT_CASE(ring_head_that_moves_back_frees_nothing),
	KUNIT_CASE(ring_ignores_changes_of_its_own_indices),
	KUNIT_CASE(ring_has_a_request_for_every_slot),
	KUNIT_CASE(ring_gives_as_many_requests_as_it_has_slots),
	KUNIT_CASE(ring_with_a_wrong_head_gives_no_requests),
	KUNIT_CASE(ring_shares_slots_among_requests_and_events),
	KUNIT_CASE(ring_request_is_there_whenever_a_slot_is),
	KUNIT_CASE(ring_completion_of_a_request_is_written_whole),
	KUNIT_CASE(ring_accepts_requests_that_complete_together),
	KUNIT_CASE(ring_of_one_entry_works),
	{}
};

static struct kunit_suite ring_suite = {
	.name = "kverbs_ring",
	.init = ring_init,
	.test_cases = ring_cases,
};

kunit_test_suite(ring_suite);
