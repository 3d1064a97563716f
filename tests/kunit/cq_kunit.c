// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues: shared while there is room, and never too small. */
#include "cq.h"
#include "fake_hca.h"

/* What a new queue has room for at least, if the device can. */
#define ROOM	2048

/**
 * struct sharer - whoever needs queues
 * @hca: where
 * @set: the queues
 */
struct sharer {
	struct fake_hca *hca;
	struct kverbs_cq_set set;
};

static int create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	struct fake_hca *hca = to_fake_hca(cq->device);

	if (hca->cq_error)
		return hca->cq_error;
	cq->cqe = attr->cqe;
	/* The device is not registered, so nobody could list it. */
	cq->res.no_track = true;
	hca->nr_cqs++;
	return 0;
}

static int destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	to_fake_hca(cq->device)->nr_cqs--;
	return 0;
}

static int req_notify_cq(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	return 0;
}

static struct fake_hca *create_hca(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(test);

	hca->ib.ops.create_cq = create_cq;
	hca->ib.ops.destroy_cq = destroy_cq;
	hca->ib.ops.req_notify_cq = req_notify_cq;
	hca->ib.ops.size_ib_cq = sizeof(struct ib_cq);
	hca->ib.attrs.max_cqe = 10 * ROOM;
	return hca;
}

static int cq_init(struct kunit *test)
{
	struct sharer *sharer = kunit_kzalloc(test, sizeof(*sharer), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, sharer);
	sharer->hca = create_hca(test);
	kverbs_cq_set_init(&sharer->set);
	test->priv = sharer;
	return 0;
}

static void cq_exit(struct kunit *test)
{
	struct sharer *sharer = test->priv;

	if (!sharer)
		return;
	KUNIT_EXPECT_TRUE(test, list_empty(&sharer->set.cqs));
	KUNIT_EXPECT_EQ(test, 0, sharer->hca->nr_cqs);
}

static struct kverbs_cq *get(struct kunit *test, struct fake_hca *hca, unsigned int nr)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = kverbs_cq_get(&sharer->set, &hca->ib, nr);

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	return cq;
}

static void cq_is_shared_while_it_has_room(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get(test, sharer->hca, ROOM - 100);

	KUNIT_EXPECT_PTR_EQ(test, cq, get(test, sharer->hca, 99));
	KUNIT_EXPECT_PTR_EQ(test, cq, get(test, sharer->hca, 1));
	KUNIT_EXPECT_EQ(test, ROOM, cq->used);
	KUNIT_EXPECT_EQ(test, 1, sharer->hca->nr_cqs);
	kverbs_cq_put(&sharer->set, cq, ROOM);
}

static void cq_without_room_is_joined_by_another(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *first = get(test, sharer->hca, ROOM - 100);
	struct kverbs_cq *second = get(test, sharer->hca, 101);

	KUNIT_EXPECT_PTR_NE(test, first, second);
	KUNIT_EXPECT_EQ(test, 2, sharer->hca->nr_cqs);
	kverbs_cq_put(&sharer->set, first, ROOM - 100);
	KUNIT_EXPECT_EQ(test, 1, sharer->hca->nr_cqs);
	kverbs_cq_put(&sharer->set, second, 101);
}

static void cq_has_room_again_for_what_is_given_back(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get(test, sharer->hca, 1);

	KUNIT_EXPECT_PTR_EQ(test, cq, get(test, sharer->hca, ROOM - 1));
	kverbs_cq_put(&sharer->set, cq, ROOM - 1);
	KUNIT_EXPECT_PTR_EQ(test, cq, get(test, sharer->hca, ROOM - 1));
	kverbs_cq_put(&sharer->set, cq, ROOM - 1);
	kverbs_cq_put(&sharer->set, cq, 1);
}

static void cq_is_as_large_as_it_must_be(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq = get(test, sharer->hca, 3 * ROOM);

	KUNIT_EXPECT_EQ(test, 3 * ROOM, cq->size);
	KUNIT_EXPECT_EQ(test, 3 * ROOM, cq->ib->cqe);
	kverbs_cq_put(&sharer->set, cq, 3 * ROOM);
}

static void cq_is_not_larger_than_the_device_can(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct kverbs_cq *cq;

	sharer->hca->ib.attrs.max_cqe = 100;
	cq = get(test, sharer->hca, 100);
	KUNIT_EXPECT_EQ(test, 100, cq->ib->cqe);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(kverbs_cq_get(&sharer->set, &sharer->hca->ib, 101)));
	kverbs_cq_put(&sharer->set, cq, 100);
}

static void cq_error_is_passed_on(struct kunit *test)
{
	struct sharer *sharer = test->priv;

	sharer->hca->cq_error = -ENOSPC;
	KUNIT_EXPECT_EQ(test, -ENOSPC,
			PTR_ERR(kverbs_cq_get(&sharer->set, &sharer->hca->ib, 1)));
	KUNIT_EXPECT_TRUE(test, list_empty(&sharer->set.cqs));
}

static void cq_is_of_one_device(struct kunit *test)
{
	struct sharer *sharer = test->priv;
	struct fake_hca *other_hca = create_hca(test);
	struct kverbs_cq *cq = get(test, sharer->hca, 1);
	struct kverbs_cq *other = get(test, other_hca, 1);

	KUNIT_EXPECT_PTR_EQ(test, &sharer->hca->ib, cq->ib->device);
	KUNIT_EXPECT_PTR_EQ(test, &other_hca->ib, other->ib->device);
	KUNIT_EXPECT_PTR_EQ(test, cq, get(test, sharer->hca, 1));
	KUNIT_EXPECT_PTR_EQ(test, other, get(test, other_hca, 1));
	kverbs_cq_put(&sharer->set, cq, 2);
	kverbs_cq_put(&sharer->set, other, 2);
	KUNIT_EXPECT_EQ(test, 0, other_hca->nr_cqs);
}

static struct kunit_case cq_cases[] = {
	KUNIT_CASE(cq_is_shared_while_it_has_room),
	KUNIT_CASE(cq_without_room_is_joined_by_another),
	KUNIT_CASE(cq_has_room_again_for_what_is_given_back),
	KUNIT_CASE(cq_is_as_large_as_it_must_be),
	KUNIT_CASE(cq_is_not_larger_than_the_device_can),
	KUNIT_CASE(cq_error_is_passed_on),
	KUNIT_CASE(cq_is_of_one_device),
	{}
};

static struct kunit_suite cq_suite = {
	.name = "kverbs_cq",
	.init = cq_init,
	.exit = cq_exit,
	.test_cases = cq_cases,
};

kunit_test_suite(cq_suite);
